import BlogTUI
import Dispatch
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase

/// What the server of a script holds, as an administrator sees it over a connection of its own.
@MainActor
final class ScriptedData {
  private let database: Database
  /// What was found at the path that was read last; nil while the server has not answered.
  private let found = NIOLockedValueBox<Result<JSONValue, any Error>?>(nil)

  /// Connects to the server.
  init(url: String) throws {
    var options = DatabaseOptions()
    options.readDeadline = nil
    database = try Database(url: url, options: options)
    // The main queue is busy with the program for as long as the script runs.
    database.callbackQueue = DispatchQueue(label: "hearth.script")
  }

  /// Parses a path and what a database would hold of JSON.
  static func parsed(_ path: String, _ json: String) throws -> (path: String, node: Node) {
    let path = try DatabasePath.parse(path)
    let node = try Node(json: try JSONParser.parse(json))
    if let problem = Validation.problem(with: node, at: Path(wire: path)) {
      throw CommandFailure(.usage, description: problem)
    }
    return (path, node)
  }

  /// Reads a path and compares what is there with JSON, or reports the progress of that.
  ///
  /// After a refusal the path is read once more.
  func compare(_ path: String, with json: String, isFirst: Bool) -> Script.Progress {
    do {
      let wanted = try Self.parsed(path, json)
      guard !isFirst, let answer = found.withLockedValue({ $0 }) else {
        if isFirst { read(wanted.path) }
        return .underWay
      }
      let there = try answer.get()
      if try Node(json: there) == wanted.node { return .done }
      read(wanted.path)
      return .refused("the server has \(SafeText(untrusted: there.text).string) at \(path)")
    } catch {
      return .refused("\(path) cannot be read: \(error)")
    }
  }

  private func read(_ path: String) {
    found.withLockedValue { $0 = nil }
    database.reference(withPath: path).getData { @Sendable [found] error, snapshot in
      found.withLockedValue {
        $0 = error.map { .failure($0) } ?? .success(snapshot?.jsonValue ?? .null)
      }
    }
  }

  /// Disconnects.
  func close() async { await database.close() }
}
