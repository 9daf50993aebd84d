/// Something to be done about a star that must not be forgotten when the program ends.
package struct StarIntent: Hashable, Sendable, Codable {
  /// The post.
  package let post: PostID
  /// Whether I star it.
  package let isStarred: Bool

  /// Makes an intent.
  package init(post: PostID, isStarred: Bool) {
    self.post = post
    self.isStarred = isStarred
  }
}

/// Where intents are kept until both copies of a post agree: the port to a file.
package protocol StarJournal: Sendable {
  /// Notes an intent before it is carried out, and returns what to end it by.
  func begin(_ intent: StarIntent) -> Int
  /// Strikes an intent that has been carried out or refused.
  func end(_ entry: Int)
  /// Strikes what an earlier program left for a post, which a single write now takes the place of.
  func settle(_ post: PostID)
}

/// A journal that keeps nothing, for programs that wait until their one intent is carried out.
package struct NoStarJournal: StarJournal {
  /// Makes a journal.
  package init() {}

  /// Notes nothing.
  package func begin(_ intent: StarIntent) -> Int { 0 }

  /// Strikes nothing.
  package func end(_ entry: Int) {}

  /// Strikes nothing.
  package func settle(_ post: PostID) {}
}
