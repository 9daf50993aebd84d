package import NIOCore

/// A server's connection to one client; all calls must be made on its event loop.
package final class ServerConnection: Sendable {
  /// The event loop of every call and callback.
  package let eventLoop: any EventLoop
  /// The client.
  package let peer: Peer

  private let opening: NIOLoopBoundBox<HTTPRequest?>
  private let handler: NIOLoopBoundBox<MessageHandler?>

  init(eventLoop: any EventLoop, request: HTTPRequest) {
    self.eventLoop = eventLoop
    opening = NIOLoopBoundBox(request, eventLoop: eventLoop)
    peer = request.peer
    handler = NIOLoopBoundBox(nil, eventLoop: eventLoop)
  }

  /// The request that opened the connection; nil after the connection has been accepted.
  ///
  /// It is released at that point, so that its headers use no memory while the client is connected.
  package var request: HTTPRequest? { opening.value }

  /// Sends a message; ignored once the connection is closing.
  package func send(_ message: EncodedMessage) {
    handler.value?.send(message)
  }

  /// Whether the waiting output exceeds a few small messages.
  package var hasNotableOutput: Bool { handler.value?.hasNotableOutput ?? false }

  /// Sets the limits for the client from its next message on.
  ///
  /// - Parameters:
  ///   - isStranger: Whether it uses the memory of clients that have not signed in.
  ///   - messageBytes: The longest message; longer ones are skipped.
  package func allow(isStranger: Bool, messageBytes: Int) {
    handler.value?.allow(isStranger: isStranger, messageBytes: messageBytes)
  }

  /// Whether so much output is waiting that the server should send less.
  package var isCongested: Bool { handler.value?.isCongested ?? false }

  /// Calls a closure once, as soon as the client has caught up; never if it disconnects first.
  package func whenRelieved(_ body: @escaping () -> Void) {
    handler.value?.whenRelieved(body)
  }

  /// Sends the remaining output and a close frame, then closes.
  ///
  /// - Parameters:
  ///   - code: The WebSocket code for the client.
  ///   - reason: The reason that `onClose` receives.
  package func close(code: UInt16, reason: String) {
    handler.value?.close(code: code, end: ConnectionEnd(.closed, description: reason))
  }

  /// Pauses or resumes reading; no messages are delivered while it is paused.
  package func setReading(_ isReading: Bool) {
    handler.value?.setReading(isReading)
  }

  func attach(_ handler: MessageHandler) {
    self.handler.value = handler
  }

  func forgetRequest() {
    opening.value = nil
  }

  func detach() {
    handler.value = nil
  }
}

/// The callbacks through which a listener talks to its server, made on the connection's event loop.
package struct ServerHandlers: Sendable {
  /// Decides on a WebSocket handshake: nil accepts it, a response refuses it.
  package var admit: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer?>
  /// Answers any other request.
  package var answer: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>
  /// Decides on the body of such a request before it is read; called only for long bodies.
  package var admitBody: @Sendable (HTTPRequest) -> BodyAdmission
  /// Ends an idle connection to make room for a new one; returns false if there is none.
  package var makeRoom: @Sendable () -> Bool
  /// Receives a connection that has just opened.
  package var accept: @Sendable (ServerConnection) -> Callbacks

  /// The callbacks through which a connection talks to its owner, made on its event loop.
  package struct Callbacks: Sendable {
    /// Receives each message, in order.
    package var onMessage: @Sendable ([UInt8]) -> Void
    /// Receives the number of a request whose message was too long and has been skipped.
    package var onExcess: @Sendable (Int64) -> Void
    /// Receives the end: called once, after all other callbacks.
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

  /// Makes handlers; by default, every handshake is accepted and plain requests get a 404.
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
