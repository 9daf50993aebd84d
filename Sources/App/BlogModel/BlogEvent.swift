/// Something that happened to the blog, as the screen must learn of it.
package enum BlogEvent: Sendable, Equatable, Codable {
  /// A list is now this, in the order in which it is shown.
  case feed(FeedKind, posts: [Post])
  /// So much of a list is kept from now on; told before the list itself.
  case extent(FeedKind, FeedExtent)
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
  /// Others did something to what I wrote.
  case notice(Notice)
  /// The server took so many milliseconds to answer.
  case roundTrip(milliseconds: Int)
  /// The connection is now in this state.
  case connection(ConnectionState)
  /// The server cannot be used, and waiting alone will not change that; nil when that is over.
  case connectionProblem(reason: String?)
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
  /// Writing a comment.
  case comment(PostID, commentID: String, text: String)
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
