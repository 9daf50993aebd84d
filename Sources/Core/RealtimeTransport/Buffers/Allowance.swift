internal import NIOCore

/// How much of something that costs its sender nothing may come at once, and how fast after that.
struct Allowance {
  private let burst: Int
  private let interval: TimeAmount
  private var count = 0
  private var last = NIODeadline.uptimeNanoseconds(0)

  /// Makes a full allowance.
  ///
  /// - Parameters:
  ///   - burst: How much may come at once.
  ///   - interval: How long it takes until one more may come.
  init(burst: Int, interval: TimeAmount) {
    self.burst = burst
    self.interval = interval
  }

  /// Uses one, and returns how long to wait before the next if there have been too many.
  mutating func rest(at now: NIODeadline) -> TimeAmount? {
    let regained = (now - last).nanoseconds / interval.nanoseconds
    count -= Int(min(Int64(count), regained))
    last = count == 0 ? now : last + .nanoseconds(regained * interval.nanoseconds)
    count += 1
    return count > burst ? interval : nil
  }
}
