package import BlogModel

/// Something that the program has to do because of an event.
package enum Effect: Hashable, Sendable {
  /// Follow a list.
  case follow(FeedKind)
  /// No longer follow a list.
  case stopFollowing(FeedKind)
  /// Tell where in a list the reader is.
  case read(FeedKind, at: PostID)
  /// Go to the beginning of a list.
  case showFirst(FeedKind)
  /// Follow a post and its comments.
  case open(PostID)
  /// No longer follow a post.
  case close(PostID)
  /// Write a post, and tell its key with ``Event/posted(_:)``.
  case post(title: String, body: String)
  /// Write a comment, and tell its key with ``Event/commented(_:commentID:)``.
  case comment(PostID, text: String)
  /// Star (true) or unstar (false) a post.
  case star(PostID, Bool)
  /// Change a post of mine.
  case edit(PostID, title: String, body: String)
  /// Change a comment of mine.
  case editComment(PostID, commentID: String, text: String)
  /// Tell the newest comments on these posts, and on no others.
  case watchComments([PostID])
  /// Note that a post was read, or is to be read again.
  case mark(PostID, ReadState.Mark)
  /// Count everything up to now as read.
  case markAllRead
  /// Tell others whether I am writing a comment.
  case typing(PostID, Bool)
  /// Tell of what others do to my posts, or no longer.
  case hearNotices(Bool)
  /// Call the user, who may be looking elsewhere.
  case notify(String)
  /// Delete a post of mine.
  case deletePost(PostID)
  /// Delete a comment of mine.
  case deleteComment(PostID, commentID: String)
  /// Draw every cell again.
  case redraw
  /// Stop the process, as the suspend key does.
  case suspend
  /// Ring the bell of the terminal.
  case bell
  /// Leave.
  case quit
  /// Leave, so that the user can be someone else.
  case changeAccount
  /// Take a draft to the editor of the environment; ``Event/edited(_:)`` brings it back.
  case editExternally(Draft)
  /// Put a text into the clipboard of the terminal.
  case copy(String)
  /// Open a link with the program of the environment.
  case openLink(String)
  /// Write a text to a file.
  case write(String, file: String)
  /// Keep the lines that were typed into the command line.
  case keepHistory([String])
  /// Keep a value in the configuration file.
  case keepSetting(Setting, SettingValue)
  /// Use the terminal as the settings say.
  case configureTerminal(Settings)
  /// Connect to the database (true), or stay without a connection (false).
  case network(Bool)
  /// Begin or end to watch what goes over the wire.
  case watchWire(Bool)
}
