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

  /// The name of the kind of operation in a history.
  var name: String { coded.name }

  var fields: JSONFields { ["do": name] + coded.details }

  private var coded: (name: String, details: JSONFields) {
    switch self {
    case .post(let post, let title, let body):
      ("post", ["post": post, "title": title, "body": body])
    case .editPost(let post, let title, let body):
      ("editPost", ["post": post, "title": title, "body": body])
    case .deletePost(let post): ("deletePost", ["post": post])
    case .comment(let post, let comment, let text):
      ("comment", ["post": post, "comment": comment, "text": text])
    case .deleteComment(let post, let comment):
      ("deleteComment", ["post": post, "comment": comment])
    case .star(let post): ("star", ["post": post])
    case .unstar(let post): ("unstar", ["post": post])
    case .increment(let path, let amount): ("increment", ["path": path, "amount": amount])
    case .read(let path, let server): ("read", ["path": path, "server": server])
    case .starAs(let post, let uid): ("starAs", ["post": post, "uid": uid])
    case .editOther(let post, let title): ("editOther", ["post": post, "title": title])
    case .administer(let paths): ("administer", ["paths": paths])
    }
  }

  init(_ fields: JSONFields) throws(HistoryError) {
    let kind: String = try fields("do")
    switch kind {
    case "post":
      self = try .post(post: fields("post"), title: fields("title"), body: fields("body"))
    case "editPost":
      self = try .editPost(post: fields("post"), title: fields("title"), body: fields("body"))
    case "deletePost": self = try .deletePost(post: fields("post"))
    case "comment":
      self = try .comment(post: fields("post"), comment: fields("comment"), text: fields("text"))
    case "deleteComment":
      self = try .deleteComment(post: fields("post"), comment: fields("comment"))
    case "star": self = try .star(post: fields("post"))
    case "unstar": self = try .unstar(post: fields("post"))
    case "increment": self = try .increment(path: fields("path"), amount: fields("amount"))
    case "read": self = try .read(path: fields("path"), server: fields("server"))
    case "starAs": self = try .starAs(post: fields("post"), uid: fields("uid"))
    case "editOther": self = try .editOther(post: fields("post"), title: fields("title"))
    case "administer": self = try .administer(paths: fields("paths"))
    default: throw fields.missing("do")
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

  var fields: JSONFields {
    switch self {
    case .ok(let value): ["value": value]
    case .refused(let reason), .unknown(let reason): ["reason": reason]
    }
  }
}
