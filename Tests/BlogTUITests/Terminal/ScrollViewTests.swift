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

  @Test("Motions scroll, but never beyond the ends")
  func motions() {
    var view = makeView(10, height: 4)
    view.move(.up)
    #expect(view.top == 0)
    view.move(.down)
    #expect(view.visibleRange == 1..<5)
    view.move(.pageDown)
    #expect(view.visibleRange == 5..<9)
    view.move(.halfPageDown)
    #expect(view.visibleRange == 6..<10)
    view.move(.top)
    #expect(view.top == 0)
  }

  @Test("Fewer lines scroll the view back")
  func fewerLines() {
    var view = makeView(10, height: 2)
    view.scroll(to: 99)
    #expect(view.visibleRange == 8..<10)
    view.update(lines: ["x"])
    #expect(view.top == 0)
  }

  @Test("Random motions at any size keep the view valid", arguments: 0..<6 as Range<UInt64>)
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
      view.move(Motion.allCases.randomElement(using: &generator) ?? .down)
      #expect(view.top >= 0 && view.top <= max(0, view.lines.count - 1))
    }
  }
}
