package import BlogModel

/// Something I did that can be taken back.
package enum Change: Hashable, Sendable {
  /// A star was given (true) or taken back.
  case star(PostID, Bool)
  /// A post was changed; this is what it was before.
  case edit(PostID, title: String, body: String)
  /// A comment was changed; this is what it was before.
  case editComment(PostID, commentID: String, text: String)
  /// Something is about to disappear.
  case deletion(Deletion.Subject)
}
