package import BlogModel

/// A question that has to be answered before anything else can be done.
package enum Question: Hashable, Sendable {
  /// Whether the post is to be deleted.
  case deletePost(PostID)
  /// Whether the comment is to be deleted.
  case deleteComment(PostID, commentID: String)
  /// Whether what was typed into the form is to be kept.
  case keepDraft
  /// Whether to leave although something is not sent or not acknowledged.
  case quit

  /// What can be answered: first what changes nothing, then what "yes" means, then "no".
  var answers: [Answer] {
    switch self {
    case .deletePost, .deleteComment: [.cancel, .delete]
    case .keepDraft: [.cancel, .keep, .discard]
    case .quit: [.cancel, .quit]
    }
  }
}
