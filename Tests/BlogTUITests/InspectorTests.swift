import BlogModel
import Testing

@testable import BlogTUI

@Suite("The inspector")
struct InspectorTests {
  private func event(_ number: Int, _ kind: WireEvent.Kind = .sent) -> WireEvent {
    WireEvent(time: Fixture.now, kind: kind, title: "event \(number)", detail: "a\nb")
  }

  private func opened(_ count: Int) -> Model {
    var model = Fixture.loaded()
    model.type(.key(.function(12)))
    model.send(.wire((0..<count).map { event($0, $0.isMultiple(of: 2) ? .sent : .received) }))
    return model
  }

  /// The ways out of the inspector.
  private static let exits: [[Typed]] = [
    [.key(.function(12))], [.escape], ["q"], [.control("c")], [":inspector", .enter],
    [":search post", .enter], ["?", .key(.function(12))], [.enter, ":search post", .enter],
  ]

  @Test("It is told of what happens until it is left, whichever way", arguments: exits)
  func watching(exit: [Typed]) {
    var model = Fixture.loaded()
    for _ in 0..<2 {
      #expect(model.type(.key(.function(12))) == [.watchWire(true)])
      #expect(model.context == .inspector)
      model.send(.wire([event(1)]))
      let effects = exit.flatMap { model.type($0) }
      #expect(effects.filter { $0.isWatchWire } == [.watchWire(false)])
      #expect(!model.isInspecting)
      model.type(.escape)
    }
  }

  @Test("What it was told stays when it is closed, and goes on when it is opened again")
  func reopened() {
    var model = opened(3)
    model.type(.escape)
    model.type(.key(.function(12)))
    #expect(model.inspector.list.ids.count == 3)
    model.send(.wire([event(3)]))
    #expect(model.inspector.events.map(\.title) == (0...3).map { "event \($0)" })
    #expect(model.inspector.list.selectedIndex == 3)
  }

  @Test("Whatever is done, it is told of what happens exactly while it is open", arguments: 1...8)
  func watchingAnything(seed: UInt64) {
    var events = RandomEvents(seed: seed)
    var model = Fixture.started(Size(width: 80, height: 24))
    var isWatching = false
    var looks = 0
    for step in 0..<2_000 {
      let next = step.isMultiple(of: 7) ? .key(.function(12)) : events.next()
      for case .watchWire(let isOn) in model.send(next) {
        #expect(isOn != isWatching, "seed \(seed), step \(step)")
        isWatching = isOn
        if isOn { looks += 1 }
      }
      model.question = nil
      guard isWatching != model.isInspecting else { continue }
      Issue.record("seed \(seed), step \(step)")
      return
    }
    #expect(looks > 10)
  }

  @Test("The end is followed, unless something above it is selected")
  func following() {
    var model = opened(50)
    #expect(model.inspector.list.selectedIndex == 49)
    model.type("k")
    let selected = model.inspector.list.selection
    model.send(.wire([event(50)]))
    #expect(model.inspector.list.selection == selected)
    model.type("G")
    model.send(.wire([event(51)]))
    #expect(model.inspector.list.selectedIndex == 51)
  }

  @Test("A pause keeps everything for later")
  func pausing() {
    var model = opened(3)
    model.type("p")
    model.send(.wire([event(3), event(4)]))
    #expect(model.inspector.list.ids.count == 3)
    #expect(model.rows[0].contains("paused, 2 waiting"))
    model.type("p")
    #expect(model.inspector.list.ids.count == 5)
  }

  @Test("Only one kind can be shown")
  func filtering() {
    var model = opened(4)
    model.type("f")
    #expect(model.rows[0].contains("only sent"))
    #expect(model.inspector.list.ids.count == 2)
    for _ in WireEvent.Kind.allCases { model.type("f") }
    #expect(model.inspector.list.ids.count == 4)
  }

  @Test("Listeners and writes under way are counted")
  func counts() {
    var model = opened(0)
    let changes: [(WireEvent.Kind, WireEvent.Change)] = [
      (.listener, .begun("1")), (.listener, .begun("2")), (.write, .begun("7")),
      (.listener, .ended("1")),
    ]
    model.send(
      .wire(changes.map { WireEvent(time: 0, kind: $0.0, title: "x", change: $0.1) })
    )
    #expect(model.rows[2].contains("1 listeners · 1 writes under way · 4 events"))
  }

  @Test("Enter shows all about an event, w writes what is shown")
  func details() {
    var model = opened(2)
    model.type(.enter)
    #expect(model.rows.contains { $0.contains("event 1") })
    model.type(.escape)
    #expect(model.context == .inspector)
    guard case .write(let text, _)? = model.type("w").last else {
      Issue.record("nothing is written")
      return
    }
    #expect(text.contains("22:13:20 sent event 0\n    a\n    b\n"))
  }

  @Test("Memory has a limit")
  func limit() {
    var model = opened(0)
    for _ in 0..<5 { model.send(.wire((0..<1_000).map { event($0) })) }
    #expect(model.inspector.events.count == Inspector.limit)
    model.type("p")
    for _ in 0..<5 { model.send(.wire((0..<1_000).map { event($0) })) }
    #expect(model.inspector.waitingCount == Inspector.limit)
  }
}

extension Effect {
  /// Whether it begins or ends the watch.
  fileprivate var isWatchWire: Bool {
    if case .watchWire = self { true } else { false }
  }
}
