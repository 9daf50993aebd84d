package import BlogModel

/// What a key can mean, apart from text.
package enum Action: Hashable, Sendable {
  /// One row up.
  case up
  /// One row down.
  case down
  /// One screenful up.
  case pageUp
  /// One screenful down.
  case pageDown
  /// Half a screenful up.
  case halfPageUp
  /// Half a screenful down.
  case halfPageDown
  /// To the first row.
  case top
  /// To the last row.
  case bottom
  /// Open the selected post.
  case open
  /// Leave what is in front; at the end nothing happens.
  case back
  /// Leave what is in front; at the end the program ends.
  case quit
  /// Show a list.
  case tab(FeedKind)
  /// Show the next list.
  case nextTab
  /// Show the previous list.
  case previousTab
  /// Write a post.
  case compose
  /// Star or unstar the post.
  case star
  /// Delete what is selected.
  case delete
  /// Look for posts.
  case search
  /// To the next match.
  case nextMatch
  /// To the previous match.
  case previousMatch
  /// Write a comment.
  case writeComment
  /// Send what was typed.
  case send
  /// To the other field.
  case switchField
  /// Agree to the question.
  case confirm
  /// Say no to the question.
  case decline
  /// Read the list or the post from the database again.
  case reload
  /// Show all keys.
  case help
  /// Draw every cell again.
  case redraw
  /// Stop the program for a while.
  case suspend
  /// Something that only readers of posts do.
  case reading(ReadingAction)
  /// Something that concerns the program as a whole.
  case program(ProgramAction)
}
