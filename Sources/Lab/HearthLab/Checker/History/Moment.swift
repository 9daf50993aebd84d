private import Dispatch
private import Glibc

/// A point in time on the monotonic clock that all processes of a machine share.
struct Moment: Hashable, Comparable, Sendable {
  /// Microseconds since the machine was started.
  let microseconds: Int64

  static let distantPast = Moment(microseconds: .min / 4)
  static let distantFuture = Moment(microseconds: .max / 4)

  /// The current time, by `CLOCK_MONOTONIC`.
  static var now: Moment {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Moment(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
  }

  func advanced(by duration: Duration) -> Moment {
    Moment(microseconds: microseconds + duration.microseconds)
  }

  func since(_ earlier: Moment) -> Duration {
    .microseconds(microseconds - earlier.microseconds)
  }

  static func < (left: Moment, right: Moment) -> Bool {
    left.microseconds < right.microseconds
  }
}

extension Moment: CustomStringConvertible {
  var description: String { "at \(microseconds) µs" }
}

extension Duration {
  var microseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }
}

/// Pauses that are part of a run.
package enum Pause {
  /// Waits until a moment; returns immediately when it has passed.
  static func until(_ moment: Moment) async {
    await lasting(moment.since(.now))
  }

  /// Waits until a moment, or until a condition that is asked ten times a second is met.
  static func until(_ moment: Moment, orIf isOver: @Sendable () -> Bool) async {
    while !isOver(), moment > .now {
      await lasting(min(moment.since(.now), .milliseconds(100)))
    }
  }

  package static func lasting(_ duration: Duration) async {
    guard duration > .zero else { return }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + duration / .seconds(1)) {
        continuation.resume()
      }
    }
  }
}

/// The time at which the database was read, as far as that is known.
struct Period: Sendable {
  /// What was acknowledged by this moment is in the snapshot; nil for everything.
  let start: Moment?
  /// What began after this moment is not in the snapshot; nil for nothing.
  let end: Moment?

  /// After all operations.
  static let end = Period(start: nil, end: nil)

  /// Whether an operation must be in the snapshot.
  func hasSettled(_ operation: ClientOperation) -> Bool {
    guard let acknowledged = operation.acknowledged else { return false }
    return start.map { acknowledged <= $0 } ?? true
  }

  /// Whether an operation may be in the snapshot.
  func mayHaveBegun(_ operation: ClientOperation) -> Bool {
    if operation.isRefused { return false }
    return end.map { operation.invoked <= $0 } ?? true
  }
}
