package import BlogModel

/// Something of mine that disappears soon, unless I take that back.
package struct Deletion: Hashable, Sendable {
  /// What disappears.
  package enum Subject: Hashable, Sendable {
    /// A post with its comments.
    case post(PostID)
    /// A comment.
    case comment(PostID, commentID: String)
  }

  /// How long it can be taken back, in milliseconds.
  package static let delay: Int64 = 5_000

  /// What disappears.
  package let subject: Subject
  /// When, in milliseconds since 1970.
  package let deadline: Int64
  /// Whether the database was told; what disappears stays hidden until it has answered.
  package internal(set) var isSent = false

  /// The key of what disappears.
  var id: String {
    switch subject {
    case .post(let id): id
    case .comment(_, let id): id
    }
  }

  /// What has to be done when the time is over.
  var effect: Effect {
    switch subject {
    case .post(let id): .deletePost(id)
    case .comment(let post, let comment): .deleteComment(post, commentID: comment)
    }
  }
}
