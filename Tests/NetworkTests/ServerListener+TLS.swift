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

  /// A listener on a free port that greets WebSockets and echoes the bodies of requests.
  static func startEcho(
    _ certificate: ServerCertificate?,
    onRequest: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
  ) async throws -> ServerListener {
    try await listen(
      at: .tcp(host: "127.0.0.1", port: 0, isSecure: certificate != nil),
      certificate: certificate,
      on: MultiThreadedEventLoopGroup.singleton.next(),
      policy: RequestPolicy(allowsAnyHost: true),
      handlers: ServerHandlers(
        answer: { request, loop in
          onRequest(request)
          let answer = HTTPAnswer(status: 200, contentType: "text/plain", body: request.body)
          return loop.makeSucceededFuture(.answer(answer))
        },
        accept: { connection in
          if let request = connection.request { onRequest(request) }
          connection.send(EncodedMessage(Array("hello".utf8)))
          return ServerHandlers.Callbacks(
            onMessage: { connection.send(EncodedMessage($0)) },
            onClose: { _ in }
          )
        }
      )
    ).get().endingWithTest()
  }

  /// The port that the listener uses.
  var port: Int {
    switch address {
    case .unix: 0
    case .tcp(_, let port, _): port
    }
  }
}
