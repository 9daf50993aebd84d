internal import BlogModel
internal import BlogTUI
internal import RealtimeCore

/// A post as readers see it; a field that is missing or has the wrong type is empty.
struct PostEntry: Sendable {
  let key: ChildKey
  let author: Author
  let title: String
  let body: String
  let starCount: Int64
  /// When it was created, in milliseconds since 1970; nil if its key does not tell.
  let createdAt: Int64?
  /// How many comments it has; nil if unknown.
  var commentCount: Int?

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

  var shownBody: String { BlogBounds.shown(body, upTo: BlogBounds.body) }

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
  private let day: CalendarDay
  private let text: String

  init(_ milliseconds: Int64) {
    day = CalendarDay(number: milliseconds / 86_400_000)
    text = Clock.isoText(milliseconds)
  }

  /// For example "2026-11-24T15:46:05Z".
  var machine: String { text.dropLast(5) + "Z" }

  /// For example "24 November 2026".
  var date: String { "\(day.day) \(day.monthName) \(day.year)" }

  /// For example "24 November 2026, 15:46 UTC".
  var dateAndClock: String { "\(date), \(text.suffix(13).prefix(5)) UTC" }
}

extension ChildKey {
  fileprivate static let starCount: ChildKey = "starCount"
}
