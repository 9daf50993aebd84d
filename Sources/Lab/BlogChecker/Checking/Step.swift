import RealtimeCore

/// One commit with the data before and after it, or what was missed between two readings.
struct Step: Sendable {
  /// The number of the commit.
  let revision: Int64
  /// When the server made it, in milliseconds since 1970, or nil when that is not known.
  let timestamp: Int64?
  /// When the witness had it; it was made then or before.
  let seen: Moment
  /// All data before it.
  let before: Node
  /// All data after it.
  let after: Node
  /// What changed; all that there is when commits were missed.
  let changes: [Change]
  /// Whether these are several commits of which only the result is known.
  let isJump: Bool
  /// What may have changed of the blog.
  let touched: TouchedPlaces

  init(
    revision: Int64,
    timestamp: Int64?,
    seen: Moment,
    before: Node,
    after: Node,
    changes: [Change],
    isJump: Bool
  ) {
    self.revision = revision
    self.timestamp = timestamp
    self.seen = seen
    self.before = before
    self.after = after
    self.changes = changes
    self.isJump = isJump
    touched = TouchedPlaces(changes.map(\.path), before: before, after: after)
  }

  /// The posts and comments that were not there before.
  var appearances: [Path] {
    let posts = touched.posts.map { Path([.posts, $0]) }
    let comments = touched.comments.map { Path([.postComments, $0.post, $0.comment]) }
    return (posts + comments).filter { before[$0].isEmpty && !after[$0].isEmpty }
  }

  /// The step in the words of a report.
  var place: String { isJump ? "up to revision \(revision)" : "revision \(revision)" }
}
