internal import RealtimeDatabase

/// The port through which the screens use the blog.
///
/// All calls return at once. What comes of them arrives through the handler given to ``start(_:)``.
package protocol BlogRepository: Sendable {
  /// Who I am.
  var me: Author { get }
  /// Which database this is, in words for the status bar.
  var databaseName: String { get }
  /// The time by the server's clock, in milliseconds since 1970.
  var now: Int64 { get }

  /// Starts to tell what happens; the handler may be called on any thread, in order.
  func start(_ handler: @escaping @Sendable (BlogEvent) -> Void)
  /// Follows a list until ``stopFollowing(_:)``.
  func follow(_ feed: FeedKind)
  /// No longer follows a list.
  func stopFollowing(_ feed: FeedKind)
  /// Tells where in a list the reader is, so that what is around is there in time.
  func read(_ feed: FeedKind, at post: PostID)
  /// Goes to the beginning of a list, wherever the reader was.
  func showFirst(of feed: FeedKind)
  /// Looks through a whole list and tells what matches, in place of any search before.
  ///
  /// - Parameters:
  ///   - number: Names the search in ``BlogEvent/found(_:)``.
  ///   - feed: The list.
  ///   - matches: Tells whether a post is looked for; called on any thread.
  func search(
    _ number: Int,
    in feed: FeedKind,
    matching matches: @escaping @Sendable (Post) -> Bool
  )
  /// Ends the search.
  func stopSearching()
  /// Follows a post and its comments until ``close(_:)``.
  func open(_ post: PostID)
  /// No longer follows a post.
  func close(_ post: PostID)

  /// Tells the newest comments on these posts, and on no others, while they are not open.
  func watchComments(on posts: [PostID])

  /// Writes a post and returns its key.
  func post(title: String, body: String) -> PostID
  /// Writes a comment, or an answer to one, and returns its key.
  func comment(on post: PostID, text: String, answering: Comment?) -> String
  /// Stars or unstars a post: an intent, harmless when repeated.
  func setStar(_ post: PostID, to isStarred: Bool)
  /// Changes a post of mine in both places.
  func edit(_ post: PostID, title: String, body: String)
  /// Changes a comment of mine; who is named in it for the first time is told.
  func editComment(_ comment: String, on post: PostID, text: String)
  /// Notes that a post was read, or is to be read again.
  func mark(_ post: PostID, as mark: ReadState.Mark)
  /// Counts everything up to now as read.
  func markAllRead()
  /// Notes how many stars of others on posts of mine I know of.
  func markStars(_ counts: [PostID: Int])
  /// Tells the others whether I am writing a comment.
  func setTyping(_ isTyping: Bool, on post: PostID)
  /// Follows a person, or no longer.
  func setFollowing(_ uid: String, to isFollowed: Bool)
  /// Starts or ends to tell what others do to what I wrote, and to me, and whom I follow.
  func setNotices(_ areTold: Bool)
  /// Deletes a post of mine with its comments.
  func deletePost(_ post: PostID)
  /// Deletes a comment of mine.
  func deleteComment(_ comment: String, on post: PostID)
  /// Finds out whether the server is alive, since somebody is looking.
  func probe()
}

/// Something that happened to the blog, as the screen must learn of it.
package enum BlogEvent: Sendable, Equatable, Codable {
  /// A list is now this, in the order in which it is shown.
  case feed(FeedKind, posts: [Post])
  /// So much of a list is kept from now on; told before the list itself.
  case extent(FeedKind, FeedExtent)
  /// A search has come so far.
  case found(SearchProgress)
  /// A list can no longer be followed.
  case feedFailed(FeedKind, reason: String)
  /// The open post is now this, or is gone.
  case post(PostID, Post?)
  /// The comments of the open post are now these, oldest first.
  case comments(PostID, [Comment])
  /// These are the newest comments on a post that is in view but not open, oldest first.
  case latestComments(PostID, [Comment])
  /// These people are writing comments on the open post.
  case typing(PostID, [Typist])
  /// These terminals are here.
  case people([Presence])
  /// This is what I have read.
  case readState(ReadState)
  /// One of my marks of what I have read was stored or refused; what was told before knows of it.
  case markAnswered
  /// Others have just done something to what I wrote, or to me.
  case notice(Notice)
  /// This is what others did to what I wrote, and to me, newest first.
  case notices([NoticeEntry])
  /// I follow these people, by identifier.
  case following(Set<String>)
  /// The server took so many milliseconds to answer.
  case roundTrip(milliseconds: Int)
  /// The connection is now in this state.
  case connection(ConnectionState)
  /// This is why there is no connection; nil when there is one again.
  case connectionProblem(ConnectionProblem?)
  /// The server answers nothing that it is asked; nil when it does.
  case silence(Silence?)
  /// So many of my writes are not yet acknowledged.
  case pendingWrites(Int)
  /// Something I did has been acknowledged.
  case succeeded(BlogAction)
  /// Something I did was refused; what it had changed on the screen has been taken back.
  case failed(BlogAction, reason: String)
}

/// Something I do to the blog.
package enum BlogAction: Sendable, Hashable, Codable {
  /// Writing a post; the key is known at once.
  case post(PostID, title: String, body: String)
  /// Writing a comment, or an answer to one.
  case comment(PostID, commentID: String, text: String, answering: Comment? = nil)
  /// Starring (true) or unstarring (false) a post.
  case star(PostID, Bool)
  /// Changing a post of mine.
  case edit(PostID, title: String, body: String)
  /// Changing a comment of mine.
  case editComment(PostID, commentID: String, text: String)
  /// Deleting a post of mine.
  case deletePost(PostID)
  /// Deleting a comment of mine.
  case deleteComment(PostID, commentID: String)
  /// Following (true) a person, or no longer.
  case follow(uid: String, Bool)
}

/// How the database can be reached.
package enum ConnectionState: Sendable, Hashable, Codable {
  /// A first connection is being made.
  case connecting
  /// Connected.
  case online
  /// Not connected; another attempt comes in so many seconds, or nil while one is under way.
  case offline(retryInSeconds: Int?)
}

/// Why there is no connection.
package struct ConnectionProblem: Sendable, Hashable, Codable {
  /// What happened, in a sentence without a period that names the address where that matters.
  package let reason: String
  /// The reason alone, in a few words; nil unless the server was not reached.
  package let cause: String?
  /// Where the server was looked for; nil as the cause is.
  package let address: String?
  /// Whether waiting alone will not help.
  package let isPermanent: Bool

  /// Makes a problem.
  package init(
    reason: String,
    cause: String? = nil,
    address: String? = nil,
    isPermanent: Bool = true
  ) {
    self.reason = reason
    self.cause = cause
    self.address = address
    self.isPermanent = isPermanent
  }
}

/// A server that answers nothing.
package struct Silence: Sendable, Hashable, Codable {
  /// How long it lasts, in milliseconds, until it counts as being offline.
  package static let patience: Int64 = 10_000

  /// Since when, in milliseconds since 1970 by the server's clock.
  package let since: Int64
  /// Where the server is, in words.
  package let address: String

  /// Makes a silence.
  package init(since: Int64, address: String) {
    self.since = since
    self.address = address
  }
}

/// Explains an error of the database in words: what was refused, where, by which rule.
struct DatabaseErrorText: Sendable {
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
  func text(_ error: any Error, for request: Request, at place: String) -> String {
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
    case .comment(let post, let comment, _, _), .deleteComment(let post, let comment):
      "/post-comments/\(post)/\(comment)"
    case .editComment(let post, let comment, _):
      "/post-comments/\(post)/\(comment)/text"
    case .follow(let uid, _): "/following/\(uid)"
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
    case .tag(let tag): "/tags/\(tag)"
    case .following: "/following/\(uid)"
    }
  }
}
