internal import RealtimeCore
package import RealtimeDatabase

/// The key of a post, which also encodes when it was created.
package typealias PostID = String

/// A post of the blog.
package struct Post: Hashable, Sendable, Identifiable, Codable {
  /// The key, a push id.
  package let id: PostID
  /// The identifier of the author.
  package var uid: String
  /// The author's name at the time of writing.
  package var author: String
  /// The title.
  package var title: String
  /// The text; it may have several lines.
  package var body: String
  /// How many people have starred the post.
  package var starCount: Int
  /// The identifiers of those people.
  package var stars: Set<String>
  /// When the post was created, in milliseconds since 1970; nil if its key does not tell.
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

/// A comment on a post.
package struct Comment: Hashable, Sendable, Identifiable, Codable {
  /// The key, a push id.
  package let id: String
  /// The identifier of the author.
  package var uid: String
  /// The author's name at the time of writing.
  package var author: String
  /// The text; it may have several lines.
  package var text: String
  /// The key of the comment it replies to; nil if it is about the post itself.
  ///
  /// Programs that do not know replies ignore this field and show the comment like any other.
  package var parent: String?
  /// When the comment was created, in milliseconds since 1970; nil if its key does not tell.
  package var createdAt: Int64?

  /// Makes a comment.
  package init(
    id: String,
    uid: String,
    author: String,
    text: String,
    parent: String? = nil,
    createdAt: Int64? = nil
  ) {
    self.id = id
    self.uid = uid
    self.author = author
    self.text = text
    self.parent = parent
    self.createdAt = createdAt
  }
}

extension Post {
  /// Reads a post; nil if there is none.
  ///
  /// Other clients may have written anything: a field that is missing or has the wrong type counts
  /// as empty.
  package init?(_ snapshot: DataSnapshot) {
    let node = snapshot.node
    guard node.childCount > 0 else { return nil }
    let stars = node[.stars].children?.map.compactMap { entry in
      entry.value.leafValue == .bool(true) ? entry.key.text : nil
    }
    self.init(
      id: snapshot.key,
      uid: node.text(.uid),
      author: node.text(.author),
      title: node.text(.title),
      body: node.text(.body),
      starCount: node[.starCount].leafValue?.number.flatMap { Int(exactly: $0.rounded()) } ?? 0,
      stars: Set(stars ?? []),
      createdAt: PushID.time(of: snapshot.key)
    )
  }

  /// The post as it is stored in both copies.
  var storedValue: [String: any Sendable] {
    ["uid": uid, "author": author, "title": title, "body": body, "starCount": starCount]
  }
}

extension Comment {
  /// Reads a comment; nil if there is none.
  package init?(_ snapshot: DataSnapshot) {
    let node = snapshot.node
    guard node.childCount > 0 else { return nil }
    self.init(
      id: snapshot.key,
      uid: node.text(.uid),
      author: node.text(.author),
      text: node.text(.commentText),
      parent: snapshot.text("parent"),
      createdAt: PushID.time(of: snapshot.key)
    )
  }

  /// The comment as it is stored.
  var storedValue: [String: any Sendable] {
    var value: [String: any Sendable] = ["uid": uid, "author": author, "text": text]
    value["parent"] = parent
    return value
  }
}

extension Node {
  /// The string of a child; empty if it is not a string.
  fileprivate func text(_ key: ChildKey) -> String {
    if case .string(let text)? = self[key].leafValue { text } else { "" }
  }
}

/// Reads values that other clients may have written in any form.
extension DataSnapshot {
  /// The string of a child; nil if it is not a string.
  func text(_ key: String) -> String? {
    if case .string(let text)? = node[ChildKey(key)].leafValue { text } else { nil }
  }

  /// The time of a child in milliseconds since 1970; nil if it is not a number.
  func time(_ key: String) -> Int64? {
    node[ChildKey(key)].leafValue?.number.flatMap { Int64(exactly: $0.rounded()) }
  }
}

/// The keys that a blog uses.
extension ChildKey {
  static let posts: ChildKey = "posts"
  static let userPosts: ChildKey = "user-posts"
  static let postComments: ChildKey = "post-comments"
  static let uid: ChildKey = "uid"
  static let author: ChildKey = "author"
  static let title: ChildKey = "title"
  static let body: ChildKey = "body"
  static let commentText: ChildKey = "text"
  static let parent: ChildKey = "parent"
  static let tags: ChildKey = "tags"
  static let mentions: ChildKey = "mentions"
  static let replies: ChildKey = "replies"
  static let stars: ChildKey = "stars"
  static let starCount: ChildKey = "starCount"
  static let key: ChildKey = "key"
  static let post: ChildKey = "post"
}
