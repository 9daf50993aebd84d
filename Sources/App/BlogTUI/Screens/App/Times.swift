private import Glibc

/// Formats how long ago something happened, in as few cells as possible.
enum Age {
  private static let minute: Int64 = 60
  private static let hour: Int64 = 3_600
  private static let day: Int64 = 86_400

  /// `now`, `3m`, `2h`, `5d`, and the date after more than a year; empty if the time is unknown.
  ///
  /// Times are in milliseconds since 1970. A short text has only the year of a date: at most 4
  /// cells, otherwise at most 10 for times of this era.
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

  /// The day and the time of day; empty if the time is unknown.
  ///
  /// The time is in milliseconds since 1970. A short text has only the month and the day: at most 5
  /// cells, otherwise at most 16 for times of this era.
  static func exactText(_ created: Int64?, isShort: Bool = false) -> SafeText {
    guard let created else { return .empty }
    let day = date(created, isShort: false)
    guard day != "?" else { return day }
    if isShort { return SafeText(untrusted: String(day.string.suffix(5))) }
    return day + " " + SafeText(untrusted: String(Clock.text(created).prefix(5)))
  }

  /// The day, such as `2024-05-03`.
  static func day(_ created: Int64) -> SafeText { date(created, isShort: false) }

  /// The day, or only its year.
  private static func date(_ milliseconds: Int64, isShort: Bool) -> SafeText {
    let date = CalendarDay(milliseconds)
    guard (0...9_999).contains(date.year) else { return "?" }
    return SafeText(untrusted: isShort ? date.year.digits(4) : date.text)
  }
}

extension Int64 {
  /// The digits of the number, with zeros in front if there are fewer.
  package func digits(_ count: Int) -> String {
    let text = String(self)
    return String(repeating: "0", count: Swift.max(0, count - text.count)) + text
  }
}

/// A day of the calendar, in the user's time zone.
package struct CalendarDay: Hashable {
  fileprivate static let millisecondsPerDay: Int64 = 86_400_000
  let number: Int64
  package let year: Int64
  /// The month, counted from 1.
  let month: Int64
  /// The day of the month, counted from 1.
  package let day: Int64

  /// The day that contains a time, given in milliseconds since 1970.
  init(_ milliseconds: Int64) {
    self.init(number: Self.number(of: milliseconds))
  }

  /// The day that many days after the first of January 1970.
  package init(number: Int64) {
    self.number = number
    // In years that begin in March, leap days come last; 146,097 days are 400 years.
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The number of days from 1970 to a time in milliseconds; cheaper than computing the whole date.
  static func number(of milliseconds: Int64) -> Int64 { days(LocalTime.shifted(milliseconds)) }

  /// The number of whole days in a time in milliseconds.
  fileprivate static func days(_ milliseconds: Int64) -> Int64 {
    let rest = milliseconds % millisecondsPerDay
    return milliseconds / millisecondsPerDay - (rest < 0 ? 1 : 0)
  }

  /// The day as ISO 8601 has it, such as `2024-05-03`.
  package var text: String { "\(year.digits(4))-\(month.digits(2))-\(day.digits(2))" }

  package var monthName: String { Self.months[Int(month - 1)] }

  /// The day in words, such as `Thursday 19 November`, with the year unless the other day is in the
  /// same year.
  func text(besides other: CalendarDay) -> String {
    let weekday = Self.weekdays[Int(((number + 3) % 7 + 7) % 7)]
    let name = "\(weekday) \(day) \(monthName)"
    return year == other.year ? name : "\(name) \(year)"
  }

  /// The first of January 1970 was a Thursday.
  private static let weekdays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]
}

/// The time of day in the user's time zone.
package enum Clock {
  /// Hours, minutes and seconds, such as `09:05:59`.
  static func text(_ milliseconds: Int64) -> String { time(LocalTime.shifted(milliseconds)) }

  /// Hours, minutes, seconds and milliseconds, such as `09:05:59.042`.
  static func preciseText(_ milliseconds: Int64) -> String {
    "\(text(milliseconds)).\(fraction(milliseconds))"
  }

  /// Date and time in UTC as ISO 8601 has them, such as `2023-11-14T22:13:20.042Z`.
  package static func isoText(_ milliseconds: Int64) -> String {
    let day = CalendarDay(number: CalendarDay.days(milliseconds)).text
    return "\(day)T\(time(milliseconds)).\(fraction(milliseconds))Z"
  }

  private static func time(_ milliseconds: Int64) -> String {
    let perDay = CalendarDay.millisecondsPerDay
    let rest = ((milliseconds % perDay) + perDay) % perDay / 1_000
    return [rest / 3_600, rest / 60 % 60, rest % 60].map { $0.digits(2) }.joined(separator: ":")
  }

  private static func fraction(_ milliseconds: Int64) -> String {
    (((milliseconds % 1_000) + 1_000) % 1_000).digits(3)
  }
}

/// The user's time zone, as `TZ` or the system says.
private enum LocalTime {
  /// The time at which clocks in UTC show what the user's clock shows at this time.
  static func shifted(_ milliseconds: Int64) -> Int64 {
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return milliseconds }
    let shifted = milliseconds.addingReportingOverflow(Int64(parts.tm_gmtoff) * 1_000)
    return shifted.overflow ? milliseconds : shifted.partialValue
  }
}

extension Int {
  /// The number with what it counts, such as `1 post` and `2 posts`.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

/// Numbers in at most four cells.
enum ShortNumber {
  /// The number, or the number of thousands, millions or billions; negative numbers become zero.
  static func text(_ number: Int) -> SafeText {
    let number = max(0, number)
    let units: [(Int, String)] = [(1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")]
    guard let unit = units.first(where: { number >= $0.0 }) else { return SafeText(number) }
    let divisor = unit.1 == "k" ? 1_000 : unit.0
    return SafeText(untrusted: "\(min(999, number / divisor))\(unit.1)")
  }
}
