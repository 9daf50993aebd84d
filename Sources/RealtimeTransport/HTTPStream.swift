package import NIOCore

/// The body of an answer that comes bit by bit; every call must be made on its event loop.
package final class HTTPStream: Sendable {
  /// The event loop of every call and callback.
  package let eventLoop: any EventLoop

  private let handler: NIOLoopBoundBox<PlainRequestHandler?>

  init(eventLoop: any EventLoop, handler: PlainRequestHandler?) {
    self.eventLoop = eventLoop
    self.handler = NIOLoopBoundBox(handler, eventLoop: eventLoop)
  }

  /// Sends more; ignored once the stream is over.
  package func send(_ bytes: [UInt8]) {
    handler.value?.sendPart(bytes)
  }

  /// Ends the body, then the connection.
  package func end() {
    handler.value?.endStream()
  }

  func detach() {
    handler.value = nil
  }
}
