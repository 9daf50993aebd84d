package import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Sends plain HTTP requests, each over a connection of its own.
///
/// Redirects are not followed: whoever expects one looks at the answer, so that no credential goes to
/// a host that was not named.
package struct HTTPClient: Sendable {
  /// The longest body of an answer, in bytes.
  package var bodyBytes = 16 * 1_024 * 1_024

  /// Where the connections to a host really go, by the value of the Host header.
  package var detours: [String: ConnectionTarget.Endpoint] = [:]

  private let group: any EventLoopGroup
  private let trust: TrustRoots
  private let timeout: TimeAmount

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - group: Loops of NIO sockets.
  ///   - trust: Whose certificates are believed.
  ///   - timeout: How long an answer may take, from the first look-up of the host to its last byte.
  package init(group: any EventLoopGroup, trust: TrustRoots, timeout: Duration) {
    self.group = group
    self.trust = trust
    self.timeout = TimeAmount(timeout)
  }

  /// Opens a connection, whose handlers a closure adds.
  func connect(
    to target: ConnectionTarget,
    _ initialize: @escaping @Sendable (any Channel) throws -> Void
  ) -> EventLoopFuture<any Channel> {
    target.connect(on: group.next(), trust: trust, timeout: timeout, initialize: initialize)
  }

  /// Sends a request and waits for the answer, whatever its status.
  ///
  /// - Throws: ``HTTPClientError``; of kind `cancelled` when the task is cancelled.
  package func send(
    _ request: HTTPClientRequest
  ) async throws(HTTPClientError) -> HTTPClientAnswer {
    var request = request
    request.target.detour = detours[request.target.host]
    let exchange = HTTPExchange(
      request: request,
      trust: trust,
      timeout: timeout,
      bodyBytes: bodyBytes,
      eventLoop: group.next()
    )
    let result = await withTaskCancellationHandler {
      await exchange.result()
    } onCancel: {
      exchange.cancel()
    }
    return try result.get()
  }
}
