internal import NIOCore

/// Flushes, at the end of a tick of an event loop, all queues that have been given something in it.
///
/// What goes to a thousand listeners costs one task of the event loop that way, not a thousand.
final class OutputTick {
  private let eventLoop: any EventLoop
  private var queues: [OutputQueue] = []

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// Flushes a queue at the end of the tick; it asks once until then.
  func flush(_ queue: OutputQueue) {
    queues.append(queue)
    guard queues.count == 1 else { return }
    eventLoop.assumeIsolated().execute { self.flushAll() }
  }

  private func flushAll() {
    let due = queues
    queues = []
    for queue in due { queue.flush() }
  }
}
