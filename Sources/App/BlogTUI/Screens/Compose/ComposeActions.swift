/// What keys do in the form in which a post is written.
enum ComposeActions {
  static let all: [BoundAction] = [
    BoundAction(
      .send,
      keys: ["^S", "^X"],
      in: [.compose],
      help: "post",
      hint: .init(2, "post"),
      perform: { $0.sendPost() }
    ),
    BoundAction(
      "switch-field",
      keys: ["Tab", "S-Tab"],
      in: [.compose],
      help: "title or text",
      hint: .init(4, "title/text"),
      change: { $0.composer?.switchField() }
    ),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.compose],
      help: "back; the text can be kept",
      hint: .init(3, "back"),
      change: { $0.leaveComposer() }
    ),
  ]
}
