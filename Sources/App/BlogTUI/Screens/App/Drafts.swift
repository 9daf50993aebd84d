package import BlogModel

/// An unsent or refused post, or the unsent edit of one.
package struct Draft: Hashable, Sendable, Codable {
  package var title: String
  package var body: String
  /// Why it was refused; nil if it was not.
  package var problem: String?
  /// The post that it changes, as it was before; nil for a new one.
  package var editing: Post?

  package init(title: String, body: String, problem: String? = nil, editing: Post? = nil) {
    self.title = title
    self.body = body
    self.problem = problem
    self.editing = editing
  }

  package var isEmpty: Bool { title.isEmpty && body.isEmpty }
}

/// An unsent or refused comment, or the unsent edit of one.
package struct CommentDraft: Hashable, Sendable {
  package var text: String
  /// The comment that it answers; nil if it is about the post itself.
  package var answered: Comment?
  /// The comment that it changes, as it was before; nil for a new one.
  package var editing: Comment?

  package init(_ text: String, answering answered: Comment? = nil, editing: Comment? = nil) {
    self.text = text
    self.answered = answered
    self.editing = editing
  }
}

extension CommentDraft: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) { self.init(text) }
}

/// A draft of a new comment on the post is encoded as its text alone, as in old recordings.
extension CommentDraft: Codable {
  private struct Parts: Codable {
    let text: String
    let answered: Comment?
    let editing: Comment?
  }

  package init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      self.init(text)
      return
    }
    let parts = try Parts(from: decoder)
    self.init(parts.text, answering: parts.answered, editing: parts.editing)
  }

  package func encode(to encoder: any Encoder) throws {
    guard answered != nil || editing != nil else { return try text.encode(to: encoder) }
    try Parts(text: text, answered: answered, editing: editing).encode(to: encoder)
  }
}

/// Everything that was typed and not sent.
package struct Unsent: Hashable, Sendable, Codable {
  /// Posts; the last one is offered first.
  package var posts: [Draft]
  /// Comments, by the post that they are about; the last one is offered first.
  package var comments: [PostID: [CommentDraft]]

  package init(posts: [Draft] = [], comments: [PostID: [CommentDraft]] = [:]) {
    self.posts = posts
    self.comments = comments
  }

  package var isEmpty: Bool { posts.isEmpty && comments.isEmpty }

  package enum Item: Hashable, Sendable {
    case post(Draft)
    case comment(PostID, CommentDraft)
  }

  /// All texts, as lists show them: the latest first, as it is the one that is offered first.
  package var items: [Item] {
    posts.reversed().map { .post($0) }
      + comments.sorted { $0.key > $1.key }.flatMap { post, drafts in
        drafts.reversed().map { .comment(post, $0) }
      }
  }

  /// Adds a post, which is offered first.
  mutating func keep(_ draft: Draft) { posts.append(draft) }

  /// Adds a comment on a post, which is offered first there.
  mutating func keep(_ draft: CommentDraft, on post: PostID) {
    comments[post, default: []].append(draft)
  }

  mutating func keep(_ item: Item) {
    switch item {
    case .post(let draft): keep(draft)
    case .comment(let post, let draft): keep(draft, on: post)
    }
  }

  /// Removes and returns the comment on a post that is offered first.
  mutating func takeLast(on post: PostID) -> CommentDraft? {
    let draft = comments[post]?.popLast()
    if comments[post]?.isEmpty == true { comments[post] = nil }
    return draft
  }

  package mutating func remove(_ item: Item) {
    switch item {
    case .post(let draft):
      if let index = posts.lastIndex(of: draft) { posts.remove(at: index) }
    case .comment(let post, let draft):
      guard let index = comments[post]?.lastIndex(of: draft) else { return }
      comments[post]?.remove(at: index)
      if comments[post]?.isEmpty == true { comments[post] = nil }
    }
  }

  /// Adds what another run of the program has left.
  package mutating func append(_ other: Unsent) {
    posts += other.posts
    comments.merge(other.comments) { $0 + $1 }
  }
}

/// How much the editors take.
enum EditorLimit {
  /// The number of characters: far above what can be sent, so that no paste is cut off.
  static let characters = 1_000_000
}
