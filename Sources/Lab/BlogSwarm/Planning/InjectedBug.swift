/// A mistake that is put into a run on purpose, to see that it is found.
package enum InjectedBug: String, CaseIterable, Codable, Sendable {
  /// A comment that was acknowledged disappears.
  case lostWrite = "lost-write"
  /// A comment is applied twice.
  case doubleApply = "double-apply"
  /// Of an update of two places only one is made.
  case halfUpdate = "half-update"
  /// Two comments of one author change places.
  case reorderedComments = "reordered-comments"
  /// Something that was added to a number is gone from it.
  case lostIncrement = "lost-increment"
  /// A count is not the number of its stars.
  case countDrift = "count-drift"
  /// There is a comment that nobody wrote.
  case phantomComment = "phantom-comment"
  /// A client shows an older state after a newer one.
  case staleRead = "stale-read"
  /// A client no longer shows a comment of its own.
  case forgottenComment = "forgotten-comment"
  /// A client no longer follows what happens.
  case divergingView = "diverging-view"
  /// Someone who has left is still shown as here.
  case stuckPresence = "stuck-presence"
  /// What was refused is done all the same.
  case deniedWrite = "denied-write"
  /// The server takes more and more memory.
  case unboundedMemory = "unbounded-memory"
}
