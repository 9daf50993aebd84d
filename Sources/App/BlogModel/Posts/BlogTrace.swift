internal import RealtimeCore

/// An entry elsewhere in the database that leads to a post or comment, written in one update with
/// it.
///
/// It contains nothing that the post or comment does not say itself. Readers skip an entry whose
/// target is gone or no longer says the same, and `hearth fsck --repair` removes it.
package struct BlogTrace: Hashable, Sendable {
  /// The reason for an entry.
  enum Kind: Hashable, Sendable {
    /// The target replies to a comment by the person with this identifier.
    case reply(uid: String)
    /// The target mentions a person whose name has this key.
    case mention(String)
    /// The target has this tag.
    case tag(String)
  }

  let kind: Kind
  /// The key of the post or comment.
  let key: String
  /// The post, or the post that the comment is on.
  let post: PostID
  /// The stored value: the post, or for a tag the author of the post.
  let value: String

  init(_ kind: Kind, to key: String, on post: PostID, value: String) {
    self.kind = kind
    self.key = key
    self.post = post
    self.value = value
  }

  /// The path of the entry.
  var path: Path {
    switch kind {
    case .reply(let uid): Path([.replies, ChildKey(uid), ChildKey(key)])
    case .mention(let name): Path([.mentions, ChildKey(name), ChildKey(key)])
    case .tag(let tag): Path([.tags, ChildKey(tag), ChildKey(key)])
    }
  }

  /// The path of the post or comment it leads to.
  var target: Path {
    key == post
      ? Path([.posts, ChildKey(post)])
      : Path([.postComments, ChildKey(post), ChildKey(key)])
  }

  /// Whether the target confirms the entry.
  func isRight(about target: Node) -> Bool {
    func text(_ key: ChildKey) -> String {
      if case .string(let text)? = target[key].leafValue { text } else { "" }
    }
    if target.isEmpty { return false }
    let marks = TextMarks(of: text(.title), text(.body), text(.commentText))
    switch kind {
    case .reply: return !text(.parent).isEmpty
    case .mention(let name): return marks.mentions.contains(name)
    case .tag(let tag): return marks.tags.contains(tag) && text(.uid) == value
    }
  }

  /// All entries that lead to a post.
  static func all(of post: Post) -> [BlogTrace] {
    let marks = TextMarks(of: post.title, post.body)
    return marks.mentions.map { BlogTrace(.mention($0), to: post.id, on: post.id, value: post.id) }
      + marks.tags.map { BlogTrace(.tag($0), to: post.id, on: post.id, value: post.uid) }
  }

  /// All entries that lead to a comment.
  ///
  /// - Parameters:
  ///   - comment: The comment.
  ///   - post: The post it is on.
  ///   - parent: The comment it replies to, if that exists.
  /// - Returns: The entries.
  static func all(of comment: Comment, on post: PostID, answering parent: Comment?) -> [BlogTrace] {
    let names = TextMarks(of: comment.text).mentions
    var traces = names.map { BlogTrace(.mention($0), to: comment.id, on: post, value: post) }
    if let uid = parent?.uid, uid != comment.uid, Validation.problem(withKey: uid) == nil {
      traces.append(BlogTrace(.reply(uid: uid), to: comment.id, on: post, value: post))
    }
    return traces
  }

  /// All entries in a blog, and the values in their locations that are not entries.
  ///
  /// - Parameter root: The whole database.
  /// - Returns: The entries, and the paths of the other values.
  static func all(in root: Node) -> (traces: [BlogTrace], others: [Path]) {
    var traces: [BlogTrace] = []
    var others: [Path] = []
    for place in [ChildKey.replies, .mentions, .tags] {
      for (name, entries) in root[place].entries {
        for (key, value) in entries.entries {
          let path = Path([place, name, key])
          guard case .string(let text)? = value.leafValue, Validation.problem(withKey: text) == nil
          else {
            others.append(path)
            continue
          }
          let kind: Kind =
            switch place {
            case .replies: .reply(uid: name.text)
            case .mentions: .mention(name.text)
            default: .tag(name.text)
            }
          let post = place == .tags ? key.text : text
          traces.append(BlogTrace(kind, to: key.text, on: post, value: text))
        }
      }
    }
    return (traces, others)
  }
}

extension Sequence where Element == BlogTrace {
  /// The changes of an update that adds or removes the entries.
  func changes(_ areThere: Bool) -> [String: String?] {
    var changes: [String: String?] = [:]
    for trace in self {
      let path = trace.path.keys.map(\.text).joined(separator: "/")
      changes.updateValue(areThere ? trace.value : nil, forKey: path)
    }
    return changes
  }
}
