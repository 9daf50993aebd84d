import NIOCore
import NIOPosix
import TestSupport

@testable import RealtimeTransport

extension ServerListener {
  /// Has the listener close once the test is over.
  func endingWithTest() -> ServerListener {
    afterTest { try? await self.close().get() }
    return self
  }

  /// A listener whose connections behave as the closure specifies.
  static func start(
    at address: ListenAddress = .loopback(port: 0),
    limits: TransportLimits = .server,
    admit: @escaping @Sendable (HTTPRequest) -> HTTPAnswer? = { _ in nil },
    accept: @escaping @Sendable (ServerConnection) -> ServerHandlers.Callbacks
  ) async throws -> ServerListener {
    try await listen(
      at: address,
      on: MultiThreadedEventLoopGroup.singleton.next(),
      limits: limits,
      handlers: ServerHandlers(
        admit: { $1.makeSucceededFuture(admit($0)) },
        accept: accept
      )
    ).get().endingWithTest()
  }

  /// A listener that sends a greeting, and then echoes what it receives.
  static func startEcho(
    at address: ListenAddress = .loopback(port: 0)
  ) async throws
    -> ServerListener
  {
    try await start(at: address) { connection in
      connection.send(EncodedMessage(Array("hello".utf8)))
      return ServerHandlers.Callbacks(
        onMessage: { connection.send(EncodedMessage($0)) },
        onClose: { _ in }
      )
    }
  }
}
