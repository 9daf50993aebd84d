internal import RealtimeDatabase

/// Why the database refused something, in words: what, where, by which rule, or how to find that out.
struct RefusalText: Sendable {
  /// What was asked of the database.
  enum Request: String {
    /// To tell what is somewhere.
    case read
    /// To change what is somewhere.
    case write
  }

  /// What the server says before the rule, to those who may know the rules.
  private static let prefix = "Permission denied: "

  /// Who asked, as the rules know them.
  let uid: String

  /// The reason in a sentence without a period.
  ///
  /// - Parameters:
  ///   - error: What the database said.
  ///   - request: What was asked of it.
  ///   - place: Where, for what concerns several places; otherwise the error says it better.
  /// - Returns: The sentence.
  func text(_ error: any Error, _ request: Request, at place: String) -> String {
    guard let error = error as? DatabaseError else { return String(describing: error) }
    guard error.code == .permissionDenied else { return error.reason }
    let path = error.path.flatMap { $0 == "/" ? nil : $0 } ?? place
    if error.reason.hasPrefix(Self.prefix) {
      return "Permission denied at \(path): " + Self.rule(error.reason.dropFirst(Self.prefix.count))
    }
    let command = "hearth rules explain --as \(uid) --\(request.rawValue) \(path)"
    return "Permission denied at \(path); the server does not tell the rule: \"\(command)\" does"
  }

  /// The rule as the server tells it: its path and expression, then the values of its names.
  private static func rule(_ explanation: Substring) -> String {
    let lines = explanation.split(separator: "\n").map { line in
      String(line.drop { $0 == " " })
    }
    guard let rule = lines.first, lines.count > 1 else { return String(explanation) }
    return rule + ", where " + lines.dropFirst().joined(separator: ", ")
  }
}

extension BlogAction {
  /// Where the action writes first.
  var place: String {
    switch self {
    case .post(let post, _, _), .star(let post, _), .edit(let post, _, _), .deletePost(let post):
      "/posts/\(post)"
    case .comment(let post, let comment, _), .deleteComment(let post, let comment):
      "/post-comments/\(post)/\(comment)"
    case .editComment(let post, let comment, _):
      "/post-comments/\(post)/\(comment)/text"
    }
  }
}

extension FeedKind {
  /// Where the list is read, for the person of that identifier.
  func place(of uid: String) -> String {
    switch self {
    case .recent, .top: "/posts"
    case .mine, .myTop: "/user-posts/\(uid)"
    case .author(let author): "/user-posts/\(author)"
    }
  }
}
