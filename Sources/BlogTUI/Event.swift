package import BlogModel
package import TerminalUI

/// Something that the screens have to take notice of.
package enum Event: Equatable, Sendable {
  /// The program begins.
  case started
  /// The user did something, or the terminal has a new size.
  case key(KeyEvent)
  /// Something happened to the blog.
  case blog(BlogEvent)
  /// The time is now this, in milliseconds since 1970 by the server's clock.
  case tick(now: Int64)
  /// The post of an ``Effect/post(title:body:)`` has this key.
  case posted(PostID)
  /// The comment of an ``Effect/comment(_:text:)`` has this key.
  case commented(PostID, commentID: String)
  /// The program was stopped and goes on.
  case resumed
}
