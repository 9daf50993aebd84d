internal import BlogModel
internal import RealtimeCore

/// A post as readers see it; a field that is missing or has the wrong type is empty.
struct PostEntry: Sendable {
  /// The longest text that is shown, in characters.
  static let longestBody = 70_000

  let key: ChildKey
  let author: Author
  let title: String
  let body: String
  let starCount: Int64
  /// When it was created, in milliseconds since 1970; nil if its key does not tell.
  let createdAt: Int64?
  /// How many comments it has; nil if unknown.
  var commentCount: Int?

  /// Reads a post; nil if there is none.
  init?(_ key: ChildKey, from node: Node) {
    guard node.childCount > 0 else { return nil }
    self.key = key
    author = Author(uid: node.text("uid"), name: node.text("author"))
    title = node.text("title")
    body = node.text("body")
    let stars = node[.starCount].leafValue?.number ?? 0
    starCount = Int64(exactly: stars.rounded()) ?? 0
    createdAt = PushID.time(of: key.text)
  }

  /// The title, or a substitute if there is none.
  var shownTitle: String {
    let line = PlainText.line(title, limit: 300)
    return line.isEmpty ? "Without a title" : line
  }
}

extension Node {
  /// The string of a child; empty if it is not a string.
  fileprivate func text(_ key: ChildKey) -> String {
    if case .string(let text)? = self[key].leafValue { text } else { "" }
  }
}

/// A time as pages show it: in UTC, because the reader's time zone is unknown.
struct PageTime {
  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  private let year: Int64
  private let month: Int
  private let day: Int64
  private let second: Int64

  /// Makes the time from milliseconds since 1970.
  init(_ milliseconds: Int64) {
    let seconds = milliseconds / 1_000
    second = seconds % 86_400
    // Computes the civil date from the day number, in eras of 400 years whose years begin in March.
    let shifted = seconds / 86_400 + 719_468
    let era = shifted / 146_097
    let ofEra = shifted % 146_097
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let fromMarch = (5 * ofYear + 2) / 153
    day = ofYear - (153 * fromMarch + 2) / 5 + 1
    month = Int(fromMarch < 10 ? fromMarch + 3 : fromMarch - 9)
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// For example "2026-11-24T15:46:05Z".
  var machine: String {
    "\(Self.digits(year, count: 4))-\(Self.digits(Int64(month), count: 2))"
      + "-\(Self.digits(day, count: 2))T\(clock):\(Self.digits(second % 60, count: 2))Z"
  }

  /// For example "24 November 2026".
  var date: String { "\(day) \(Self.months[month - 1]) \(year)" }

  /// For example "24 November 2026, 15:46 UTC".
  var dateAndClock: String { "\(date), \(clock) UTC" }

  private var clock: String {
    "\(Self.digits(second / 3_600, count: 2)):\(Self.digits(second / 60 % 60, count: 2))"
  }

  private static func digits(_ number: Int64, count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(count - text.count, 0)) + text
  }
}

extension ChildKey {
  fileprivate static let starCount: ChildKey = "starCount"
}
