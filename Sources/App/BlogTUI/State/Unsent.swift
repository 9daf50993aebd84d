package import BlogModel

/// Everything that was typed and not sent.
package struct Unsent: Hashable, Sendable, Codable {
  /// Posts; the last one is offered first.
  package var posts: [Draft]
  /// Comments, by the post that they are about; the last one is offered first.
  package var comments: [PostID: [String]]

  /// Makes a collection of texts.
  package init(posts: [Draft] = [], comments: [PostID: [String]] = [:]) {
    self.posts = posts
    self.comments = comments
  }

  /// Whether there is nothing.
  package var isEmpty: Bool { posts.isEmpty && comments.isEmpty }

  /// Adds what another run has left.
  package mutating func append(_ other: Unsent) {
    posts += other.posts
    comments.merge(other.comments) { $0 + $1 }
  }
}
