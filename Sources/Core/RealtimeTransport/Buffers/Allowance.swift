internal import NIOCore

/// How much of something that costs its sender nothing may come at once, and how fast after that.
struct Allowance {
  /// The most that waits in front of one more.
  private static let mostWaiting = 1_024

  /// How much may come at once.
  private let burst: Int
  /// How long it takes until one more may come.
  private let interval: TimeAmount
  private var count = 0
  private var last = NIODeadline.uptimeNanoseconds(0)

  /// Makes a full allowance.
  init(burst: Int, interval: TimeAmount) {
    self.burst = burst
    self.interval = interval
  }

  /// Uses one, and returns how long to wait before the next if there have been too many.
  ///
  /// Several that share an allowance wait one after the other.
  mutating func rest(at now: NIODeadline) -> TimeAmount? {
    settle(at: now)
    count = min(count + 1, burst + Self.mostWaiting)
    return count > burst ? interval * (count - burst) : nil
  }

  /// Whether all of it may be used at a time.
  mutating func isFull(at now: NIODeadline) -> Bool {
    settle(at: now)
    return count == 0
  }

  private mutating func settle(at now: NIODeadline) {
    guard now > last else { return }
    let regained = (now - last).nanoseconds / interval.nanoseconds
    count -= Int(min(Int64(count), regained))
    last = count == 0 ? now : last + .nanoseconds(regained * interval.nanoseconds)
  }
}
