internal import RealtimeCore

/// An entry elsewhere in the database that leads to a post or comment, written in one update with
/// it.
///
/// It contains nothing that the post or comment does not say itself. Readers skip an entry whose
/// target is gone or no longer says the same, and `hearth fsck --repair` removes it.
package struct BlogTrace: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// The target replies to a comment by the person with this identifier.
    case reply(uid: String)
    /// The target mentions a person whose name has this key.
    case mention(String)
    case tag(String)
  }

  let kind: Kind
  /// The key of the post or comment.
  let key: String
  let post: PostID
  /// The author of the post or comment; nil in an entry by an earlier version, which did not say.
  let sender: String?
  private let entry: ChildKey

  /// Makes an entry that leads to a post or comment by somebody.
  ///
  /// What is addressed to others is kept among the sender's own places, of which rules can grant a
  /// bounded number; the end of the key, which is random, decides which one is used.
  private init(_ kind: Kind, to key: String, on post: PostID, by sender: String) {
    self.kind = kind
    self.key = key
    self.post = post
    self.sender = sender
    switch kind {
    case .tag: entry = ChildKey(key)
    case .reply, .mention:
      let end = key.utf8.last.map { Character(Unicode.Scalar($0)) } ?? "-"
      let isUsual = end.isASCII && (end.isLetter || end.isNumber || end == "_")
      entry = ChildKey("\(sender)~\(isUsual ? end : "-")")
    }
  }

  /// Reads an entry from the list that contains it; nil if the value is not an entry.
  private init?(_ kind: Kind, at place: ChildKey, _ value: Node) {
    self.kind = kind
    entry = place
    let text = Self.key(value)
    if case .tag = kind {
      guard let text else { return nil }
      key = place.text
      post = place.text
      sender = text
    } else if let text {
      key = place.text
      post = text
      sender = nil
    } else {
      guard let key = Self.key(value[.key]), let post = Self.key(value[.post]),
        let end = place.text.lastIndex(of: "~")
      else { return nil }
      self.key = key
      self.post = post
      sender = String(place.text[..<end])
    }
  }

  private static func key(_ value: Node) -> String? {
    guard case .string(let text)? = value.leafValue else { return nil }
    return Validation.problem(withKey: text) == nil ? text : nil
  }

  var stored: Any {
    guard let sender else { return post }
    switch kind {
    case .tag: return sender
    case .reply, .mention: return ["key": key, "post": post]
    }
  }

  /// The path of the entry as an update has it.
  var place: String { path.keys.map(\.text).joined(separator: "/") }

  var path: Path {
    switch kind {
    case .reply(let uid): Path([.replies, ChildKey(uid), entry])
    case .mention(let name): Path([.mentions, ChildKey(name), entry])
    case .tag(let tag): Path([.tags, ChildKey(tag), entry])
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
    if target.isEmpty { return false }
    if let sender, target.text(.uid) != sender { return false }
    let marks = TextMarks(of: target.text(.title), target.text(.body), target.text(.commentText))
    switch kind {
    case .reply: return !target.text(.parent).isEmpty
    case .mention(let name): return marks.mentions.contains(name)
    case .tag(let tag): return marks.tags.contains(tag)
    }
  }

  /// All entries that lead to a post.
  static func all(of post: Post) -> [BlogTrace] {
    let marks = TextMarks(of: post.title, post.body)
    let kinds: [Kind] = marks.mentions.map { .mention($0) } + marks.tags.map { .tag($0) }
    return kinds.map { BlogTrace($0, to: post.id, on: post.id, by: post.uid) }
  }

  /// All entries that lead to a comment.
  static func all(of comment: Comment, on post: PostID, answering parent: Comment?) -> [BlogTrace] {
    let names = TextMarks(of: comment.text).mentions
    var kinds = names.map { Kind.mention($0) }
    if let uid = parent?.uid, uid != comment.uid, Validation.problem(withKey: uid) == nil {
      kinds.append(.reply(uid: uid))
    }
    return kinds.map { BlogTrace($0, to: comment.id, on: post, by: comment.uid) }
  }

  /// All entries in a blog, and the values in their locations that are not entries.
  static func all(in root: Node) -> (traces: [BlogTrace], others: [Path]) {
    var traces: [BlogTrace] = []
    var others: [Path] = []
    for list in [ChildKey.replies, .mentions, .tags] {
      for (name, entries) in root[list].entries {
        let kind: Kind =
          switch list {
          case .replies: .reply(uid: name.text)
          case .mentions: .mention(name.text)
          default: .tag(name.text)
          }
        let (found, rest) = all(kind, in: entries)
        traces += found
        others += rest.map { Path([list, name, $0]) }
      }
    }
    return (traces, others)
  }

  /// The entries in one list, and the keys of the other values in it.
  static func all(_ kind: Kind, in list: Node) -> (traces: [BlogTrace], others: [ChildKey]) {
    var traces: [BlogTrace] = []
    var others: [ChildKey] = []
    for (place, value) in list.entries {
      if let trace = BlogTrace(kind, at: place, value) {
        traces.append(trace)
      } else {
        others.append(place)
      }
    }
    return (traces, others)
  }
}

extension Sequence where Element == BlogTrace {
  /// The newest entries: of each sender the newest, then of each the second and so on, so that
  /// nobody crowds out the others.
  func newest(_ count: Int) -> [BlogTrace] {
    var ranks: [String?: Int] = [:]
    let ranked = sorted { $1.key.utf16.lexicographicallyPrecedes($0.key.utf16) }.enumerated().map {
      age,
      trace in
      ranks[trace.sender, default: 0] += 1
      return (trace: trace, order: (ranks[trace.sender] ?? 0, age))
    }
    return ranked.sorted { $0.order < $1.order }.prefix(count).map { $0.trace }
  }
}
