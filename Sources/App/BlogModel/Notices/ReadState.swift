private import RealtimeCore

/// What a person has read, on whichever terminal.
package struct ReadState: Hashable, Sendable, Codable {
  /// What is known of one post.
  package enum Mark: Hashable, Sendable, Codable {
    /// It was read, with the comments up to the one of that key; empty without comments.
    case read(lastComment: String)
    /// It was marked as unread.
    case unread

    /// It was read with all comments up to a time, whichever they are.
    ///
    /// The keys of comments begin with their time, so that those characters alone stand between them.
    package static func read(until time: Int64) -> Mark {
      .read(lastComment: PushID.timePart(time))
    }
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

  /// How many comments of others are to be read on a post whose text was read.
  ///
  /// - Parameters:
  ///   - comments: The newest comments, oldest first.
  ///   - post: The post that they are about.
  ///   - uid: Who reads.
  /// - Returns: Their number, as far as those comments tell.
  package func newComments(
    among comments: [Comment],
    on post: PostID,
    for uid: String
  ) -> NewComments {
    let count: Int
    switch marks[post] {
    case .unread: count = 0
    case .read(let last):
      count = comments.count {
        $0.uid != uid && last.utf16.lexicographicallyPrecedes($0.id.utf16)
      }
    case nil: count = comments.count { $0.uid != uid && ($0.createdAt ?? 0) > before }
    }
    return NewComments(count: count)
  }

  /// The key of the last comment that was read; nil when none counts as read by its key.
  package func lastComment(on post: PostID) -> String? {
    guard case .read(let comment)? = marks[post], !comment.isEmpty else { return nil }
    return comment
  }
}
