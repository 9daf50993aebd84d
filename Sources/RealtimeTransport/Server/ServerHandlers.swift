package import NIOCore

/// What a listener asks the server that owns it; every call is made on the connection's event loop.
package struct ServerHandlers: Sendable {
  /// Decides on a request for a WebSocket: nil lets it in, an answer refuses it.
  package var admit: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer?>
  /// Answers any other request.
  package var answer: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>
  /// Takes a connection that has just opened.
  package var accept: @Sendable (ServerConnection) -> Callbacks

  /// What a connection tells its owner, on the connection's event loop.
  package struct Callbacks: Sendable {
    /// Takes each message, in order.
    package var onMessage: @Sendable ([UInt8]) -> Void
    /// Takes the end, once, last.
    package var onClose: @Sendable (ConnectionEnd) -> Void

    /// Makes callbacks.
    package init(
      onMessage: @escaping @Sendable ([UInt8]) -> Void,
      onClose: @escaping @Sendable (ConnectionEnd) -> Void
    ) {
      self.onMessage = onMessage
      self.onClose = onClose
    }
  }

  /// Makes handlers; without a closure for plain requests these are answered with 404.
  package init(
    admit: @escaping @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer?> = {
      $1.makeSucceededFuture(nil)
    },
    answer: @escaping @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply> = {
      $1.makeSucceededFuture(.answer(HTTPAnswer(status: 404, error: "there is nothing here")))
    },
    accept: @escaping @Sendable (ServerConnection) -> Callbacks
  ) {
    self.admit = admit
    self.answer = answer
    self.accept = accept
  }
}
