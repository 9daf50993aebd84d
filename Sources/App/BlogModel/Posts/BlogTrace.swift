internal import RealtimeCore

/// What leads to a post or comment from elsewhere, and is written in one update with it.
///
/// It says nothing that the post or comment does not say: what leads nowhere, or to something that no
/// longer says so, is passed over by readers and removed by `hearth fsck --repair`.
package struct BlogTrace: Hashable, Sendable {
  /// Why somebody looks there.
  enum Kind: Hashable, Sendable {
    /// It answers a comment of the person of that identifier.
    case reply(uid: String)
    /// It names somebody whose name has that key.
    case mention(String)
    /// It has that tag.
    case tag(String)
  }

  let kind: Kind
  /// The key of the post or comment.
  let key: String
  /// The post, which the comment is on.
  let post: PostID
  /// What is stored: the post, or the author of a post with a tag.
  let value: String

  init(_ kind: Kind, to key: String, on post: PostID, value: String) {
    self.kind = kind
    self.key = key
    self.post = post
    self.value = value
  }

  /// Where it is.
  var path: Path {
    switch kind {
    case .reply(let uid): Path([.replies, ChildKey(uid), ChildKey(key)])
    case .mention(let name): Path([.mentions, ChildKey(name), ChildKey(key)])
    case .tag(let tag): Path([.tags, ChildKey(tag), ChildKey(key)])
    }
  }

  /// Where it leads.
  var target: Path {
    key == post
      ? Path([.posts, ChildKey(post)])
      : Path([.postComments, ChildKey(post), ChildKey(key)])
  }

  /// Whether what it leads to says what it says.
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

  /// All that leads to a post.
  static func all(of post: Post) -> [BlogTrace] {
    let marks = TextMarks(of: post.title, post.body)
    return marks.mentions.map { BlogTrace(.mention($0), to: post.id, on: post.id, value: post.id) }
      + marks.tags.map { BlogTrace(.tag($0), to: post.id, on: post.id, value: post.uid) }
  }

  /// All that leads to a comment.
  ///
  /// - Parameters:
  ///   - comment: The comment.
  ///   - post: The post that it is on.
  ///   - parent: What it answers, if that is there.
  /// - Returns: The traces.
  static func all(of comment: Comment, on post: PostID, answering parent: Comment?) -> [BlogTrace] {
    let names = TextMarks(of: comment.text).mentions
    var traces = names.map { BlogTrace(.mention($0), to: comment.id, on: post, value: post) }
    if let uid = parent?.uid, uid != comment.uid, Validation.problem(withKey: uid) == nil {
      traces.append(BlogTrace(.reply(uid: uid), to: comment.id, on: post, value: post))
    }
    return traces
  }

  /// All traces in a blog, with what is stored at places where none can be.
  ///
  /// - Parameter root: The whole database.
  /// - Returns: The traces, and the paths of what is none.
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
  /// What an update writes to make them, or to remove them.
  func changes(_ areThere: Bool) -> [String: String?] {
    var changes: [String: String?] = [:]
    for trace in self {
      let path = trace.path.keys.map(\.text).joined(separator: "/")
      changes.updateValue(areThere ? trace.value : nil, forKey: path)
    }
    return changes
  }
}
