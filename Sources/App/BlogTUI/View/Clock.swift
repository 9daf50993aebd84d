/// The time of day by the calendar of UTC.
enum Clock {
  /// Hours, minutes and seconds, such as `09:05:59`.
  static func text(_ milliseconds: Int64) -> String {
    let perDay: Int64 = 86_400_000
    let rest = ((milliseconds % perDay) + perDay) % perDay / 1_000
    return [rest / 3_600, rest / 60 % 60, rest % 60]
      .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }
}
