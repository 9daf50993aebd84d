import BlogModel

/// A line of a recording as its file has it; what is not told is left out.
struct RecordingLine: Codable {
  /// The newest form of the lines that is understood here, and the one that is written.
  static let version = 1
  /// What the first line calls the file.
  static let format = "hearth recording"

  /// The kind of the file, on its first line.
  var format: String?
  /// The form of the lines, on the first one.
  var version: Int?
  /// What a program began with.
  var start: RecordingStart?
  /// The time by the server's clock.
  var time: Int64?
  /// What happened, unless a list has changed.
  var event: Event?
  /// The list that has changed.
  var feed: FeedKind?
  /// What that list is now.
  var posts: [PostRun]?
}
