package import BlogModel

/// A question that the next key answers.
package enum Question: Hashable, Sendable {
  /// Whether the post is to be deleted.
  case deletePost(PostID)
  /// Whether the comment is to be deleted.
  case deleteComment(PostID, commentID: String)
  /// Whether what was typed into the form is to be kept.
  case keepDraft
  /// Whether to leave although something is not sent or not acknowledged.
  case quit
}
