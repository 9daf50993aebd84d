import TestSupport
import Testing

@testable import BlogTUI

@Suite("ScrollView")
struct ScrollViewTests {
  private func makeView(_ count: Int, height: Int) -> ScrollView {
    var view = ScrollView(lines: (0..<count).map { SafeText($0) })
    view.resize(to: Size(width: 10, height: height))
    return view
  }

  @Test("Keys scroll, but never beyond the ends")
  func keys() {
    var view = makeView(10, height: 4)
    #expect(view.handle(.up) == .moved)
    #expect(view.top == 0)
    _ = view.handle(.character("j"))
    #expect(view.visibleRange == 1..<5)
    _ = view.handle(.pageDown)
    #expect(view.visibleRange == 5..<9)
    _ = view.handle(.control("d"))
    #expect(view.visibleRange == 6..<10)
    #expect(view.isAtEnd)
    _ = view.handle(.character("g"))
    #expect(view.top == 0)
    #expect(view.handle(.character("x")) == .ignored)
  }

  @Test("A line is revealed with minimal scrolling")
  func reveal() {
    var view = makeView(10, height: 4)
    view.reveal(5)
    #expect(view.top == 2)
    view.reveal(3)
    #expect(view.top == 2)
    view.reveal(1)
    #expect(view.top == 1)
  }

  @Test("The visible lines are drawn, and fewer lines scroll the view back")
  func drawing() {
    var view = makeView(10, height: 2)
    view.scroll(to: 99)
    var screen = Screen(size: Size(width: 3, height: 2))
    view.draw(on: &screen, in: screen.bounds)
    #expect(screen.text() == "8\n9")
    view.update(lines: ["x"])
    #expect(view.top == 0)
  }

  @Test("Random keys at any size keep the view valid", arguments: 0..<6 as Range<UInt64>)
  func random(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var view = ScrollView()
    for _ in 0..<200 {
      let size = Size(
        width: Int.random(in: 0...6, using: &generator),
        height: Int.random(in: 0...6, using: &generator)
      )
      view.resize(to: size)
      let text = SafeText(
        untrusted: HostileText.corpus.randomElement(using: &generator) ?? "",
        mode: .multiLine
      )
      view.update(lines: text.wrapped(width: size.width))
      _ = view.handle(RandomKeys.next(using: &generator))
      var screen = Screen(size: size)
      view.draw(on: &screen, in: screen.bounds)
      #expect(view.top >= 0 && view.top <= max(0, view.lines.count - 1))
    }
  }
}
