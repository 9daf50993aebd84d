/// How long ago something was, in as few cells as possible.
enum Age {
  private static let minute: Int64 = 60
  private static let hour: Int64 = 3_600
  private static let day: Int64 = 86_400

  /// `now`, `3m`, `2h`, `5d`, and the date once it is more than a year; empty if nobody knows.
  ///
  /// - Parameters:
  ///   - created: When it was, in milliseconds since 1970.
  ///   - now: The present time, in milliseconds since 1970.
  ///   - isShort: Whether only the year is shown of a date.
  /// - Returns: At most 4 cells if short, else at most 10 for times of this era.
  static func text(_ created: Int64?, now: Int64, isShort: Bool = false) -> SafeText {
    guard let created else { return .empty }
    let difference = now.subtractingReportingOverflow(created)
    let seconds = difference.overflow ? Int64.max : difference.partialValue / 1_000
    if now < created || seconds < minute { return "now" }
    if seconds < hour { return SafeText(untrusted: "\(seconds / minute)m") }
    if seconds < day { return SafeText(untrusted: "\(seconds / hour)h") }
    if seconds < 365 * day { return SafeText(untrusted: "\(seconds / day)d") }
    return date(created, isShort: isShort)
  }

  /// The day and the time of day by the calendar of UTC; empty if nobody knows.
  ///
  /// - Parameters:
  ///   - created: When it was, in milliseconds since 1970.
  ///   - isShort: Whether only the month and the day are shown.
  /// - Returns: At most 5 cells if short, else at most 16 for times of this era.
  static func exactText(_ created: Int64?, isShort: Bool = false) -> SafeText {
    guard let created else { return .empty }
    let day = date(created, isShort: false)
    guard day != "?" else { return day }
    if isShort { return SafeText(untrusted: String(day.string.suffix(5))) }
    return day + " " + SafeText(untrusted: String(Clock.text(created).prefix(5)))
  }

  /// The day by the calendar of UTC.
  private static func date(_ milliseconds: Int64, isShort: Bool) -> SafeText {
    let date = CalendarDay(milliseconds)
    guard (0...9_999).contains(date.year) else { return "?" }
    if isShort { return digits(date.year, count: 4) }
    return [digits(date.year, count: 4), digits(date.month, count: 2), digits(date.day, count: 2)]
      .joined(separator: "-")
  }

  private static func digits(_ number: Int64, count: Int) -> SafeText {
    let text = String(number)
    return SafeText(untrusted: String(repeating: "0", count: max(0, count - text.count)) + text)
  }
}
