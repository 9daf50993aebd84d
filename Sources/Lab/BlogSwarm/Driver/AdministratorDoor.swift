package import BlogChecker
private import NIOPosix
package import RealtimeCore
package import RealtimeTransport

/// The way to a database as its administrator, past the rules and past the client library.
package struct AdministratorDoor: Sendable {
  /// A request that was not granted.
  package struct Problem: Error, Hashable, CustomStringConvertible {
    /// What was answered.
    package let description: String
  }

  private let target: ConnectionTarget
  private let client: HTTPClient
  /// What proves that one is an administrator, or nil where nothing has to.
  private let token: String?

  /// What an emulator takes for the proof of an administrator.
  private static let emulatorToken = "owner"

  /// Makes a way to a server.
  ///
  /// - Parameters:
  ///   - target: Its address; whoever comes through a Unix socket is an administrator.
  ///   - key: The secret of its administrators, or nil for an emulator.
  ///   - trust: Whose certificates are believed.
  ///   - timeout: How long an answer may take.
  package init(
    _ target: ConnectionTarget,
    key: String? = nil,
    trust: TrustRoots = .system,
    timeout: Duration = .seconds(10)
  ) {
    self.target = target
    if case .unix = target.endpoint { token = nil } else { token = key ?? Self.emulatorToken }
    client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: trust,
      timeout: timeout
    )
  }

  /// Somebody who follows the whole database by this way.
  package var observer: StreamObserver {
    StreamObserver(client: client, target: target, token: token)
  }

  /// Whether the server takes whoever comes by this way for an administrator.
  ///
  /// - Throws: ``Problem`` when it says neither, or what the connection reports.
  package func isOpen() async throws -> Bool {
    let answer = try await ask("GET", "/.settings/rules")
    if answer.status == 401 || answer.status == 403 { return false }
    _ = try Self.text(of: answer, to: "GET /.settings/rules")
    return true
  }

  /// Reads what is at a path.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func get(_ path: String) async throws -> JSONValue {
    try JSONParser.parse(try await send("GET", path))
  }

  /// The keys of what is at a path, without what is below them.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func keys(of path: String) async throws -> [String] {
    let answer = try await ask("GET", path, parameter: "shallow=true")
    let json = try JSONParser.parse(try Self.text(of: answer, to: "GET \(path)"))
    return (json.members ?? []).map(\.name)
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

  /// The rules that are in force.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func rules() async throws -> String { try await send("GET", "/.settings/rules") }

  /// Puts rules in force.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func setRules(_ source: String) async throws {
    _ = try await send("PUT", "/.settings/rules", Array(source.utf8))
  }

  private func send(
    _ method: String,
    _ path: String,
    _ body: [UInt8] = []
  ) async throws -> String {
    try Self.text(of: try await ask(method, path, body), to: "\(method) \(path)")
  }

  private func ask(
    _ method: String,
    _ path: String,
    _ body: [UInt8] = [],
    parameter: String? = nil
  ) async throws -> HTTPClientAnswer {
    let parameters = [parameter, target.namespace.map { "ns=\($0)" }].compactMap(\.self)
    let query = parameters.isEmpty ? "" : "?\(parameters.joined(separator: "&"))"
    return try await client.send(
      HTTPClientRequest(
        method,
        to: target,
        path: "\(path).json\(query)",
        headerLines: token.map { [HTTPAnswer.HeaderLine("Authorization", "Bearer \($0)")] } ?? [],
        body: body
      )
    )
  }

  private static func text(of answer: HTTPClientAnswer, to request: String) throws -> String {
    let text = String(decoding: answer.body, as: UTF8.self)
    guard (200..<300).contains(answer.status) else {
      throw Problem(description: "\(request): \(answer.status) \(text)")
    }
    return text
  }
}
