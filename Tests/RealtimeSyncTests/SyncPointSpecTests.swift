import Foundation
import OfflineTestSupport
import RealtimeCore
import Testing

@testable import RealtimeDatabase

@Suite("SyncPointSpec", SpecSummary())
struct SyncPointSpecTests {
  @Test("A conformance case passes", arguments: SpecCase.all)
  func conformance(spec: SpecCase) async throws {
    let failure = try SpecRun.failure(of: spec)
    await SpecTally.shared.count(passed: failure == nil)
    #expect(failure == nil)
  }

  @Test("Hearth's own cases pass", arguments: SpecCase.own)
  func ownCases(spec: SpecCase) throws {
    #expect(try SpecRun.failure(of: spec) == nil)
  }
}

/// Runs the steps of one case and reports what does not hold.
struct SpecRun {
  private struct Expectation: Hashable {
    let path: Path
    let kind: DataEventType
    let key: ChildKey?
    let previousKey: ChildKey?
    let hash: String
  }

  private let prefix: Path
  private var tree = SyncTree()
  private var nextListener: Int64 = 0
  private var nextWrite: Int64 = 0
  private var callbacks: [String: ListenerID] = [:]

  /// Runs a case and returns its first failure, or nil.
  static func failure(of spec: SpecCase) throws -> String? {
    var run = SpecRun(prefix: spec.prefix)
    for (number, step) in spec.steps.enumerated() {
      let events = try run.perform(step)
      if let problem = try run.compare(step, events) {
        return "step \(number) (\(step["type"]?.string ?? "?")): \(problem)"
      }
    }
    return nil
  }

  private init(prefix: Path) {
    self.prefix = prefix
  }

  private func path(_ step: JSONValue) -> Path {
    prefix.appending(Path(wire: step["path"]?.string ?? ""))
  }

  private mutating func perform(_ step: JSONValue) throws -> [ViewEvent] {
    let path = path(step)
    let data = try Node(json: step["data"] ?? .null)
    switch step["type"]?.string {
    case "listen":
      nextListener += 1
      let listener = ListenerID(nextListener)
      if let name = step["callbackId"] { callbacks[name.text] = listener }
      return tree.add(
        Registration(owner: .listener(listener), kinds: Set(DataEventType.inOrder)),
        at: path,
        query: try Self.query(step["params"])
      ).events
    case "unlisten":
      let listener = step["callbackId"].flatMap { callbacks[$0.text] }
      return tree.remove(
        listener.map { .listener($0) },
        at: path,
        query: try Self.query(step["params"])
      ).events
    case "serverUpdate":
      return tree.applyServerOverwrite(at: path, with: data, tag: step["tag"]?.integer)
    case "serverMerge":
      return tree.applyServerMerge(
        at: path,
        changes: try Self.changes(step["data"]),
        tag: step["tag"]?.integer
      )
    case "set":
      return write(.set(data), at: path, isVisible: step["visible"]?.bool ?? true)
    case "update":
      return write(.merge(try Self.changes(step["data"])), at: path, isVisible: true)
    case "ackUserWrite":
      return tree.ackUserWrite(
        step["writeId"]?.integer ?? -1,
        isAccepted: step["revert"]?.bool != true
      )
    case nil, _?: return []
    }
  }

  private mutating func write(
    _ operation: WriteOperation,
    at path: Path,
    isVisible: Bool
  ) -> [ViewEvent] {
    defer { nextWrite += 1 }
    return tree.applyUserWrite(
      PendingWrite(id: nextWrite, path: path, operation: operation, isVisible: isVisible)
    )
  }

  private static func changes(_ json: JSONValue?) throws -> [Change] {
    try (json?.members ?? []).map { Change(Path(wire: $0.name), to: try Node(json: $0.value)) }
  }

  private static func query(_ params: JSONValue?) throws -> Query {
    guard let params else { return .all }
    var query = Query()
    if let child = params["orderBy"]?.string { query.index = .child(Path(wire: child)) }
    if params["orderByKey"] != nil { query.index = .key }
    if let count = params["limitToFirst"]?.integer {
      query.limit = Query.Limit(Int(count), side: .first)
    }
    if let count = params["limitToLast"]?.integer {
      query.limit = Query.Limit(Int(count), side: .last)
    }
    query.start = try bound(params["startAt"] ?? params["equalTo"])
    query.end = try bound(params["endAt"] ?? params["equalTo"])
    if let after = params["startAfter"] {
      query.start = try bound(after, exclusive: .maximum)
    }
    if let before = params["endBefore"] {
      query.end = try bound(before, exclusive: .minimum)
    }
    return query
  }

  private static func bound(
    _ json: JSONValue?,
    exclusive: QueryBound.KeyPart? = nil
  ) throws -> QueryBound? {
    guard let json else { return nil }
    let key = json["name"]?.string.map { QueryBound.KeyPart.key(ChildKey($0)) }
    return QueryBound(
      try Node(json: json["index"] ?? .null).leafValue,
      key: key ?? exclusive,
      isInclusive: exclusive == nil
    )
  }

  // MARK: Comparison

  private static let kinds: [String: DataEventType] = [
    "child_removed": .childRemoved, "child_added": .childAdded, "child_moved": .childMoved,
    "child_changed": .childChanged, "value": .value,
  ]

  private func compare(_ step: JSONValue, _ events: [ViewEvent]) throws -> String? {
    let expected = try (step["events"]?.elements ?? []).map { try expectation($0) }
    let actual = events.map { expectation($0.event) }
    guard actual.count == expected.count else {
      return "expected \(expected.map(Self.text)), got \(actual.map(Self.text))"
    }
    if step["type"]?.string == "listen" {
      return actual == expected
        ? nil : "expected \(expected.map(Self.text)), got \(actual.map(Self.text))"
    }
    var start = 0
    while start < expected.count {
      var end = start
      while end < expected.count, expected[end].path == expected[start].path { end += 1 }
      if let problem = compareGroup(expected[start..<end], actual[start..<end], events[start..<end])
      {
        return problem
      }
      start = end
    }
    return nil
  }

  private func compareGroup(
    _ expected: ArraySlice<Expectation>,
    _ actual: ArraySlice<Expectation>,
    _ events: ArraySlice<ViewEvent>
  ) -> String? {
    var counts: [Expectation: Int] = [:]
    for one in expected { counts[one, default: 0] += 1 }
    for one in actual { counts[one, default: 0] -= 1 }
    guard counts.values.allSatisfy({ $0 == 0 }) else {
      return "expected \(expected.map(Self.text)), got \(actual.map(Self.text))"
    }
    var last: [Registration.Owner: DataEventType] = [:]
    for event in events {
      if let previous = last[event.owner], event.event.kind.precedes(previous) {
        return "kinds out of order: \(actual.map(Self.text))"
      }
      last[event.owner] = event.event.kind
    }
    return nil
  }

  private func expectation(_ json: JSONValue) throws -> Expectation {
    let kind = Self.kinds[json["type"]?.string ?? ""] ?? .value
    return Expectation(
      path: path(json),
      kind: kind,
      key: kind == .value ? nil : json["name"]?.string.map { ChildKey($0) },
      previousKey: kind == .childRemoved ? nil : json["prevName"]?.string.map { ChildKey($0) },
      hash: try Node(json: json["data"] ?? .null).hash
    )
  }

  private func expectation(_ event: DataEvent) -> Expectation {
    Expectation(
      path: event.path,
      kind: event.kind,
      key: event.key,
      previousKey: event.previousKey,
      hash: event.node.hash
    )
  }

  private static func text(_ one: Expectation) -> String {
    "\(one.path) \(one.kind) \(one.key?.text ?? "-")"
      + " after \(one.previousKey?.text ?? "-") \(one.hash.prefix(4))"
  }
}

/// Counts the cases of the conformance file.
actor SpecTally {
  static let shared = SpecTally()
  private var passed = 0
  private var failed = 0

  func count(passed isPassed: Bool) {
    if isPassed { passed += 1 } else { failed += 1 }
  }

  var line: String { "\(passed) passed, \(failed) failed" }
}

/// Prints the closing line after the suite.
struct SpecSummary: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await function()
    print(await SpecTally.shared.line)
  }
}

/// A case of the shared conformance format, at the root or moved below another path.
struct SpecCase: Sendable, CustomTestStringConvertible {
  let name: String
  let prefix: Path
  let steps: [JSONValue]

  var testDescription: String { prefix.isRoot ? name : "\(name), under \(prefix.wireText)" }

  /// The file to read: the one named by the environment, or the one next to the project if it
  /// exists.
  static var file: URL? {
    if let named = ProcessInfo.processInfo.environment["SYNC_POINT_SPEC"] {
      return URL(fileURLWithPath: named)
    }
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let beside = root.deletingLastPathComponent()
      .appendingPathComponent("shared/data/sync-point-spec.json")
    return FileManager.default.fileExists(atPath: beside.path) ? beside : nil
  }

  /// Every case twice: at the root and below a deeper path.
  static let all: [SpecCase] = {
    if let file, let data = try? Data(contentsOf: file), let cases = try? parse(data) {
      return cases
    }
    print("SyncPointSpec: no file (set SYNC_POINT_SPEC); running the cases written here only")
    return own
  }()

  static var own: [SpecCase] { (try? parse(Data(ownCases.utf8))) ?? [] }

  private static func parse(_ data: Data) throws -> [SpecCase] {
    let json = try JSONParser.parse(data)
    return (json.elements ?? []).flatMap { spec in
      [Path.root, "foo/bar/baz"].map {
        SpecCase(
          name: spec["name"]?.string ?? "?",
          prefix: $0,
          steps: spec["steps"]?.elements ?? []
        )
      }
    }
  }

  private static let ownCases = """
    [
      {
        "name": "A view tells children, then the value, and only differences later",
        "steps": [
          {"type": "listen", "path": "list", "events": []},
          {"type": "serverUpdate", "path": "list", "data": {"x": 1, "y": 2}, "events": [
            {"path": "list", "type": "child_added", "name": "x", "prevName": null, "data": 1},
            {"path": "list", "type": "child_added", "name": "y", "prevName": "x", "data": 2},
            {"path": "list", "type": "value", "data": {"x": 1, "y": 2}}
          ]},
          {"type": "serverMerge", "path": "list", "data": {"x": null, "y": 3}, "events": [
            {"path": "list", "type": "child_removed", "name": "x", "data": 1},
            {"path": "list", "type": "child_changed", "name": "y", "prevName": null, "data": 3},
            {"path": "list", "type": "value", "data": {"y": 3}}
          ]}
        ]
      },
      {
        "name": "A refused write goes back to what the server said",
        "steps": [
          {"type": "listen", "path": "n", "events": []},
          {"type": "serverUpdate", "path": "n", "data": 1, "events": [
            {"path": "n", "type": "value", "data": 1}
          ]},
          {"type": "set", "path": "n", "data": 2, "events": [
            {"path": "n", "type": "value", "data": 2}
          ]},
          {"type": "set", "path": "n", "data": 3, "events": [
            {"path": "n", "type": "value", "data": 3}
          ]},
          {"type": "ackUserWrite", "writeId": 0, "revert": true, "events": []},
          {"type": "ackUserWrite", "writeId": 1, "revert": true, "events": [
            {"path": "n", "type": "value", "data": 1}
          ]}
        ]
      },
      {
        "name": "A full window evicts a child, and takes it back when the write is refused",
        "steps": [
          {"type": "listen", "path": "log", "params": {"tag": 1, "limitToLast": 2}, "events": []},
          {"type": "serverUpdate", "path": "log", "tag": 1, "data": {"a": 1, "b": 2}, "events": [
            {"path": "log", "type": "child_added", "name": "a", "prevName": null, "data": 1},
            {"path": "log", "type": "child_added", "name": "b", "prevName": "a", "data": 2},
            {"path": "log", "type": "value", "data": {"a": 1, "b": 2}}
          ]},
          {"type": "set", "path": "log/c", "data": 3, "events": [
            {"path": "log", "type": "child_removed", "name": "a", "data": 1},
            {"path": "log", "type": "child_added", "name": "c", "prevName": "b", "data": 3},
            {"path": "log", "type": "value", "data": {"b": 2, "c": 3}}
          ]},
          {"type": "ackUserWrite", "writeId": 0, "revert": true, "events": [
            {"path": "log", "type": "child_removed", "name": "c", "data": 3},
            {"path": "log", "type": "child_added", "name": "a", "prevName": null, "data": 1},
            {"path": "log", "type": "value", "data": {"a": 1, "b": 2}}
          ]}
        ]
      }
    ]
    """
}
