package import NIOCore

/// A server's connection to one client; all calls must be made on the server's event loop.
package final class ServerConnection: MessageConnection, Sendable {
  package var eventLoop: any EventLoop { state.eventLoop }
  package let peer: Peer

  private let state: NIOLoopBoundBox<State>

  private struct State {
    var request: HTTPRequest?
    var handler: MessageHandler?
    var callbacks: ServerHandlers.Callbacks?
    /// The end, if the connection ended while it was being accepted.
    var earlyEnd: ConnectionEnd?
  }

  init(_ request: HTTPRequest, on eventLoop: any EventLoop) {
    peer = request.peer
    state = .makeBoxSendingValue(State(request: request), eventLoop: eventLoop)
  }

  private var handler: MessageHandler? { state.value.handler }

  // Released once the connection is accepted, so that its headers use no memory from then on.
  package var request: HTTPRequest? { state.value.request }

  package func send(_ message: EncodedMessage) {
    handler?.send(message)
  }

  package func sendUnlessCongested(_ message: EncodedMessage) -> Bool {
    guard let handler else { return true }
    guard !handler.isCongested else { return false }
    handler.send(message)
    return true
  }

  package var hasNotableOutput: Bool { handler?.hasNotableOutput ?? false }

  package func allow(isStranger: Bool, messageBytes: Int) {
    handler?.allow(isStranger: isStranger, messageBytes: messageBytes)
  }

  package var isCongested: Bool { handler?.isCongested ?? false }

  package func whenRelieved(_ body: @escaping () -> Void) {
    handler?.whenRelieved(body)
  }

  package func close(code: UInt16, reason: String) {
    handler?.close(code: code, end: ConnectionEnd(.closed, description: reason))
  }

  package func keepAlive() {
    handler?.keepAlive()
  }

  package func setReading(_ isReading: Bool) {
    handler?.setReading(isReading)
  }

  // MARK: From the handler

  /// Opens the connection, and has it accepted.
  func open(
    _ handler: MessageHandler,
    accept: @Sendable (ServerConnection) -> ServerHandlers.Callbacks
  ) {
    state.value.handler = handler
    let callbacks = accept(self)
    state.value.request = nil
    // Output sent while the connection is being accepted may already have ended it.
    if let end = state.value.earlyEnd {
      callbacks.onClose(end)
    } else {
      state.value.callbacks = callbacks
    }
  }

  /// Passes a message to the server.
  func received(_ message: [UInt8]) {
    state.value.callbacks?.onMessage(message)
  }

  /// Reports a request whose message was too long.
  func skipped(_ id: Int64) {
    state.value.callbacks?.onExcess(id)
  }

  func ended(_ end: ConnectionEnd) {
    let callbacks = state.value.callbacks
    state.value = State(earlyEnd: end)
    callbacks?.onClose(end)
  }
}

/// The callbacks through which a listener talks to its server, made on the server's event loop.
package struct ServerHandlers: Sendable {
  /// Decides on a WebSocket handshake: nil accepts it, a response refuses it.
  package var admit: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer?> = {
    $1.makeSucceededFuture(nil)
  }
  package var answer: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply> = {
    $1.makeSucceededFuture(.answer(HTTPAnswer(status: 404, error: "there is nothing here")))
  }
  /// Decides on the body of such a request before it is read; called only for long bodies.
  package var admitBody: @Sendable (HTTPRequest) -> BodyAdmission = { _ in .ofStranger }
  /// Receives a sentence for the log about a request that the policy refuses.
  package var onRefusal: @Sendable (String) -> Void = { _ in }
  /// Ends an idle connection to make room for a new one; returns false if there is none.
  package var makeRoom: @Sendable () -> Bool = { false }
  /// Receives the reason why a connection is refused before it is read from.
  package var noteExcess: @Sendable (String) -> Void = { _ in }
  /// Receives a connection that has just opened.
  package var accept: @Sendable (ServerConnection) -> Callbacks

  /// The callbacks through which a connection talks to its owner, made on the owner's event loop.
  package final class Callbacks: Sendable {
    /// Receives each message, in order.
    package let onMessage: @Sendable ([UInt8]) -> Void
    /// Receives the number of a request whose message was too long and has been skipped.
    package let onExcess: @Sendable (Int64) -> Void
    /// Receives the end: called once, after all other callbacks.
    package let onClose: @Sendable (ConnectionEnd) -> Void

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
}

extension ServerHandlers {
  /// Makes handlers that accept every handshake, and answer plain requests with a 404.
  package init(onAccept accept: @escaping @Sendable (ServerConnection) -> Callbacks) {
    self.init(accept: accept)
  }
}
