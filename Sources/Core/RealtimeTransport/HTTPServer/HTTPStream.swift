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

  /// Whether so much waits for the client that less should be sent.
  package var isCongested: Bool { handler.value?.isCongested ?? false }

  /// Calls a closure once, as soon as the client has caught up; never when it is gone before.
  package func whenRelieved(_ body: @escaping () -> Void) {
    handler.value?.whenRelieved(body)
  }

  /// Ends the body, then the connection.
  package func end() {
    handler.value?.endStream()
  }

  func detach() {
    handler.value = nil
  }
}
