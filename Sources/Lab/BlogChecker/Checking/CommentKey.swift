import RealtimeCore

/// The place of a comment.
struct CommentKey: Hashable, Sendable {
  let post: String
  let comment: String

  init(_ post: String, _ comment: String) {
    self.post = post
    self.comment = comment
  }

  var path: Path { Path([.postComments, ChildKey(post), ChildKey(comment)]) }
}
