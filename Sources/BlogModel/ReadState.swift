/// What a person has read, on whichever terminal.
package struct ReadState: Hashable, Sendable {
  /// What is known of one post.
  package enum Mark: Hashable, Sendable {
    /// It was read, with the comments up to the one of that key; empty without comments.
    case read(lastComment: String)
    /// It was marked as unread.
    case unread
  }

  /// Posts and comments that were made before count as read, in milliseconds since 1970.
  package var before: Int64
  /// What differs from that.
  package var marks: [PostID: Mark]

  /// Makes a state.
  package init(before: Int64, marks: [PostID: Mark] = [:]) {
    self.before = before
    self.marks = marks
  }

  /// Whether a post is still to be read by somebody who is not its author.
  package func isUnread(_ post: Post) -> Bool {
    switch marks[post.id] {
    case .read: false
    case .unread: true
    case nil: (post.createdAt ?? 0) > before
    }
  }

  /// The key of the last comment that was read; nil when none counts as read by its key.
  package func lastComment(on post: PostID) -> String? {
    guard case .read(let comment)? = marks[post], !comment.isEmpty else { return nil }
    return comment
  }
}
