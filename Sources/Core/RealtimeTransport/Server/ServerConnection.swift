package import NIOCore

/// A server's connection to one client; every call must be made on its event loop.
package final class ServerConnection: Sendable {
  /// The event loop of every call and callback.
  package let eventLoop: any EventLoop
  /// Who is at the other end.
  package let peer: Peer

  private let opening: NIOLoopBoundBox<HTTPRequest?>
  private let handler: NIOLoopBoundBox<MessageHandler?>

  init(eventLoop: any EventLoop, request: HTTPRequest) {
    self.eventLoop = eventLoop
    opening = NIOLoopBoundBox(request, eventLoop: eventLoop)
    peer = request.peer
    handler = NIOLoopBoundBox(nil, eventLoop: eventLoop)
  }

  /// The request that opened the connection; nil once that has been accepted.
  ///
  /// What a client says of itself then takes up no memory for as long as it is connected.
  package var request: HTTPRequest? { opening.value }

  /// Sends a message; ignored once the connection is closing.
  package func send(_ message: EncodedMessage) {
    handler.value?.send(message)
  }

  /// Whether more waits for the client than what small answers have.
  package var hasNotableOutput: Bool { handler.value?.hasNotableOutput ?? false }

  /// Says what the client may send from its next message on.
  ///
  /// - Parameters:
  ///   - isStranger: Whether it has the memory of those who have not signed in.
  ///   - messageBytes: The longest message; a longer one passes by unread.
  package func allow(isStranger: Bool, messageBytes: Int) {
    handler.value?.allow(isStranger: isStranger, messageBytes: messageBytes)
  }

  /// Whether so much waits for the client that less should be sent.
  package var isCongested: Bool { handler.value?.isCongested ?? false }

  /// Calls a closure once, as soon as the client has caught up; never when it is gone before.
  package func whenRelieved(_ body: @escaping () -> Void) {
    handler.value?.whenRelieved(body)
  }

  /// Sends what has been given to it, says goodbye and closes.
  ///
  /// - Parameters:
  ///   - code: The WebSocket code that the client is told.
  ///   - reason: What `onClose` is told.
  package func close(code: UInt16, reason: String) {
    handler.value?.close(code: code, end: ConnectionEnd(.closed, reason))
  }

  /// Stops reading, so that the client has to wait, or resumes; no message comes meanwhile.
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
