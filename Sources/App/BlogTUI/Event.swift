package import BlogModel

/// Something that the screens have to take notice of.
package enum Event: Equatable, Sendable, Codable {
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
  /// The draft of an ``Effect/editExternally(_:)`` is now this.
  case edited(Draft)
  /// Something outside went well; the text says what.
  case succeeded(String)
  /// Something outside went wrong; the text says what, why and what to do.
  case failed(String)
  /// The configuration was read, again or for the first time.
  case configured(Configuration)
  /// These happened on the wire.
  case wire([WireEvent])
  /// Do what a command says, as if it had been typed.
  case command(String)
}
