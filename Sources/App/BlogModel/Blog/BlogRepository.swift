package import RealtimeCore
internal import RealtimeDatabase

/// The port through which the screens use the blog.
///
/// All calls return at once. Their results arrive through the handler passed to ``start(_:)``.
package protocol BlogRepository: Sendable {
  var me: Author { get }
  /// The name of the database, for the status bar.
  var databaseName: String { get }
  /// The time by the server's clock, in milliseconds since 1970.
  var now: Int64 { get }

  /// Starts to report events; the handler may be called on any thread, but in order.
  func start(_ handler: @escaping @Sendable (BlogEvent) -> Void)
  /// Performs an action, whose outcome is reported as ``BlogEvent/succeeded(_:)`` or
  /// ``BlogEvent/failed(_:reason:)``; returns it with the key of what it writes.
  func perform(_ action: BlogAction) -> BlogAction
  /// Changes what the user has read; ``BlogEvent/markAnswered`` follows, and before it
  /// ``BlogEvent/markRefused(_:reason:)`` if it was refused.
  func mark(_ change: ReadChange)
  /// Reports more or less from now on.
  func request(_ request: BlogRequest)
  /// Searches a whole list, if wanted with the comments; replaces any earlier search.
  ///
  /// The matches are reported as ``BlogEvent/found(_:)`` with this number. The closure, which is
  /// called on any thread, tells whether a post with these comments matches.
  func search(
    _ number: Int,
    in feed: FeedKind,
    withComments: Bool,
    matching matches: @escaping @Sendable (Post, [Comment]) -> Bool
  )
  func stopSearching()
  /// Checks whether the server is alive, because a person is looking at the screen.
  func probe()
}

/// Something that happened to the blog and that the screen has to show.
package enum BlogEvent: Sendable, Equatable, Codable {
  /// The current contents of a list, in display order.
  case feed(FeedKind, posts: [Post])
  /// How much of a list is kept; sent before the list itself.
  case extent(FeedKind, FeedExtent)
  case found(SearchProgress)
  /// A list can no longer be followed.
  case feedFailed(FeedKind, reason: String)
  /// The current state of the open post; nil when it is gone.
  case post(PostID, Post?)
  /// The current comments on the open post, oldest first: the newest ones, if there are many.
  case comments(PostID, [Comment])
  /// The open post or its comments can no longer be read.
  case postFailed(PostID, reason: String)
  /// Whether there are comments before those that are reported; sent before them.
  case hasEarlierComments(PostID, Bool)
  /// The newest comments on a post that is in view but not open, oldest first.
  case latestComments(PostID, [Comment])
  /// The people who are writing comments on the open post.
  case typing(PostID, [Typist])
  /// The terminals that are online.
  case people([Presence])
  /// What the people who are online read, as far as they tell.
  case reading([ReadingPlace])
  case readState(ReadState)
  /// The server answered a change of the read state; the events that result from it came before.
  case markAnswered
  /// The server refused a change of the read state; its effect has been undone.
  case markRefused(ReadChange, reason: String)
  /// Others have just done something to the user's posts or comments, or mentioned the user.
  case notice(Notice)
  /// What others did to the user's posts and comments, and mentions of the user, newest first.
  case notices([NoticeEntry])
  /// What the user's account keeps for itself.
  case ownLists(OwnLists)
  /// The user, by the name that the database has at the start.
  case named(Author)
  /// The database has no name for the user yet, who shall be asked for one.
  case unnamed
  /// The user, who goes by another name since.
  case renamed(Author)
  /// The time the server took to answer.
  case roundTrip(milliseconds: Int)
  case connection(ConnectionState)
  /// Why there is no connection; nil once there is one again.
  case connectionProblem(ConnectionProblem?)
  /// The server does not respond to any request; nil once it does again.
  case silence(Silence?)
  case pendingWrites(Int)
  case succeeded(BlogAction)
  /// An action of the user was refused; its effect on the screen has been undone.
  case failed(BlogAction, reason: String)
}

/// What a screen wants to be told of the blog; none of it changes what others read.
package enum BlogRequest: Hashable, Sendable {
  case follow(FeedKind)
  case stopFollowing(FeedKind)
  /// The reader's position in a list, so that the posts around it are loaded in time.
  case read(FeedKind, at: PostID)
  /// Go to the beginning of a list, wherever the reader is.
  case showFirst(FeedKind)
  /// Follow a post and its newest comments.
  case open(PostID)
  /// Report twice as many of the newest comments on the open post.
  case showEarlierComments(PostID)
  /// Stop following a post and its comments.
  case close(PostID)
  /// Report the newest comments on these posts, and on no others, while they are not open.
  case watchComments([PostID])
  /// Start or stop notices of what others do that concerns the user, and what the account keeps for
  /// itself.
  case hearNotices(Bool)
  /// Show others whether the user is writing a comment.
  case typing(PostID, Bool)
  /// Show others what the user reads, or no longer.
  case shareReading(Bool)
  /// Start or stop reports of what others read.
  case watchReading(Bool)
}

package enum ConnectionState: Sendable, Hashable, Codable {
  /// The first connection is being made.
  case connecting
  case online
  /// Not connected. The next attempt starts in this many seconds; nil while one is under way.
  case offline(retryInSeconds: Int?)
}

package struct ConnectionProblem: Sendable, Hashable, Codable {
  /// What happened, as a sentence without a period, including the address where that matters.
  package let reason: String
  /// The cause alone, in a few words; nil unless the server could not be reached.
  package internal(set) var cause: String?
  /// The address that was tried; nil if `cause` is.
  package internal(set) var address: String?
  /// Whether the problem will not go away by waiting.
  package internal(set) var isPermanent = true
}

/// A server that does not respond.
package struct Silence: Sendable, Hashable, Codable {
  /// How long, in milliseconds, a silence may last before the client counts as offline.
  package static let patience: Int64 = 10_000

  /// When the silence began, in milliseconds since 1970 by the server's clock.
  package let since: Int64
  /// The server's address, as shown to the user.
  package let address: String
}

/// Describes a database error in words: what was refused, at which path, by which rule.
package struct DatabaseErrorText: Sendable {
  /// The operation that failed.
  package enum Request: String {
    case read
    case write
  }

  /// The server's prefix before the rule; sent only to clients that may know the rules.
  private static let prefix = "Permission denied: "
  /// The user on whose behalf the request was made, as the rules know them.
  let uid: String
  /// How to sign in, such as ":account signs in"; nil unless the user reads without an account, which
  /// may end at any time.
  let signIn: @Sendable () -> String?
  /// Stores a refused request, and returns the path of the file; nil if it cannot be stored.
  let keep: @Sendable (JSONValue) -> String?

  package init(
    uid: String,
    signIn: @escaping @Sendable () -> String? = { nil },
    keep: @escaping @Sendable (JSONValue) -> String? = { _ in nil }
  ) {
    self.uid = uid
    self.signIn = signIn
    self.keep = keep
  }

  /// The reason why a request failed, as a sentence without a period.
  ///
  /// The place is what is named if the error names no path, or only the root.
  package func text(_ error: any Error, for request: Request, at place: String) -> String {
    // Whoever changes something at a screen has seen it, and no command helps to find it.
    switch error as? BlogError {
    case .notFound?: return "the post was deleted"
    case .commentNotFound?: return "the comment was deleted"
    case .notMine?, .invalidText?, .unknownPerson?, .oneself?, .unreadable?, .conflict?, nil: break
    }
    guard let error = error as? DatabaseError else { return String(describing: error) }
    guard error.kind == .permissionDenied else { return error.reason }
    if let signIn = signIn() { return "You are reading without an account; \(signIn)" }
    let path = error.path.flatMap { $0 == "/" ? nil : $0 } ?? place
    if error.reason.hasPrefix(Self.prefix) {
      return "Permission denied at \(path): " + Self.rule(error.reason.dropFirst(Self.prefix.count))
    }
    let command =
      if let file = error.refused.flatMap({ keep($0.json(as: uid)) }) {
        "hearth rules explain --request \(Self.quoted(file))"
      } else {
        "hearth rules explain --as \(Self.quoted(uid)) --\(request.rawValue) \(Self.quoted(path))"
          + (request == .write ? " VALUE" : "")
      }
    return "Permission denied at \(path); \"\(command)\" tells whoever runs the server which rule"
  }

  /// A word as shells read it.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { $0.isAlphanumeric || "/-_.".utf8.contains($0) }
    return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }

  /// The rule as the server reports it: its path and expression, then the values of its variables.
  private static func rule(_ explanation: Substring) -> String {
    let lines = explanation.split(separator: "\n").map { line in
      String(line.drop { $0 == " " })
    }
    guard let rule = lines.first, lines.count > 1 else { return String(explanation) }
    return rule + ", where " + lines.dropFirst().joined(separator: ", ")
  }
}

extension RefusedRequest {
  /// The request as `hearth rules explain --request` reads it.
  fileprivate func json(as uid: String) -> JSONValue {
    switch self {
    case .write(let write):
      .object(
        ("as", .string(uid)),
        ("write", .string(write.path)),
        ("update", .bool(write.isUpdate)),
        ("data", write.data)
      )
    case .read(let path, let query):
      .object(
        ("as", .string(uid)),
        ("read", .string(path)),
        ("query", query.isDefault ? .null : .string(query.restParameters))
      )
    }
  }
}

extension Query {
  /// The query as REST has it, such as `orderBy="date"&limitToLast=10`.
  package var restParameters: String {
    let order =
      switch index {
      case .priority: "$priority"
      case .key: "$key"
      case .value: "$value"
      case .child(let path): path.wireText
      }
    var parameters = ["orderBy=" + JSONValue.string(order).text]
    if let start, start.isInclusive, start == end {
      parameters.append("equalTo=" + start.restText)
    } else {
      if let start {
        parameters.append((start.isInclusive ? "startAt=" : "startAfter=") + start.restText)
      }
      if let end { parameters.append((end.isInclusive ? "endAt=" : "endBefore=") + end.restText) }
    }
    if let limit {
      parameters.append(
        (limit.side == .first ? "limitToFirst=" : "limitToLast=") + "\(limit.count)"
      )
    }
    // What has a meaning in parameters is escaped; shells read the rest in quotes.
    return parameters.map { parameter in
      parameter.replacing("%", with: "%25").replacing("&", with: "%26").replacing("+", with: "%2B")
    }.joined(separator: "&")
  }
}

extension QueryBound {
  fileprivate var restText: String {
    let text = value.map { Node.leaf($0).json(.export).text } ?? "null"
    guard case .key(let key)? = key else { return text }
    return text + "," + JSONValue.string(key.text).text
  }
}
