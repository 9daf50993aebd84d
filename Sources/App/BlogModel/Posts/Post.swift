package import RealtimeCore
package import RealtimeDatabase

/// The key of a post, which also encodes when it was created.
package typealias PostID = String

package struct Post: Hashable, Sendable, Identifiable, Codable {
  /// The key, a push id.
  package let id: PostID
  /// The identifier of the author.
  package var uid: String
  /// The author's name at the time of writing.
  package var author: String
  package var title: String
  /// The text; it may have several lines.
  package var body: String
  /// How many people have starred the post.
  package var starCount: Int
  /// The identifiers of those people.
  package var stars: Set<String>
  /// When the post was created, in milliseconds since 1970; nil if its key does not tell.
  package var createdAt: Int64?

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
///
/// There may be very many, so it holds no text of its own: a comment that was read refers to the
/// data in the database's memory, and takes 40 bytes beside it.
package struct Comment: Sendable, Identifiable {
  /// A key in a form that takes no memory of its own, by which comments are found and ordered.
  package struct Key: Hashable, Comparable, Sendable {
    private let key: ChildKey

    package init(_ id: String) { key = ChildKey(id) }

    /// Whether the comment with one key comes before the comment with another.
    package static func < (left: Key, right: Key) -> Bool { left.key < right.key }

    fileprivate var text: String { key.text }
  }

  /// The key, a push id.
  package let key: Key
  private let fields: ChildMap?
  /// The time of creation; the lowest number if the key does not tell.
  private let created: Int64

  package var id: String { key.text }
  package var uid: String { string(.uid) ?? "" }
  package var author: String { string(.author) ?? "" }
  package var text: String { string(.commentText) ?? "" }
  /// The key of the comment it replies to; nil if it is about the post itself.
  ///
  /// Programs that do not know replies ignore this field and show the comment like any other.
  package var parent: String? { string(.parent) }
  /// The key of the comment it replies to; nil if it is about the post itself.
  package var parentKey: Key? { parent.map { Key($0) } }
  /// When the comment was created, in milliseconds since 1970; nil if its key does not tell.
  package var createdAt: Int64? { created == .min ? nil : created }

  private func string(_ key: ChildKey) -> String? {
    if case .string(let text)? = fields?[key]?.leafValue { text } else { nil }
  }

  package init(
    id: String,
    uid: String,
    author: String,
    text: String,
    parent: String? = nil,
    createdAt: Int64? = nil
  ) {
    key = Key(id)
    created = createdAt ?? .min
    let parent = parent.map { Node.string($0) } ?? .empty
    fields =
      Node(sortedChildren: [
        (.author, .string(author)), (.parent, parent), (.commentText, .string(text)),
        (.uid, .string(uid)),
      ]).children?.map
  }

  package func with(text: String) -> Comment {
    Comment(
      id: id,
      uid: uid,
      author: author,
      text: text,
      parent: parent,
      createdAt: createdAt
    )
  }
}

extension Comment: Hashable {
  /// Whether both show the same, whatever else the database has about them.
  package static func == (left: Comment, right: Comment) -> Bool {
    left.key == right.key && left.created == right.created
      && (left.fields == right.fields
        || (left.uid == right.uid && left.author == right.author && left.text == right.text
          && left.parent == right.parent))
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Comment: Codable {
  private enum CodingKeys: CodingKey {
    case id, uid, author, text, parent, createdAt
  }

  /// Reads a comment from a recording.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try values.decode(String.self, forKey: .id),
      uid: try values.decode(String.self, forKey: .uid),
      author: try values.decode(String.self, forKey: .author),
      text: try values.decode(String.self, forKey: .text),
      parent: try values.decodeIfPresent(String.self, forKey: .parent),
      createdAt: try values.decodeIfPresent(Int64.self, forKey: .createdAt)
    )
  }

  /// Writes a comment to a recording.
  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(id, forKey: .id)
    try values.encode(uid, forKey: .uid)
    try values.encode(author, forKey: .author)
    try values.encode(text, forKey: .text)
    try values.encodeIfPresent(parent, forKey: .parent)
    try values.encodeIfPresent(createdAt, forKey: .createdAt)
  }
}

extension Post {
  /// Who wrote it, by the name at the time of writing.
  package var writer: Author { Author(uid: uid, name: author) }

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
  package var writer: Author { Author(uid: uid, name: author) }

  package init?(_ snapshot: DataSnapshot) {
    self.init(snapshot.key, from: snapshot.node)
  }

  package init?(_ id: String, from node: Node) {
    guard let children = node.children else { return nil }
    key = Key(id)
    fields = children.map
    created = PushID.time(of: id) ?? .min
  }

  var storedValue: [String: any Sendable] {
    var value: [String: any Sendable] = ["uid": uid, "author": author, "text": text]
    value["parent"] = parent
    return value
  }
}

extension Node {
  /// The string of a child; empty if it is not a string.
  func text(_ key: ChildKey) -> String {
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
