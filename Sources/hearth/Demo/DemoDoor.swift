import NIOPosix
import RealtimeTransport
import RealtimeTree

/// The way to a database as its administrator, past the rules and past the client library.
struct DemoDoor: Sendable {
  private let target: ConnectionTarget
  private let client: HTTPClient
  private let headerLines: [HTTPAnswer.HeaderLine]

  /// Makes a way to a server; whoever comes through a Unix socket is an administrator.
  init(_ target: ConnectionTarget) {
    self.target = target
    if case .unix = target.endpoint {
      headerLines = []
    } else {
      // Emulators believe this; other servers tell what everybody may read.
      headerLines = [HTTPAnswer.HeaderLine("Authorization", "Bearer owner")]
    }
    client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: .system,
      timeout: .seconds(5)
    )
  }

  /// Reads what is at a path; nil when it cannot be read.
  func get(_ path: String) async -> JSONValue? {
    let namespace = target.namespace.map { "?ns=\($0)" } ?? ""
    let request = HTTPClientRequest(
      "GET",
      to: target,
      path: "\(path).json\(namespace)",
      headerLines: headerLines
    )
    guard let answer = try? await client.send(request), answer.status == 200 else { return nil }
    return try? JSONParser.parse(answer.body)
  }
}
