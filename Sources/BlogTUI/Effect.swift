package import BlogModel

/// Something that the program has to do because of an event.
package enum Effect: Hashable, Sendable {
  /// Follow a list.
  case follow(FeedKind)
  /// No longer follow a list.
  case stopFollowing(FeedKind)
  /// Follow a post and its comments.
  case open(PostID)
  /// No longer follow a post.
  case close(PostID)
  /// Write a post, and tell its key with ``Event/posted(_:)``.
  case post(title: String, body: String)
  /// Write a comment, and tell its key with ``Event/commented(_:commentID:)``.
  case comment(PostID, text: String)
  /// Star (true) or unstar (false) a post.
  case star(PostID, Bool)
  /// Delete a post of mine.
  case deletePost(PostID)
  /// Delete a comment of mine.
  case deleteComment(PostID, commentID: String)
  /// Draw every cell again.
  case redraw
  /// Stop the process, as the suspend key does.
  case suspend
  /// Ring the bell of the terminal.
  case bell
  /// Leave.
  case quit
}
