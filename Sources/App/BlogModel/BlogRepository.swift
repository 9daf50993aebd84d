/// What the screens need of a blog: the port between them and the database.
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
  /// Follows a post and its comments until ``close(_:)``.
  func open(_ post: PostID)
  /// No longer follows a post.
  func close(_ post: PostID)

  /// Tells the newest comments on these posts, and on no others, while they are not open.
  func watchComments(on posts: [PostID])

  /// Writes a post and returns its key.
  func post(title: String, body: String) -> PostID
  /// Writes a comment and returns its key.
  func comment(on post: PostID, text: String) -> String
  /// Stars or unstars a post: an intent, harmless when repeated.
  func setStar(_ post: PostID, _ isStarred: Bool)
  /// Changes a post of mine in both places.
  func edit(_ post: PostID, title: String, body: String)
  /// Changes a comment of mine.
  func editComment(_ comment: String, on post: PostID, text: String)
  /// Notes that a post was read, or is to be read again.
  func mark(_ post: PostID, _ mark: ReadState.Mark)
  /// Counts everything up to now as read.
  func markAllRead()
  /// Tells the others whether I am writing a comment.
  func setTyping(_ isTyping: Bool, on post: PostID)
  /// Starts or ends to tell what others do to what I wrote.
  func setNotices(_ areTold: Bool)
  /// Deletes a post of mine with its comments.
  func deletePost(_ post: PostID)
  /// Deletes a comment of mine.
  func deleteComment(_ comment: String, on post: PostID)
}
