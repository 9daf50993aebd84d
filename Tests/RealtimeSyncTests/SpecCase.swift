import Foundation
import RealtimeCore
import Testing

@testable import RealtimeSync

/// A case of the shared conformance format, at the root or moved below another path.
struct SpecCase: Sendable, CustomTestStringConvertible {
  let name: String
  let prefix: Path
  let steps: [JSONValue]

  var testDescription: String { prefix.isRoot ? name : "\(name), under \(prefix.wireText)" }

  /// The file to read: the one the environment names, or the one beside the project if it is there.
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

  /// Every case twice, at the root and below a deeper path.
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
