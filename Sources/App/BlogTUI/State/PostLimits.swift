import BlogModel

/// How long texts may be, as the rules of the database count: in UTF-16 code units.
enum PostLimits {
  /// The longest title.
  static let title = BlogBounds.title
  /// The longest text of a post.
  static let body = BlogBounds.body
  /// The longest comment.
  static let comment = BlogBounds.comment
  /// What an editor takes: far more than can be sent, so that no paste is cut.
  static let editor = 1_000_000

  /// What is wrong with a post; nil if it can be sent.
  static func problem(title: String, body: String) -> SafeText? {
    problem(titleCount: title.utf16.count, bodyCount: body.utf16.count)
  }

  /// What is wrong with a post whose parts are that long; nil if it can be sent.
  static func problem(titleCount: Int, bodyCount: Int) -> SafeText? {
    if titleCount > title {
      return "The title is " + SafeText(titleCount - title) + " characters too long."
    }
    if bodyCount > body {
      return "The text is " + SafeText(bodyCount - body) + " characters too long."
    }
    return nil
  }

  /// What is wrong with a comment; nil if it can be sent.
  static func problem(comment: String) -> String? {
    let excess = comment.utf16.count - self.comment
    return excess > 0
      ? "The comment is \(excess) characters too long. Shorten it, or post it." : nil
  }
}
