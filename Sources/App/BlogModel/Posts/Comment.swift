/// A comment on a post.
package struct Comment: Hashable, Sendable, Identifiable, Codable {
  /// The key, a push id.
  package let id: String
  /// The identifier of the author.
  package var uid: String
  /// The author's name when the comment was written.
  package var author: String
  /// The text.
  package var text: String
  /// When the comment was made, in milliseconds since 1970, or nil when its key does not tell.
  package var createdAt: Int64?

  /// Makes a comment.
  package init(id: String, uid: String, author: String, text: String, createdAt: Int64? = nil) {
    self.id = id
    self.uid = uid
    self.author = author
    self.text = text
    self.createdAt = createdAt
  }
}
