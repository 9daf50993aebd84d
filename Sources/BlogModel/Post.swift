/// The key of a post, which also tells when it was made.
public typealias PostID = String

/// A post of the blog.
public struct Post: Hashable, Sendable, Identifiable {
  /// The key, a push id.
  public let id: PostID
  /// The identifier of the author.
  public var uid: String
  /// The author's name when the post was written.
  public var author: String
  /// The title.
  public var title: String
  /// The text, of any number of lines.
  public var body: String
  /// How many people have starred the post.
  public var starCount: Int
  /// The identifiers of those people.
  public var stars: Set<String>
  /// When the post was made, in milliseconds since 1970, or nil when its key does not tell.
  public var createdAt: Int64?

  /// Makes a post.
  public init(
    id: PostID,
    uid: String,
    author: String,
    title: String,
    body: String,
    starCount: Int = 0,
    stars: Set<String> = [],
    createdAt: Int64? = nil
  ) {
    self.id = id
    self.uid = uid
    self.author = author
    self.title = title
    self.body = body
    self.starCount = starCount
    self.stars = stars
    self.createdAt = createdAt
  }
}
