import RealtimeCore
import Testing

@Suite("RangeMerge")
struct RangeMergeTests {
  /// A case: the data before, start and end (empty for none), the new data, and the data after.
  struct Example: Sendable {
    let before: String
    let start: String
    let end: String
    let new: String
    let after: String
  }

  static let examples = [
    Example(
      before: #"{"bar":1,"foo":2,"quu":3}"#,
      start: "bar",
      end: "foo",
      new: #"{"foo":9}"#,
      after: #"{"bar":1,"foo":9,"quu":3}"#
    ),
    Example(
      before: #"{"bar":1,"foo":2,"quu":3}"#,
      start: "bar",
      end: "foo",
      new: #"{"baz":7}"#,
      after: #"{"bar":1,"baz":7,"quu":3}"#
    ),
    Example(
      before: #"{"bar":1,"foo":{"fc":2},"quu":3}"#,
      start: "bar",
      end: "foo",
      new: #"{"baz":7}"#,
      after: #"{"bar":1,"baz":7,"foo":{"fc":2},"quu":3}"#
    ),
    Example(before: #"{"a":1}"#, start: "", end: "", new: #"{"b":2}"#, after: #"{"b":2}"#),
    Example(before: #"{"a":1}"#, start: "", end: "", new: "5", after: "5"),
    Example(
      before: #"{"a":1,"b":{"c":2,"d":3}}"#,
      start: "",
      end: "b/c",
      new: #"{"b":4}"#,
      after: #"{"b":4}"#
    ),
    Example(
      before: #"{"a":1,"b":{"c":2,"d":3}}"#,
      start: "b/c",
      end: "",
      new: #"{"b":{"e":5},"f":6}"#,
      after: #"{"a":1,"b":{"c":2,"e":5},"f":6}"#
    ),
    Example(
      before: #"{"a":1,"z":2,".priority":3}"#,
      start: "a",
      end: "z",
      new: #"{"z":2,".priority":4}"#,
      after: #"{"a":1,"z":2,".priority":3}"#
    ),
    Example(
      before: #"{"1":1,"z":2,".priority":3}"#,
      start: "1",
      end: "z",
      new: #"{"z":2,".priority":4}"#,
      after: #"{"1":1,"z":2,".priority":4}"#
    ),
    Example(
      before: #"{"1":1,"z":2,".priority":3}"#,
      start: "1",
      end: "z",
      new: #"{"z":2}"#,
      after: #"{"1":1,"z":2}"#
    ),
    Example(
      before: #"{"a":{".value":1,".priority":2}}"#,
      start: "a",
      end: "",
      new: #"{"b":2}"#,
      after: #"{"a":{".value":1,".priority":2},"b":2}"#
    ),
    Example(before: "null", start: "a", end: "c", new: #"{"b":{"x":1}}"#, after: #"{"b":{"x":1}}"#),
    Example(before: #"{"b":{"x":1}}"#, start: "a", end: "c", new: "null", after: "null"),
  ]

  @Test("replaces only the range after the start up to and including the end", arguments: examples)
  func applies(example: Example) throws {
    let merge = RangeMerge(
      start: example.start.isEmpty ? nil : Path(wire: example.start),
      end: example.end.isEmpty ? nil : Path(wire: example.end),
      node: try Node(text: example.new)
    )
    let result = merge.applied(to: try Node(text: example.before))
    #expect(result.exportText == (try Node(text: example.after)).exportText)
  }

  @Test("names the priority of the leaf where it starts, which official clients would remove")
  func startsAtPriority() throws {
    let known = try Node(text: #"{"a":{".value":1,".priority":2},"b":3,"d":4}"#)
    let now = try Node(text: #"{"a":{".value":1,".priority":2},"c":5,"d":4}"#)
    let hash = CompoundHash(of: known) { _, path in path() != "b" }
    #expect(hash.posts == ["a", "d"])
    let changes = try #require(hash.changes(to: now))
    #expect(changes == [RangeMerge(start: "a", end: "d", node: now)])
    #expect(changes.reduce(known) { $1.applied(to: $0) } == now)
  }
}
