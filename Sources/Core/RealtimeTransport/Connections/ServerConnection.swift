package import NIOCore
package import RealtimeCore

/// A server's connection to one client; all calls must be made on the server's event loop.
///
/// The connection itself may have another event loop. Calls then reach it in order, but a little
/// later, and messages that were on their way may still arrive after ``setReading(_:)`` or
/// ``close(code:reason:)``.
package final class ServerConnection: MessageConnection, Sendable {
  /// The event loop of every call and callback.
  package var eventLoop: any EventLoop { link.server }
  /// The client.
  package let peer: Peer

  private let link: LoopLink
  private let opening: NIOLoopBoundBox<HTTPRequest?>
  /// The handler, confined to the connection's event loop.
  private let handler: NIOLoopBoundBox<MessageHandler?>
  /// What is known of the waiting output if the link is not direct.
  private let mirror: OutputMirror?
  /// Bounds the messages that are on their way to the server if the link is not direct.
  private let sender: NIOLoopBound<LoopLink.Sender>?
  private let server: NIOLoopBoundBox<ServerSide>

  /// What belongs to the server's event loop.
  private struct ServerSide {
    var callbacks: ServerHandlers.Callbacks?
    /// The end, if the connection ended while it was being accepted.
    var earlyEnd: ConnectionEnd?
  }

  init(_ link: LoopLink, request: HTTPRequest, mirror: OutputMirror?) {
    self.link = link
    self.mirror = mirror
    peer = request.peer
    opening = .makeBoxSendingValue(request, eventLoop: link.server)
    server = .makeBoxSendingValue(ServerSide(), eventLoop: link.server)
    let handler = NIOLoopBoundBox<MessageHandler?>(nil, eventLoop: link.connections)
    self.handler = handler
    sender =
      link.isDirect
      ? nil
      : NIOLoopBound(
        LoopLink.Sender { [weak handler] in handler?.value?.hold($0) },
        eventLoop: link.connections
      )
  }

  /// The request that opened the connection; nil after the connection has been accepted.
  ///
  /// It is released at that point, so that its headers use no memory while the client is connected.
  package var request: HTTPRequest? { opening.value }

  /// Sends a message; ignored once the connection is closing.
  package func send(_ message: EncodedMessage) {
    guard let mirror else {
      handler.value?.send(message)
      return
    }
    mirror.send(message.byteCount) { [handler] in handler.value?.send(message) }
  }

  /// Sends a message unless ``isCongested``; ignored once the connection is closing.
  ///
  /// - Returns: Whether the connection was not congested.
  package func sendUnlessCongested(_ message: EncodedMessage) -> Bool {
    if mirror == nil {
      guard let handler = handler.value else { return true }
      guard !handler.isCongested else { return false }
      handler.send(message)
    } else {
      guard !isCongested else { return false }
      send(message)
    }
    return true
  }

  /// Whether the waiting output exceeds a few small messages.
  package var hasNotableOutput: Bool {
    mirror?.hasNotableOutput ?? handler.value?.hasNotableOutput ?? false
  }

  /// Sets the limits for the client from its next message on.
  ///
  /// - Parameters:
  ///   - isStranger: Whether it uses the memory of clients that have not signed in.
  ///   - messageBytes: The longest message; longer ones are skipped.
  package func allow(isStranger: Bool, messageBytes: Int) {
    link.toConnections { [handler] in
      handler.value?.allow(isStranger: isStranger, messageBytes: messageBytes)
    }
  }

  /// Whether so much output is waiting that the server should send less.
  package var isCongested: Bool { mirror?.isCongested ?? handler.value?.isCongested ?? false }

  /// Calls a closure once, as soon as the client has caught up; never if it disconnects first.
  package func whenRelieved(_ body: @escaping () -> Void) {
    guard let mirror else {
      handler.value?.whenRelieved(body)
      return
    }
    mirror.whenRelieved(handler, body)
  }

  /// Sends the remaining output and a close frame, then closes.
  ///
  /// - Parameters:
  ///   - code: The WebSocket code for the client.
  ///   - reason: The reason that `onClose` receives.
  package func close(code: UInt16, reason: String) {
    link.toConnections { [handler] in
      handler.value?.close(code: code, end: ConnectionEnd(.closed, description: reason))
    }
  }

  /// Sends a ping if nothing has been sent since the last call, for proxies that cut silent
  /// connections.
  package func keepAlive() {
    link.toConnections { [handler] in handler.value?.keepAlive() }
  }

  /// Pauses or resumes reading; no messages are delivered while it is paused.
  package func setReading(_ isReading: Bool) {
    link.toConnections { [handler] in handler.value?.setReading(isReading) }
  }

  // MARK: From the connection's event loop

  /// The longest message that is decoded here, in bytes.
  ///
  /// Longer ones are left to the server, which decides whose turn it is.
  private static let shortMessage = 4 * 1_024

  /// Opens the connection, and has it accepted.
  func open(
    _ handler: MessageHandler,
    accept: @escaping @Sendable (ServerConnection) -> ServerHandlers.Callbacks
  ) {
    self.handler.value = handler
    link.toServer { [self] in
      let callbacks = accept(self)
      opening.value = nil
      // Output sent while the connection is being accepted may already have ended it.
      if let end = server.value.earlyEnd {
        callbacks.onClose(end)
      } else {
        server.value.callbacks = callbacks
      }
    }
  }

  /// Passes a message to the server, decoded if that spares the server's event loop something.
  func received(_ message: [UInt8], depthLimit: Int?) {
    guard let sender else {
      server.value.callbacks?.onMessage(message)
      return
    }
    let bytes = message.count
    guard let depthLimit, bytes <= Self.shortMessage else {
      return link.toServer(from: sender.value, bytes: bytes) { [server] in
        server.value.callbacks?.onMessage(message)
      }
    }
    let result = Result { () throws(MessageError) in
      try ClientMessage(decoding: message, depthLimit: depthLimit)
    }
    link.toServer(from: sender.value, bytes: bytes) { [server] in
      server.value.callbacks?.onDecoded(result, bytes)
    }
  }

  /// Reports a request whose message was too long.
  func skipped(_ id: Int64) {
    link.toServer { [server] in server.value.callbacks?.onExcess(id) }
  }

  /// Reports the end of the connection.
  func ended(_ end: ConnectionEnd) {
    handler.value = nil
    link.toServer { [server, mirror] in
      mirror?.end()
      let callbacks = server.value.callbacks
      server.value = ServerSide(earlyEnd: end)
      callbacks?.onClose(end)
    }
  }
}

/// The callbacks through which a listener talks to its server, made on the server's event loop.
package struct ServerHandlers: Sendable {
  /// Decides on a WebSocket handshake: nil accepts it, a response refuses it.
  package var admit: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer?>
  /// Answers any other request.
  package var answer: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>
  /// Decides on the body of such a request before it is read; called only for long bodies.
  package var admitBody: @Sendable (HTTPRequest) -> BodyAdmission
  /// Receives a sentence for the log about a request that the policy refuses.
  package var onRefusal: @Sendable (String) -> Void
  /// Ends an idle connection to make room for a new one; returns false if there is none.
  package var makeRoom: @Sendable () -> Bool
  /// Receives the reason why a connection is refused before it is read from; called on any thread.
  package var noteExcess: @Sendable (String) -> Void
  /// Receives a connection that has just opened.
  package var accept: @Sendable (ServerConnection) -> Callbacks
  /// The deepest nesting that is accepted in messages; nil if the owner decodes all messages itself.
  package var depthLimit: Int?

  /// The callbacks through which a connection talks to its owner, made on the owner's event loop.
  package final class Callbacks: Sendable {
    /// Receives each message, in order.
    package let onMessage: @Sendable ([UInt8]) -> Void
    /// Receives each message that has been decoded already, in order with the others, and its length
    /// in bytes.
    package let onDecoded: @Sendable (Result<ClientMessage, MessageError>, Int) -> Void
    /// Receives the number of a request whose message was too long and has been skipped.
    package let onExcess: @Sendable (Int64) -> Void
    /// Receives the end: called once, after all other callbacks.
    package let onClose: @Sendable (ConnectionEnd) -> Void

    /// Makes callbacks.
    package init(
      onMessage: @escaping @Sendable ([UInt8]) -> Void,
      onDecoded: @escaping @Sendable (Result<ClientMessage, MessageError>, Int) -> Void = { _, _ in
      },
      onExcess: @escaping @Sendable (Int64) -> Void = { _ in },
      onClose: @escaping @Sendable (ConnectionEnd) -> Void
    ) {
      self.onMessage = onMessage
      self.onDecoded = onDecoded
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
    onRefusal: @escaping @Sendable (String) -> Void = { _ in },
    makeRoom: @escaping @Sendable () -> Bool = { false },
    noteExcess: @escaping @Sendable (String) -> Void = { _ in },
    depthLimit: Int? = nil,
    accept: @escaping @Sendable (ServerConnection) -> Callbacks
  ) {
    self.admit = admit
    self.answer = answer
    self.admitBody = admitBody
    self.onRefusal = onRefusal
    self.makeRoom = makeRoom
    self.noteExcess = noteExcess
    self.depthLimit = depthLimit
    self.accept = accept
  }
}
