internal import NIOCore

/// Flushes, at the end of a tick of an event loop, all queues that have been given something in it.
///
/// What goes to a thousand listeners costs one task of the event loop that way, not a thousand, and
/// several messages to the same listeners are put together once for all of them.
final class OutputTick {
  /// What several connections have in common.
  private struct Shared {
    let first: ByteBuffer
    let both: ByteBuffer
  }

  private let eventLoop: any EventLoop
  private var queues: [OutputQueue] = []
  /// What was put behind something last, and what has come of that if it was so more than once.
  private var last: ByteBuffer?
  private var shared: Shared?

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// Flushes a queue at the end of the tick; it asks once until then.
  func flush(_ queue: OutputQueue) {
    queues.append(queue)
    guard queues.count == 1 else { return }
    eventLoop.assumeIsolated().execute { self.flushAll() }
  }

  /// Puts frames behind others, or finds that another connection has the same of both already.
  ///
  /// - Complexity: O(1) for what is shared, else O(bytes)
  func append(_ frames: ByteBuffer, to first: inout ByteBuffer) {
    guard last?.isSame(as: frames) == true else {
      last = frames
      shared = nil
      first.writeImmutableBuffer(frames)
      return
    }
    if let shared, shared.first.isSame(as: first) {
      first = shared.both
      return
    }
    var both = first
    both.writeImmutableBuffer(frames)
    shared = Shared(first: first, both: both)
    first = both
  }

  private func flushAll() {
    let due = queues
    queues = []
    last = nil
    shared = nil
    for queue in due { queue.flush() }
  }
}

extension ByteBuffer {
  /// Whether another buffer has the same bytes in the same place, so that none need be compared.
  ///
  /// Both are alive, so that a place belongs to one of them only if it belongs to the other.
  fileprivate func isSame(as other: ByteBuffer) -> Bool {
    // Safety: the addresses are compared and never followed.
    withUnsafeReadableBytes { bytes in
      other.withUnsafeReadableBytes {
        bytes.baseAddress == $0.baseAddress && bytes.count == $0.count
      }
    }
  }
}
