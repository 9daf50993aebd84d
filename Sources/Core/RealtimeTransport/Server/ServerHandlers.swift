package import NIOCore

/// What a listener asks the server that owns it; every call is made on the connection's event loop.
package struct ServerHandlers: Sendable {
  /// Decides on a request for a WebSocket: nil lets it in, an answer refuses it.
  package var admit: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer?>
  /// Answers any other request.
  package var answer: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>
  /// Decides on the body of such a request that is longer than everyone's may be, before it is read.
  package var admitBody: @Sendable (HTTPRequest) -> BodyAdmission
  /// Ends a connection that does nothing, so that there is room for another; false when there is none.
  package var makeRoom: @Sendable () -> Bool
  /// Takes a connection that has just opened.
  package var accept: @Sendable (ServerConnection) -> Callbacks

  /// Whose memory a long body takes, or why it is not read.
  package enum BodyAdmission: Sendable {
    /// That of those who have not signed in.
    case ofStranger
    /// That of all others.
    case ofKnown
    /// None: this is the answer.
    case refused(HTTPAnswer)
  }

  /// What a connection tells its owner, on the connection's event loop.
  package struct Callbacks: Sendable {
    /// Takes each message, in order.
    package var onMessage: @Sendable ([UInt8]) -> Void
    /// Takes the number of a request whose message was too long, and has passed by unread.
    package var onExcess: @Sendable (Int64) -> Void
    /// Takes the end, once, last.
    package var onClose: @Sendable (ConnectionEnd) -> Void

    /// Makes callbacks.
    package init(
      onMessage: @escaping @Sendable ([UInt8]) -> Void,
      onExcess: @escaping @Sendable (Int64) -> Void = { _ in },
      onClose: @escaping @Sendable (ConnectionEnd) -> Void
    ) {
      self.onMessage = onMessage
      self.onExcess = onExcess
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
    admitBody: @escaping @Sendable (HTTPRequest) -> BodyAdmission = { _ in .ofStranger },
    makeRoom: @escaping @Sendable () -> Bool = { false },
    accept: @escaping @Sendable (ServerConnection) -> Callbacks
  ) {
    self.admit = admit
    self.answer = answer
    self.admitBody = admitBody
    self.makeRoom = makeRoom
    self.accept = accept
  }
}
