/// The key of a post, which also tells when it was made.
package typealias PostID = String

/// A post of the blog.
package struct Post: Hashable, Sendable, Identifiable, Codable {
  /// The key, a push id.
  package let id: PostID
  /// The identifier of the author.
  package var uid: String
  /// The author's name when the post was written.
  package var author: String
  /// The title.
  package var title: String
  /// The text, of any number of lines.
  package var body: String
  /// How many people have starred the post.
  package var starCount: Int
  /// The identifiers of those people.
  package var stars: Set<String>
  /// When the post was made, in milliseconds since 1970, or nil when its key does not tell.
  package var createdAt: Int64?

  /// Makes a post.
  package init(
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
