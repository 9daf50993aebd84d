package import BlogModel

/// One thing that a recording holds.
package enum RecordingEntry: Equatable, Sendable {
  /// A program began, the first one or another after it.
  case start(RecordingStart)
  /// The program took notice of an event.
  case event(Event)
}

/// The state in which a program started; together with its events it determines all screens.
package struct RecordingStart: Hashable, Sendable, Codable {
  /// Who the user is.
  package var me: Author
  /// Which database it is.
  package var databaseName: String
  /// The number of columns and rows.
  package var size: Size
  /// Whether the terminal shows ASCII only.
  package var isASCII: Bool
  /// The time by the server's clock, in milliseconds since 1970.
  package var now: Int64
  /// What was typed and not sent earlier.
  package var unsent: Unsent
  /// Commands that were typed earlier.
  package var history: [String]

  /// Makes a start.
  package init(
    me: Author,
    databaseName: String,
    size: Size,
    isASCII: Bool = false,
    now: Int64,
    unsent: Unsent = Unsent(),
    history: [String] = []
  ) {
    self.me = me
    self.databaseName = databaseName
    self.size = size
    self.isASCII = isASCII
    self.now = now
    self.unsent = unsent
    self.history = history
  }
}

extension Model {
  /// Makes the state before the first event, live and in a replay.
  package init(_ start: RecordingStart) {
    self.init(
      me: start.me,
      databaseName: start.databaseName,
      size: start.size,
      glyphs: start.isASCII ? .ascii : .unicode,
      now: start.now,
      unsent: start.unsent
    )
    session.commandHistory = start.history
  }
}
