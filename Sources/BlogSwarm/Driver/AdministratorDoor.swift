private import NIOPosix
package import RealtimeTransport
package import RealtimeTree

/// The way to a database as its administrator, past the rules and past the client library.
package struct AdministratorDoor: Sendable {
  /// A request that was not granted.
  package struct Problem: Error, Hashable, CustomStringConvertible {
    /// What was answered.
    package let description: String
  }

  private let target: ConnectionTarget
  private let client: HTTPClient
  private let isBearer: Bool

  /// Makes a way to a server.
  ///
  /// - Parameters:
  ///   - target: Its address; whoever comes through a Unix socket is an administrator.
  ///   - timeout: How long an answer may take.
  package init(_ target: ConnectionTarget, timeout: Duration = .seconds(10)) {
    self.target = target
    if case .unix = target.endpoint { isBearer = false } else { isBearer = true }
    client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: .system,
      timeout: timeout
    )
  }

  /// Reads what is at a path.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func get(_ path: String) async throws -> JSONValue {
    try JSONParser.parse(try await send("GET", path, []))
  }

  /// Puts a value in the place of what is at a path.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func put(_ path: String, _ value: JSONValue) async throws {
    _ = try await send("PUT", path, Array(value.text.utf8))
  }

  /// Changes several places at once.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func patch(_ path: String, _ changes: JSONValue) async throws {
    _ = try await send("PATCH", path, Array(changes.text.utf8))
  }

  /// Puts rules in force.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func setRules(_ source: String) async throws {
    _ = try await send("PUT", "/.settings/rules", Array(source.utf8))
  }

  private func send(_ method: String, _ path: String, _ body: [UInt8]) async throws -> String {
    let namespace = target.namespace.map { "?ns=\($0)" } ?? ""
    let answer = try await client.send(
      HTTPClientRequest(
        method,
        to: target,
        path: "\(path).json\(namespace)",
        headerLines: isBearer ? [HTTPAnswer.HeaderLine("Authorization", "Bearer owner")] : [],
        body: body
      )
    )
    let text = String(decoding: answer.body, as: UTF8.self)
    guard (200..<300).contains(answer.status) else {
      throw Problem(description: "\(method) \(path): \(answer.status) \(text)")
    }
    return text
  }
}
