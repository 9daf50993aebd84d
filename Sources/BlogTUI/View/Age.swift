import TerminalUI

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
    let perDay = day * 1_000
    let days = milliseconds / perDay - (milliseconds % perDay < 0 ? 1 : 0)
    // Years that begin in March make leap days the last of a year; 146,097 days are 400 years.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    guard (0...9_999).contains(year) else { return "?" }
    if isShort { return digits(year, count: 4) }
    return [digits(year, count: 4), digits(month, count: 2), digits(dayOfMonth, count: 2)]
      .joined(separator: "-")
  }

  private static func digits(_ number: Int64, count: Int) -> SafeText {
    let text = String(number)
    return SafeText(untrusted: String(repeating: "0", count: max(0, count - text.count)) + text)
  }
}
