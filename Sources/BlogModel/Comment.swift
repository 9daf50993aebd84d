/// A comment on a post.
public struct Comment: Hashable, Sendable, Identifiable {
  /// The key, a push id.
  public let id: String
  /// The identifier of the author.
  public var uid: String
  /// The author's name when the comment was written.
  public var author: String
  /// The text.
  public var text: String
  /// When the comment was made, in milliseconds since 1970, or nil when its key does not tell.
  public var createdAt: Int64?

  /// Makes a comment.
  public init(id: String, uid: String, author: String, text: String, createdAt: Int64? = nil) {
    self.id = id
    self.uid = uid
    self.author = author
    self.text = text
    self.createdAt = createdAt
  }
}
