/// How much of each post a list shows.
package enum Density: String, CaseIterable, Hashable, Sendable {
  /// A line: the title, and the beginning of the text if there is room.
  case compact
  /// Two lines: the beginning of the text has its own.
  case normal
  /// Five lines: more of the text, and a blank one.
  case full

  /// What the user has chosen.
  init(_ settings: Settings) {
    self = Density(rawValue: settings.word(.density)) ?? .compact
  }

  /// The number of lines of the text that are shown below the title.
  package var textHeight: Int {
    switch self {
    case .compact: 0
    case .normal: 1
    case .full: 3
    }
  }

  /// The number of lines of a post.
  package var rowHeight: Int {
    switch self {
    case .compact: 1
    case .normal: 2
    case .full: 5
    }
  }
}
