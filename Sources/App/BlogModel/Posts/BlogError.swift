/// A reason why a blog operation failed.
package enum BlogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no such post.
  case notFound(PostID)
  /// There is no such comment.
  case commentNotFound(String)
  /// The post or comment belongs to someone else.
  case notMine(String, owner: String)
  /// A title or a body is missing.
  case emptyText(String)
  /// Others changed the same data too often in the meantime.
  case conflict(PostID)

  /// What is wrong and what to do about it.
  package var description: String {
    switch self {
    case .notFound(let id): "there is no post \(id); \"hearth list recent\" shows which there are"
    case .commentNotFound(let id): "there is no comment \(id) on that post"
    case .notMine(let what, let owner): "\(what) was written by \(owner); only they can delete it"
    case .emptyText(let sentence): sentence
    case .conflict(let id):
      "post \(id) was changed by others too often in the meantime; try again in a moment"
    }
  }

  /// The message of a composer whose title or body is missing.
  package static let emptyPost = "Neither title nor body can be empty."
  /// The message of a comment field that is empty.
  package static let emptyComment = "A comment cannot be empty."
}

/// Called when an operation is complete, with the error if it failed.
package typealias BlogCompletion = @Sendable ((any Error)?) -> Void
