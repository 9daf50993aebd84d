internal import NIOCore
internal import RealtimeTransport

/// Finds out whether a server can be reached where clients are sent.
struct ServerReach: Sendable {
  /// How long an answer may take.
  private static let patience = Duration.seconds(2)

  private let client: HTTPClient
  private let isSecure: Bool

  /// Makes a way to look.
  ///
  /// - Parameters:
  ///   - eventLoop: The event loop of the connections.
  ///   - isSecure: Whether the servers are reached with encryption.
  init(on eventLoop: any EventLoop, isSecure: Bool) {
    client = HTTPClient(group: eventLoop, trust: .system, timeout: Self.patience)
    self.isSecure = isSecure
  }

  /// Looks at a server.
  ///
  /// - Parameter host: The host, and the port unless it is the usual one.
  /// - Returns: Whether anything answers there that does not say itself that nothing is behind it.
  func isReached(_ host: String) async -> Bool {
    do throws(HTTPClientError) {
      let url = "\(isSecure ? "https" : "http")://\(host)/.json"
      let answer = try await client.send(HTTPClientRequest("OPTIONS", url: url))
      // 502 and 504 are those of a load balancer.
      return answer.status != 502 && answer.status != 504
    } catch {
      // Somebody is there, whom this server has no reason to believe.
      if case .insecure = error.kind { return true }
      return error.kind == .tooLarge
    }
  }
}
