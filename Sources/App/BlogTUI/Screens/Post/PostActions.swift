import BlogModel

/// What keys do in an open post.
enum PostActions {
  static let motions = BoundAction.motions(
    in: .post,
    hints: [.pageDown: .init(6, "page")]
  ) { model, motion in
    model.openPost?.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(
      .comment,
      keys: ["c", "r", "i", "Enter", "Tab"],
      in: [.post],
      help: "comment",
      hint: .init(3, "comment"),
      change: { $0.openPost?.isWriting = true }
    ),
    BoundAction(
      .back,
      keys: ["q", "Esc", "h", "Left", "^C"],
      in: [.post],
      help: "back to the list",
      hint: .init(2, "back"),
      perform: { $0.closePost() }
    ),
  ]
}

/// What keys do while a comment is written.
enum CommentActions {
  static let all: [BoundAction] = [
    BoundAction(
      .send,
      keys: ["Enter", "^S", "^X"],
      in: [.comment],
      help: "send the comment",
      hint: .init(2, "send"),
      unless: { $0.obstacleToComment },
      perform: { $0.sendComment() }
    ),
    BoundAction(
      .back,
      keys: ["Esc", "^C", "Tab"],
      in: [.comment],
      help: "back; the text stays",
      hint: .init(3, "back, the text stays"),
      perform: { $0.leaveComment() }
    ),
  ]
}
