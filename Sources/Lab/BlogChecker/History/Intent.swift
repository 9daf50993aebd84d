import RealtimeCore

/// What a client wants of the database with one operation.
///
/// Keys of posts and comments are chosen before the operation begins. The title of a post and the text
/// of a comment are different in every operation of a run: by them the checker knows who wrote what.
package enum Intent: Hashable, Sendable {
  /// Writes a post and its copy.
  case post(post: String, title: String, body: String)
  /// Rewrites a post of one's own, in both places.
  case editPost(post: String, title: String, body: String)
  /// Deletes a post of one's own with its copy and its comments.
  case deletePost(post: String)
  /// Comments on a post.
  case comment(post: String, comment: String, text: String)
  /// Deletes a comment of one's own.
  case deleteComment(post: String, comment: String)
  /// Stars a post.
  case star(post: String)
  /// Takes one's star away.
  case unstar(post: String)
  /// Adds to a number.
  case increment(path: String, amount: Int64)
  /// Reads a value; the answer carries it.
  case read(path: String)
  /// Tries to star a post in the name of another, which must be refused.
  case starAs(post: String, uid: String)
  /// Tries to rewrite the post of another, which must be refused.
  case editOther(post: String, title: String)
  /// Writes as administrator, whom no rule binds, such as to prepare a run.
  case administer(paths: [String])

  /// Whether the operation must be refused.
  package var isForbidden: Bool {
    switch self {
    case .starAs, .editOther: true
    case .post, .editPost, .deletePost, .comment, .deleteComment, .star, .unstar, .increment, .read,
      .administer:
      false
    }
  }

  /// The post that the operation is about, or nil.
  package var post: String? {
    switch self {
    case .post(let post, _, _), .editPost(let post, _, _), .deletePost(let post),
      .comment(let post, _, _), .deleteComment(let post, _), .star(let post), .unstar(let post),
      .starAs(let post, _), .editOther(let post, _):
      post
    case .increment, .read, .administer: nil
    }
  }

  private enum Kind: String {
    case post, editPost, deletePost, comment, deleteComment, star, unstar, increment, read
    case starAs, editOther, administer
  }

  private var kind: Kind {
    switch self {
    case .post: .post
    case .editPost: .editPost
    case .deletePost: .deletePost
    case .comment: .comment
    case .deleteComment: .deleteComment
    case .star: .star
    case .unstar: .unstar
    case .increment: .increment
    case .read: .read
    case .starAs: .starAs
    case .editOther: .editOther
    case .administer: .administer
    }
  }

  /// The name of the kind of operation, as a history has it.
  package var name: String { kind.rawValue }

  var members: [JSONMember] {
    func text(_ name: String, _ value: String) -> JSONMember { JSONMember(name, .string(value)) }
    let details: [JSONMember]
    switch self {
    case .post(let post, let title, let body), .editPost(let post, let title, let body):
      details = [text("post", post), text("title", title), text("body", body)]
    case .deletePost(let post), .star(let post), .unstar(let post):
      details = [text("post", post)]
    case .comment(let post, let comment, let words):
      details = [text("post", post), text("comment", comment), text("text", words)]
    case .deleteComment(let post, let comment):
      details = [text("post", post), text("comment", comment)]
    case .increment(let path, let amount):
      details = [text("path", path), JSONMember("amount", .integer(amount))]
    case .read(let path): details = [text("path", path)]
    case .starAs(let post, let uid): details = [text("post", post), text("uid", uid)]
    case .editOther(let post, let title): details = [text("post", post), text("title", title)]
    case .administer(let paths):
      details = [JSONMember("paths", .array(paths.map { .string($0) }))]
    }
    return [text("do", name)] + details
  }

  init(_ fields: HistoryFields) throws(HistoryError) {
    let kind: Kind = try fields.choice("do")
    switch kind {
    case .post, .editPost:
      let (post, title) = (try fields.text("post"), try fields.text("title"))
      let body = try fields.text("body")
      self =
        kind == .post
        ? .post(post: post, title: title, body: body)
        : .editPost(post: post, title: title, body: body)
    case .deletePost: self = .deletePost(post: try fields.text("post"))
    case .comment:
      self = .comment(
        post: try fields.text("post"),
        comment: try fields.text("comment"),
        text: try fields.text("text")
      )
    case .deleteComment:
      self = .deleteComment(post: try fields.text("post"), comment: try fields.text("comment"))
    case .star: self = .star(post: try fields.text("post"))
    case .unstar: self = .unstar(post: try fields.text("post"))
    case .increment:
      self = .increment(path: try fields.text("path"), amount: try fields.integer("amount"))
    case .read: self = .read(path: try fields.text("path"))
    case .starAs: self = .starAs(post: try fields.text("post"), uid: try fields.text("uid"))
    case .editOther:
      self = .editOther(post: try fields.text("post"), title: try fields.text("title"))
    case .administer: self = .administer(paths: try fields.texts("paths"))
    }
  }
}
