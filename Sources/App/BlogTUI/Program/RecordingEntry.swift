package import BlogModel

/// One entry of a recording.
package enum RecordingEntry: Equatable, Sendable {
  /// A program started: the first one, or one that followed it.
  case start(RecordingStart)
  /// The program received an event.
  case event(Event)
}

/// The state in which a program started; together with its events it determines all screens.
package struct RecordingStart: Hashable, Sendable, Codable {
  /// The user.
  package var me: Author
  /// The name of the database.
  package var databaseName: String
  /// The number of columns and rows.
  package var size: Size
  /// Whether the terminal shows ASCII only.
  package var isASCII: Bool
  /// The time by the server's clock, in milliseconds since 1970.
  package var now: Int64
  /// What was typed earlier and not sent.
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
  /// Makes the state before the first event, both live and in a replay.
  package init(_ start: RecordingStart) {
    self.init(
      me: start.me,
      databaseName: start.databaseName,
      size: start.size,
      glyphs: start.isASCII ? .ascii : .unicode,
      now: start.now,
      unsent: start.unsent
    )
    session.commands = CommandHistory(start.history)
  }
}
