internal import NIOCore

/// Measures how long writes wait until they are stored.
///
/// A write waits for the batch that is taken next; that batch's outcome ends the wait.
struct WriteTimer {
  private var waiting: [NIODeadline] = []
  /// The arrivals of the writes of each batch whose outcome is not known.
  private var taken: [[NIODeadline]] = []

  /// Notes a write that joins the next batch.
  mutating func arrived(at time: NIODeadline) {
    waiting.append(time)
  }

  /// Notes that the writes so far are being stored.
  mutating func batchTaken() {
    taken.append(waiting)
    waiting = []
  }

  /// Ends the waits of the first batches, and gives the time of each write.
  mutating func batchesEnded(_ count: Int, at time: NIODeadline) -> [TimeAmount] {
    let ended = taken.prefix(count)
    taken.removeFirst(ended.count)
    return ended.joined().map { time - $0 }
  }

  /// Ends the waits of all batches, which have failed.
  mutating func batchesFailed() {
    taken = []
  }
}

extension TimeAmount {
  /// Whole microseconds.
  var microseconds: Int { Int(nanoseconds / 1_000) }
}
