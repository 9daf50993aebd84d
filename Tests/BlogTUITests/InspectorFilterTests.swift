import BlogModel
import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Inspector filters")
struct InspectorFilterTests {
  private static let pings: [WireEvent] = [
    frame(50, .sent, "0"), frame(51, .sent, #"{"t":"c","d":{"t":"p","d":{}}}"#),
    frame(52, .received, #"{"t":"c","d":{"t":"o","d":null}}"#),
  ]

  /// Somebody stars a post, while somebody else writes and the program listens elsewhere.
  private static let star: [WireEvent] = [
    frame(0, .sent, #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/people","h":""}}}"#),
    WireEvent(
      time: Fixture.now + 10,
      kind: .write,
      title: "update /",
      detail: "/posts/p1/stars/ann: true\n/user-posts/bob/p1/stars/ann: true",
      change: .begun("7"),
      path: "/",
      cause: "key s: star"
    ),
    WireEvent(
      time: Fixture.now + 10,
      kind: .event,
      title: "child_changed /posts p1",
      path: "/posts/p1"
    ),
    frame(
      11,
      .sent,
      #"{"t":"d","d":{"r":2,"a":"m","b":{"p":"/","d":{"posts/p1/stars/ann":true}}}}"#,
      carried: ["7"]
    ),
    frame(13, .received, #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}"#),
    frame(14, .received, #"{"t":"d","d":{"a":"m","b":{"p":"posts","d":{"p1/stars/ann":true}}}}"#),
    frame(15, .received, #"{"t":"d","d":{"a":"m","b":{"p":"posts","d":{"p2/title":"é"}}}}"#),
    frame(16, .received, #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}"#),
    WireEvent(
      time: Fixture.now + 16,
      kind: .write,
      title: "update / answered after 6 ms: ok",
      change: .ended("7"),
      path: "/"
    ),
    frame(20, .received, #"{"t":"d","d":{"a":"m","b":{"p":"posts","d":{"p1/title":"x"}}}}"#),
  ]

  private static func frame(
    _ time: Int64,
    _ kind: WireEvent.Kind,
    _ text: String,
    carried: [String]? = nil
  ) -> WireEvent {
    WireEvent(
      time: Fixture.now + time,
      kind: kind,
      title: text,
      detail: text,
      size: text.utf8.count,
      carried: carried
    )
  }

  private func opened(_ events: [WireEvent], width: Int = 100) -> Model {
    var model = Fixture.loaded(Size(width: width, height: 24))
    model.type(.key(.function(12)))
    model.send(.wire(events))
    return model
  }

  private func titles(_ model: Model) -> [String] {
    model.inspector.list.ids.compactMap { model.inspector.entry($0)?.event.title }
  }

  @Test("Sizes stand in a column at their right edge, and their sum above it")
  func sizes() throws {
    let sizes = [1, 999, 9_999, 12_345, 16_777_216, .max, -1]
    let events = sizes.map { WireEvent(time: 0, kind: .received, title: "frame", size: $0) }
    var model = opened(events + [WireEvent(time: 0, kind: .listener, title: "frame")])
    let shown = model.rows.filter { $0.contains(" frame") }
    let ends = ["    1", "  999", " 9999", "  12k", "  16M", " 999G", "    0", "     "]
    #expect(shown.count == ends.count)
    for (row, end) in zip(shown, ends) {
      let column = try #require(row.range(of: " frame")).lowerBound
      #expect(row[..<column].hasSuffix(end), "\(row)")
    }
    model.type("x")
    model.send(.wire(Array(events.prefix(4))))
    #expect(model.rows[2].contains("23k bytes"))
    // What is not shown is not counted.
    model.type("f")
    #expect(model.rows[2].contains("0 bytes"))
    let narrow = opened(events, width: 50)
    #expect(!narrow.rows.contains { $0.contains("9999") })
  }

  @Test("A sum of sizes never overflows")
  func largeSizes() {
    let huge = WireEvent(time: 0, kind: .received, title: "frame", size: .max)
    #expect(opened([huge, huge]).rows[2].contains("999G bytes"))
  }

  @Test("The sums are right when old events are evicted, one by one or many at once")
  func evicted() {
    var model = opened(Self.pings)
    let frames = (0..<Inspector.limit).map { _ in Self.frame(0, .sent, "{}") }
    for frame in frames { model.send(.wire([frame])) }
    #expect(model.rows[2].contains("2000 events · 4000 bytes"))
    #expect(!model.rows[2].contains("hidden"))
    model.send(.wire(Self.pings + frames + frames + Self.pings))
    #expect(model.rows[2].contains("2000 events · 3994 bytes · 3 keepalives hidden"))
    #expect(model.inspector.list.ids.count == Inspector.limit - 3)
    #expect(model.inspector.list.ids.allSatisfy { model.inspector.entry($0) != nil })
  }

  @Test("Keepalives are hidden and counted until a key shows them, and a filter applies to them")
  func keepalives() {
    var model = opened(Self.star + Self.pings)
    #expect(titles(model).count == Self.star.count)
    #expect(model.rows[2].contains("3 keepalives hidden"))
    model.type("a")
    #expect(titles(model).suffix(3) == ["keepalive", "ping", "pong"])
    #expect(!model.rows[2].contains("hidden"))
    model.type("a", "f")
    #expect(model.rows[2].contains("2 keepalives hidden"))
    model.type("/", "posts")
    #expect(!model.rows[2].contains("hidden"))
  }

  @Test("A filter narrows while it is typed; with a slash in front it is the beginning of a path")
  func paths() {
    var model = opened(Self.star + Self.pings)
    model.type("/", "/po")
    #expect(model.context == .filter)
    #expect(titles(model).count == 7)
    model.type("sts/p1")
    // The answer to a request has its paths, and an update those of its data.
    #expect(titles(model).contains("#2 ok, after 5 ms: update /"))
    #expect(titles(model).count == 6)
    #expect(model.rows[0].contains("path /posts/p1"))
    model.type(.enter)
    #expect(model.context == .inspector)
    model.type("f")
    #expect(titles(model) == ["#2 update /"])
    model.type(.escape)
    #expect(model.context == .inspector)
    #expect(titles(model) == ["#1 listen /people", "#2 update /"])
    for _ in WireEvent.Kind.allCases { model.type("f") }
    model.type("/", "BOB")
    #expect(titles(model) == ["update /"])
    model.type(.escape)
    #expect(titles(model).count == Self.star.count)
    model.type("/", "/BOB")
    #expect(titles(model).isEmpty)
    #expect(model.rows.contains { $0.contains("Nothing of this kind or path.") })
  }

  @Test(
    "Paths that are hostile or large are compared safely",
    arguments: [
      "", "/", "//", "/é/漢", "/\u{1B}[2J", "a/../b", "/a: b", String(repeating: "/k", count: 9_000),
    ]
  )
  func hostilePaths(path: String) {
    let text = JSONValue.object(
      ("t", .string("d")),
      ("d", .object(("a", .string("d")), ("b", .object(("p", .string(path)), ("d", .null)))))
    ).text
    var model = opened([Self.frame(0, .received, text)])
    #expect(titles(model).count == 1)
    model.type("/", .paste(path))
    _ = model.rows
    model.type(.escape, "t", "w")
    #expect(model.inspector.lines.split(separator: "\n").count == 1)
  }

  @Test("A frame that was cut off is described by what is left of it")
  func cutFrames() {
    let long = String(repeating: "\\\",{[", count: 4_000)
    let set = #"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/posts/p1","d":{"a":1,"body":""# + long + "…"
    var model = opened([
      Self.frame(0, .sent, set), Self.frame(4, .received, #"{"t":"d","d":{"r":3,"b":{"s":"ok"}}}"#),
      Self.frame(5, .received, String(repeating: "[", count: 16_000) + ",…"),
      Self.frame(6, .received, ",…"), Self.frame(7, .received, ""),
    ])
    #expect(titles(model).prefix(2) == ["#3 set /posts/p1", "#3 ok, after 4 ms: set /posts/p1"])
    model.type("/", "/posts/p1")
    #expect(titles(model).count == 2)
    let answer = #"{"t":"d","d":{"r":4,"b":{"d":""# + long + "…"
    let update = #"{"t":"d","d":{"r":5,"a":"m","b":{"p":"/a","d":{"b":1,"c":""# + long + "…"
    model = opened([Self.frame(0, .received, answer), Self.frame(0, .sent, update)])
    #expect(titles(model) == ["#4 answered", "#5 update /a"])
    // What is known of its data is not all of it.
    #expect(model.inspector.entry(1)?.places == ["/a"])
  }

  @Test("Any event of an answered write leads to the whole write, from the key to the echo")
  func followed() {
    let expected = [
      "update /", "child_changed /posts p1", "#2 update /", "changes /posts",
      "#2 ok, after 5 ms: update /", "update / answered after 6 ms: ok",
    ]
    for row in [1, 2, 3, 5, 7, 8] {
      var model = opened(Self.star + Self.pings)
      model.type("gg")
      for _ in 0..<row { model.type("j") }
      let selected = model.inspector.list.selection
      model.type("t")
      #expect(titles(model) == expected, "row \(row)")
      #expect(model.inspector.list.selection == selected)
      #expect(model.rows[0].contains("one write"))
      #expect(model.rows[2].contains("key s: star · 1 request · answered after 5 ms · 1 echo"))
      #expect(model.rows[3].contains("+0 ms") && model.rows[6].contains("+4 ms"))
      // What comes later does not belong to it.
      model.send(.wire(Self.star.suffix(1)))
      #expect(titles(model) == expected)
      model.type(.escape)
      #expect(titles(model).count == Self.star.count + 1)
      #expect(model.context == .inspector)
    }
    // The other pushes and the listen belong to no write.
    for row in [0, 4, 6, 9] {
      var model = opened(Self.star)
      model.type("gg")
      for _ in 0..<row { model.type("j") }
      model.type("t")
      #expect(titles(model).count == Self.star.count, "row \(row)")
      #expect(model.message?.text.string.contains("belongs to no write") == true)
    }
  }

  @Test("A write that was sent again, and the tries of a transaction, are followed together")
  func retries() {
    func put(_ number: Int, _ time: Int64) -> WireEvent {
      let text = #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/n","d":2,"h":"x"}}}"#
      return Self.frame(time, .sent, text, carried: ["3"])
    }
    func step(_ time: Int64, _ title: String, cause: String? = nil) -> WireEvent {
      WireEvent(
        time: Fixture.now + time,
        kind: .transaction,
        title: title,
        group: "3",
        path: "/n",
        cause: cause
      )
    }
    var events = [
      step(0, "transaction /n begins", cause: ":star"), step(0, "try 1 at /n"), put(5, 1),
      Self.frame(3, .received, #"{"t":"d","d":{"a":"d","b":{"p":"n","d":1}}}"#),
      Self.frame(4, .received, #"{"t":"d","d":{"r":5,"b":{"s":"datastale","d":"stale"}}}"#),
      step(4, "try 2 at /n"), put(6, 5),
    ]
    var model = opened(events)
    model.type("t")
    #expect(titles(model).count == events.count)
    #expect(model.rows[2].contains(":star · 2 requests · answered after 3 ms"))
    let rest = [
      WireEvent(time: Fixture.now + 6, kind: .connection, title: "closed: reset"), put(1, 8),
      Self.frame(12, .received, #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#),
      step(12, "transaction committed after 2 tries in 12 ms"),
    ]
    model.send(.wire(rest))
    #expect(titles(model).count == events.count + 3)
    #expect(model.rows[2].contains(":star · 3 requests · answered after 4 ms"))
    events += rest
    #expect(titles(model).last == "transaction committed after 2 tries in 12 ms")
  }

  @Test("w writes lines of JSON to a file that is named after the time")
  func export() throws {
    var model = opened(Self.star + Self.pings)
    guard case .environment(.writeWire(let text, let file))? = model.type("w").last
    else { throw Unexpected("nothing is written") }
    #expect(file == "hearth-wire-2023-11-14-221320.jsonl")
    let lines = try text.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    #expect(lines.count == Self.star.count)
    let answer = lines[7]
    #expect(answer["direction"]?.string == "in")
    #expect(answer["kind"]?.string == "received")
    #expect(answer["path"]?.string == "/")
    #expect(answer["bytes"]?.integer == 43)
    #expect(answer["roundTrip"]?.integer == 5)
    #expect(answer["body"]?["d"]?["r"]?.integer == 2)
    #expect(lines[1]["cause"]?.string == "key s: star")
    #expect(lines[1]["body"]?["/posts/p1/stars/ann"]?.bool == true)
  }

  @Test(
    "The times of a file are in UTC, also before 1970 and far away",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_007, "2000-02-29T00:00:00.007Z"),
      (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)]
  )
  func times(time: Int64, text: String) {
    #expect(Clock.isoText(time) == text)
    _ = Clock.isoText(.max)
    _ = Clock.isoText(.min)
  }
}
