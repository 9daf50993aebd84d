internal import NIOCore
internal import RealtimeTransport

/// Checks whether a server can be reached at its host.
struct ServerReach: Sendable {
  /// How long the server may take to answer.
  private static let patience = Duration.seconds(2)

  private let client: HTTPClient
  private let isSecure: Bool

  init(on eventLoop: any EventLoop, isSecure: Bool) {
    client = HTTPClient(group: eventLoop, trust: .system, timeout: Self.patience)
    self.isSecure = isSecure
  }

  /// Tries to reach a server at a host, with the port unless it is the default one.
  ///
  /// - Returns: Whether anything answers, other than a gateway reporting that nothing is behind it.
  func isReached(_ host: String) async -> Bool {
    do throws(HTTPClientError) {
      // Unlike a request for data, this does not wait for the leader of a database.
      let url = "\(isSecure ? "https" : "http")://\(host)/livez"
      let answer = try await client.send(HTTPClientRequest("GET", url: url))
      // These are the answers of a load balancer without a server behind it.
      return answer.status != 502 && answer.status != 504
    } catch {
      // A server answered, but it offered no proof of who it is.
      if case .insecure = error.kind { return true }
      return error.kind == .tooLarge
    }
  }
}
