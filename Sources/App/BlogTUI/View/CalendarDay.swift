/// A day by the calendar of UTC.
struct CalendarDay: Hashable {
  private static let millisecondsPerDay: Int64 = 86_400_000

  /// The days since 1970.
  let number: Int64
  /// The year.
  let year: Int64
  /// The month, counted from 1.
  let month: Int64
  /// The day of the month, counted from 1.
  let day: Int64

  /// The day of a time in milliseconds since 1970.
  init(_ milliseconds: Int64) {
    number = Self.number(of: milliseconds)
    // Years that begin in March make leap days the last of a year; 146,097 days are 400 years.
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

  /// The days from 1970 to a time in milliseconds; cheaper than the whole day.
  static func number(of milliseconds: Int64) -> Int64 {
    let rest = milliseconds % millisecondsPerDay
    return milliseconds / millisecondsPerDay - (rest < 0 ? 1 : 0)
  }

  /// The day in words, such as `Thursday 19 November`, with the year unless it is that of the other.
  func text(besides other: CalendarDay) -> String {
    let weekday = Self.weekdays[Int(((number + 3) % 7 + 7) % 7)]
    let name = "\(weekday) \(day) \(Self.months[Int(month - 1)])"
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
