import Foundation

/// A clock that shows the time of day and never jumps.
///
/// When somebody corrects the system's clock, what happened a minute ago stays a minute old. How far
/// this clock is from the server's is measured with each connection.
enum SteadyClock {
  /// A clock that starts with the system's time, in milliseconds since 1970.
  static func now() -> @Sendable () -> Int64 {
    let start = milliseconds(CLOCK_REALTIME) - milliseconds(CLOCK_BOOTTIME)
    return { start + milliseconds(CLOCK_BOOTTIME) }
  }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
