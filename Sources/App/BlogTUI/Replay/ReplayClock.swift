/// A time since the beginning of a recording in words.
package enum ReplayClock {
  /// Minutes, seconds and milliseconds, such as `2:05.250`.
  package static func text(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000
    return "\(seconds / 60):\(padded(seconds % 60, to: 2)).\(padded(milliseconds % 1_000, to: 3))"
  }

  private static func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
