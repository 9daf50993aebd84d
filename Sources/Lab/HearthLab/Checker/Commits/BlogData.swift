import RealtimeCore
private import RealtimeServer

extension ChildKey {
  static let posts: ChildKey = "posts"
  static let userPosts: ChildKey = "user-posts"
  static let postComments: ChildKey = "post-comments"
  static let presence: ChildKey = "presence"
  static let uid: ChildKey = "uid"
  static let title: ChildKey = "title"
  static let commentText: ChildKey = "text"
  static let stars: ChildKey = "stars"
  static let starCount: ChildKey = "starCount"
}

extension Node {
  /// The children, ordered by key.
  var entries: [(key: ChildKey, value: Node)] { children.map { Array($0.map) } ?? [] }

  var keys: [ChildKey] { entries.map(\.key) }

  /// The text of a child, or nil if the child is not a text.
  func text(_ key: ChildKey) -> String? {
    if case .string(let text)? = self[key].leafValue { text } else { nil }
  }

  /// The value of `starCount`, or nil if it is missing or not an integer.
  var starCount: Int? { self[.starCount].leafValue?.number.flatMap { Int(exactly: $0) } }

  /// The keys of the children in which two nodes differ.
  func differences(from other: Node) -> [ChildKey] {
    Set(keys).union(other.keys).sorted().filter { self[$0] != other[$0] }
  }

  /// The beginning of the node's JSON, for reports.
  var summary: String {
    let text = isEmpty ? "nothing" : json(.value).text
    return text.count > 200 ? text.prefix(200) + "…" : text
  }
}

struct CommentKey: Hashable, Sendable {
  let post: String
  let comment: String

  var path: Path { Path([.postComments, ChildKey(post), ChildKey(comment)]) }
}

/// Forbidden actions that a run tries: editing another user's post, starring as another user.
package enum Trespass {
  /// Whether security rules refuse all of these actions, so that a run may try them.
  ///
  /// The rules are evaluated against a small blog; rules that cannot be parsed count as refusing.
  ///
  /// - Returns: Whether every action is refused.
  package static func isRefused(by source: String) -> Bool {
    guard let rules = try? RuleSet(source: source) else { return true }
    let posts: JSONFields = [
      "post": [
        "uid": "owner", "author": "owner", "title": "title", "body": "body", "starCount": 0,
      ] as JSONFields
    ]
    let blog: JSONFields = ["posts": posts, "user-posts": ["owner": posts] as JSONFields]
    guard let root = try? Node(json: blog.object) else { return true }
    let path: Path = "/posts/post"
    var edited = root
    edited.update(at: "/posts/post/title", to: .string("another"))
    var starred = root
    starred.update(at: "/posts/post/stars/other", to: .bool(true))
    starred.update(at: "/posts/post/starCount", to: .integer(1))
    return [edited, starred].allSatisfy { after in
      !rules.canWrite(
        [path],
        by: RuleSubject(.object(("uid", .string("stranger")))),
        now: 1,
        from: root,
        to: after
      ).isAllowed
    }
  }
}
