import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Inspector")
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

  @Test("The inspector shows milliseconds in its rows, details and file")
  func milliseconds() {
    var model = Fixture.loaded()
    model.type(.key(.function(12)))
    model.send(.wire([WireEvent(time: Fixture.now + 42, kind: .sent, title: "event")]))
    #expect(model.inspector.recentText(with: []).hasPrefix("22:13:20.042 sent event\n"))
    #expect(model.inspector.lines.hasPrefix(#"{"time":"2023-11-14T22:13:20.042Z","kind":"sent""#))
    #expect(model.rows.contains { $0.contains("22:13:20.042") })
    model.type(.enter)
    #expect(model.rows.contains { $0.contains("22:13:20.042 sent") })
    #expect(Clock.preciseText(-1).hasSuffix(".999"))
  }

  /// The ways out of the inspector.
  private static let exits: [[Typed]] = [
    [.key(.function(12))], [.escape], ["q"], [.control("c")], [":inspector", .enter],
    [":search post", .enter], ["?", .key(.function(12))], [.enter, ":search post", .enter],
  ]

  @Test("The inspector receives events until it is closed, by whichever key", arguments: exits)
  func watching(exit: [Typed]) {
    var model = Fixture.loaded()
    for _ in 0..<2 {
      #expect(model.type(.key(.function(12))) == [.environment(.watchWire(true))])
      #expect(model.context == .inspector)
      model.send(.wire([event(1)]))
      let effects = exit.flatMap { model.type($0) }
      #expect(effects.filter { $0.isWatchWire } == [.environment(.watchWire(false))])
      #expect(!model.isInspecting)
      model.type(.escape)
    }
  }

  @Test("The inspector keeps its events when closed and continues when reopened")
  func reopened() {
    var model = opened(3)
    model.type(.escape)
    model.type(.key(.function(12)))
    #expect(model.inspector.list.ids.count == 3)
    model.send(.wire([event(3)]))
    #expect(model.inspector.events.map(\.title) == (0...3).map { "event \($0)" })
    #expect(model.inspector.list.selectedIndex == 3)
  }

  @Test(
    "The inspector subscribes to events exactly while it is open, after any input",
    arguments: Thoroughness.seeds(20)
  )
  func watchingAnything(seed: UInt64) {
    var events = RandomEvents(seed: seed)
    var model = Fixture.started(Size(width: 80, height: 24))
    var isWatching = false
    var looks = 0
    for step in 0..<2_000 {
      let next = step.isMultiple(of: 7) ? .key(.function(12)) : events.next()
      for case .environment(.watchWire(let isOn)) in model.send(next) {
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

  @Test("The list follows the newest event unless an older one is selected")
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

  @Test("A pause holds back new events until it ends")
  func pausing() {
    var model = opened(3)
    model.type("p")
    model.send(.wire([event(3), event(4)]))
    #expect(model.inspector.list.ids.count == 3)
    #expect(model.rows[0].contains("paused, 2 waiting"))
    model.type("p")
    #expect(model.inspector.list.ids.count == 5)
  }

  @Test("f filters the events by kind")
  func filtering() {
    var model = opened(4)
    model.type("f")
    #expect(model.rows[0].contains("only sent"))
    #expect(model.inspector.list.ids.count == 2)
    for _ in WireEvent.Kind.allCases { model.type("f") }
    #expect(model.inspector.list.ids.count == 4)
  }

  @Test("The header counts active listeners and pending writes")
  func counts() {
    var model = opened(0)
    let changes: [(WireEvent.Kind, WireEvent.Change)] = [
      (.listener, .begun("1")), (.listener, .begun("2")), (.write, .begun("7")),
      (.listener, .ended("1")),
    ]
    model.send(
      .wire(changes.map { WireEvent(time: 0, kind: $0.0, title: "x", change: $0.1) })
    )
    #expect(model.rows[2].contains("1 listener · 1 write under way · 4 events · 0 bytes"))
  }

  @Test("Enter shows the details of an event")
  func details() {
    var model = opened(2)
    model.type(.enter)
    #expect(model.rows.contains { $0.contains("event 1") })
    model.type(.escape)
    #expect(model.context == .inspector)
    let text = model.inspector.recentText(with: [])
    #expect(text.contains("22:13:20.000 sent event 0\n    a\n    b\n"))
  }

  @Test("The number of kept events is limited")
  func limit() {
    var model = opened(0)
    for _ in 0..<5 { model.send(.wire((0..<1_000).map { event($0) })) }
    #expect(model.inspector.events.count == Inspector.limit)
    model.type("p")
    for _ in 0..<5 { model.send(.wire((0..<1_000).map { event($0) })) }
    #expect(model.inspector.waitingCount == Inspector.limit)
  }
}

extension Inspector {
  /// The events of the list, oldest first.
  fileprivate var events: [WireEvent] { list.ids.compactMap { entry($0)?.event } }
}

extension InspectorTests {
  private func frame(_ time: Int64, _ kind: WireEvent.Kind, _ text: String) -> WireEvent {
    WireEvent(time: Fixture.now + time, kind: kind, title: text, detail: text)
  }

  @Test("A response is shown with its request and its duration")
  func answers() {
    var model = opened(0)
    model.send(
      .wire([
        frame(0, .sent, #"{"t":"d","d":{"r":7,"a":"m","b":{"p":"/","d":{"a/b":1}}}}"#),
        frame(3, .sent, #"{"t":"d","d":{"r":8,"a":"q","b":{"p":"/posts","h":""}}}"#),
        frame(9, .received, #"{"t":"d","d":{"a":"d","b":{"p":"posts","d":{"x":1}}}}"#),
        frame(10, .received, #"{"t":"d","d":{"r":8,"b":{"s":"ok","d":{}}}}"#),
        frame(
          12,
          .received,
          #"{"t":"d","d":{"r":7,"b":{"s":"permission_denied","d":"Permission denied"}}}"#
        ),
        frame(13, .received, #"{"t":"d","d":{"r":7,"b":{"s":"ok"}}}"#),
        frame(14, .received, #"{"t":"d","d":{"r":9,"b":{"s":"#),
      ])
    )
    #expect(
      model.inspector.events.map(\.title) == [
        "#7 update /", "#8 listen /posts", "data /posts", "#8 ok, after 7 ms: listen /posts",
        "#7 permission_denied: Permission denied, after 12 ms: update /", "#7 ok",
        #"{"t":"d","d":{"r":9,"b":{"s":"#,
      ]
    )
    // Request numbers restart with each connection.
    model.send(.wire([frame(20, .sent, #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a"}}}"#)]))
    model.send(.wire([frame(21, .connection, "connected")]))
    model.send(.wire([frame(22, .received, #"{"t":"d","d":{"r":1,"b":{"s":"ok"}}}"#)]))
    #expect(model.inspector.events.last?.title == "#1 ok")
  }

  @Test("JSON is indented, short values stay on one line, and truncated JSON is accepted")
  func indented() {
    let long = String(repeating: "x", count: 50)
    #expect(IndentedJSON.lines(of: "no JSON {at all}") == ["no JSON {at all}"])
    #expect(IndentedJSON.lines(of: #"value: {"a":1}"#) == [#"value: {"a":1}"#])
    #expect(
      IndentedJSON.lines(of: #"/a: {"b":"{\#(long)\",","c":[1,2],"d":{}}"#)
        == [
          "/a: {", #"  "b": "{\#(long)\",","#, #"  "c": [1,2],"#, #"  "d": {}"#, "}",
        ]
    )
    #expect(
      IndentedJSON.lines(of: #"{"a":{"b":"\#(long)"#) == [
        "{", #"  "a": {"#, #"    "b": "\#(long)"#,
      ]
    )
  }

  @Test("Transaction attempts are shown side by side, if there is room, with their changes")
  func tries() throws {
    func attempt(_ number: Int, _ stars: Int) -> WireEvent {
      WireEvent(
        time: Fixture.now + Int64(number) * 5,
        kind: .transaction,
        title: "try \(number) at /n",
        detail: "read: \(stars)\nproposed: \(stars + 1)",
        group: "4"
      )
    }
    for (width, isBeside) in [(80, true), (40, false)] {
      var model = Fixture.loaded(Size(width: width, height: 24))
      model.type(.key(.function(12)))
      let other = WireEvent(time: 0, kind: .transaction, title: "x", detail: "read: 9", group: "5")
      model.send(.wire([attempt(1, 3), other, attempt(2, 4), attempt(3, 6)]))
      model.type("gg", .enter)
      let rows = model.rows
      let first = try #require(rows.firstIndex { $0.contains("Try 1") })
      #expect(rows[first].contains("Try 2, after 5 ms") == isBeside)
      #expect(rows[first + 1].contains("- 3") && rows[first + 2].contains("+ 4"))
      #expect(rows[first + 1].contains("- 4") == isBeside)
      #expect(rows.contains { $0.contains("+ 7") })
      #expect(!rows.contains { $0.contains("- 9") })
    }
  }
}

extension Effect {
  /// Whether it starts or stops the watch.
  fileprivate var isWatchWire: Bool {
    if case .environment(.watchWire) = self { true } else { false }
  }
}
