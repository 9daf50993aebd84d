import RealtimeCore

/// One operation of a client, from its start to what the client learned of its outcome.
struct ClientOperation: Hashable, Sendable {
  var client: String
  /// The user ID under which it ran.
  var uid: String
  /// The number within the client's history.
  var number: Int64
  var intent: Intent
  var invoked: Moment
  /// When the client learned the outcome, or nil when it never did.
  var answered: Moment?
  /// The outcome; unknown when the client never learned it.
  var outcome = Outcome.unknown("the client was never told")

  var isAcknowledged: Bool {
    if case .ok = outcome { true } else { false }
  }

  var isRefused: Bool {
    if case .refused = outcome { true } else { false }
  }

  /// Whether it is unknown if the operation took effect.
  var isUnknown: Bool {
    if case .unknown = outcome { true } else { false }
  }

  /// When the operation was acknowledged, or nil; until then it may still take effect.
  var acknowledged: Moment? { isAcknowledged ? answered : nil }
}

extension ClientOperation: CustomStringConvertible {
  var description: String {
    let end: String
    switch outcome {
    case .ok: end = "acknowledged"
    case .refused(let reason): end = "refused: \(reason)"
    case .unknown(let reason): end = "unknown: \(reason)"
    }
    return "\(client) #\(number) \(intent.name) by \(uid) (\(end))"
  }
}

/// What a client wants to do to the database with one operation.
///
/// Keys of posts and comments are chosen before the operation begins. Titles of posts and texts of
/// comments are unique within a run, so that the checker knows who wrote what.
enum Intent: Hashable, Sendable {
  /// Writes a post and its copy.
  case post(post: String, title: String, body: String)
  /// Rewrites the user's own post, at both paths.
  case editPost(post: String, title: String, body: String)
  /// Deletes the user's own post with its copy and its comments.
  case deletePost(post: String)
  case comment(post: String, comment: String, text: String)
  case deleteComment(post: String, comment: String)
  case star(post: String)
  case unstar(post: String)
  case increment(path: String, amount: Int64)
  /// Reads a value, which the answer contains, at a server if it is not the client's own.
  case read(path: String, server: String? = nil)
  /// Tries to star a post as another user, which must be refused.
  case starAs(post: String, uid: String)
  /// Tries to rewrite another user's post, which must be refused.
  case editOther(post: String, title: String)
  /// Writes as an administrator, who is not bound by rules, for example to prepare a run.
  case administer(paths: [String])

  var isForbidden: Bool {
    switch self {
    case .starAs, .editOther: true
    case .post, .editPost, .deletePost, .comment, .deleteComment, .star, .unstar, .increment, .read,
      .administer:
      false
    }
  }

  var isRead: Bool { if case .read = self { true } else { false } }

  var post: String? {
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

  /// The name of the kind of operation in a history.
  var name: String { kind.rawValue }

  var members: [JSONMember] {
    func text(_ name: String, is value: String) -> JSONMember { JSONMember(name, .string(value)) }
    let details: [JSONMember]
    switch self {
    case .post(let post, let title, let body), .editPost(let post, let title, let body):
      details = [text("post", is: post), text("title", is: title), text("body", is: body)]
    case .deletePost(let post), .star(let post), .unstar(let post):
      details = [text("post", is: post)]
    case .comment(let post, let comment, let words):
      details = [text("post", is: post), text("comment", is: comment), text("text", is: words)]
    case .deleteComment(let post, let comment):
      details = [text("post", is: post), text("comment", is: comment)]
    case .increment(let path, let amount):
      details = [text("path", is: path), JSONMember("amount", .integer(amount))]
    case .read(let path, let server):
      details = [text("path", is: path)] + (server.map { [text("server", is: $0)] } ?? [])
    case .starAs(let post, let uid): details = [text("post", is: post), text("uid", is: uid)]
    case .editOther(let post, let title):
      details = [text("post", is: post), text("title", is: title)]
    case .administer(let paths):
      details = [JSONMember("paths", .array(paths.map { .string($0) }))]
    }
    return [text("do", is: name)] + details
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
    case .read:
      self = .read(path: try fields.text("path"), server: fields.optionalText("server"))
    case .starAs: self = .starAs(post: try fields.text("post"), uid: try fields.text("uid"))
    case .editOther:
      self = .editOther(post: try fields.text("post"), title: try fields.text("title"))
    case .administer: self = .administer(paths: try fields.texts("paths"))
    }
  }
}

/// How an operation ended, as far as its client learned.
enum Outcome: Hashable, Sendable {
  /// It was acknowledged, with the value that was read or written, if any.
  ///
  /// For an increment and a transaction on a star this is the resulting number, for a read the
  /// value.
  case ok(JSONValue?)
  /// It was refused; none of its effects may ever be visible.
  case refused(String)
  /// The client cannot know whether it took effect.
  case unknown(String)

  /// The name of the kind of outcome in a history.
  var name: String {
    switch self {
    case .ok: "ok"
    case .refused: "refused"
    case .unknown: "unknown"
    }
  }

  var members: [JSONMember] {
    switch self {
    case .ok(let value): value.map { [JSONMember("value", $0)] } ?? []
    case .refused(let reason), .unknown(let reason): [JSONMember("reason", .string(reason))]
    }
  }
}
