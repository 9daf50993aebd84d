internal import NIOCore

/// Measures how long writes wait until they are stored.
///
/// A write waits for the batch that is taken next; that batch's outcome ends the wait.
struct WriteTimer {
  private var waiting: [NIODeadline] = []
  private var taken: [NIODeadline] = []
  private var takenAt: NIODeadline?

  /// Notes a write that joins the next batch.
  mutating func arrived(at time: NIODeadline) {
    waiting.append(time)
  }

  /// Notes that the writes so far are being stored.
  mutating func batchTaken(at time: NIODeadline) {
    taken = waiting
    waiting = []
    takenAt = time
  }

  /// Ends the waits of the batch, and gives the times of the store and of each write.
  mutating func batchEnded(at time: NIODeadline) -> (store: TimeAmount, writes: [TimeAmount]) {
    defer {
      taken = []
      takenAt = nil
    }
    return (time - (takenAt ?? time), taken.map { time - $0 })
  }
}

extension TimeAmount {
  /// Whole microseconds.
  var microseconds: Int { Int(nanoseconds / 1_000) }
}
