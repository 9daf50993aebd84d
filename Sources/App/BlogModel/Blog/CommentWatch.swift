internal import RealtimeDatabase

// Safety: everything is touched only on the callback queue of the database.
/// Watches the newest comments on a few posts that are not open, so that new ones are noticed.
///
/// One narrow query for each post that was asked for, and none for any other: what is watched is what
/// is in view, so the number of queries does not depend on how long a list is or how far it scrolled.
final class CommentWatch: @unchecked Sendable {
  /// How many of the newest comments of a post are known; more are only "at least so many".
  static let length = UInt(NewComments.limit)
  /// How many posts can be watched at once.
  static let limit = 100

  private struct Watched {
    let query: DatabaseQuery
    var handle: DatabaseHandle = 0
  }

  private let paths: BlogPaths
  private let tell: @Sendable (PostID, [Comment]) -> Void
  private var watched: [PostID: Watched] = [:]

  init(_ paths: BlogPaths, tell: @escaping @Sendable (PostID, [Comment]) -> Void) {
    self.paths = paths
    self.tell = tell
  }

  /// Watches these posts and no others; those that were watched before go on.
  func watch(_ posts: [PostID]) {
    let wanted = Set(posts.prefix(Self.limit))
    for (post, entry) in watched where !wanted.contains(post) {
      entry.query.removeObserver(withHandle: entry.handle)
      watched[post] = nil
    }
    for post in wanted where watched[post] == nil {
      let query = paths.comments(on: post).queryOrderedByKey().queryLimited(toLast: Self.length)
      watched[post] = Watched(query: query)
      watched[post]?.handle = query.observe(.value) { [weak self] snapshot in
        self?.take(snapshot, on: post)
      }
    }
  }

  private func take(_ snapshot: DataSnapshot, on post: PostID) {
    guard watched[post] != nil else { return }
    tell(post, snapshot.childSnapshots.compactMap(Comment.init))
  }
}

/// How many comments of others came since a post was read.
package struct NewComments: Hashable, Sendable {
  /// The greatest number that is counted.
  package static let limit = 10

  /// The number.
  package let count: Int
  /// Whether there may be more than that.
  package var isAtLeast: Bool { count >= Self.limit }

  /// Makes a number of comments.
  package init(count: Int) { self.count = min(count, Self.limit) }
}
