/// What keys do while something is chosen.
enum ChooserActions {
  static let all: [BoundAction] = [
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.chooser],
      help: "back",
      hint: .init(2, "back"),
      change: { $0.chooser = nil }
    ),
    BoundAction(
      .send,
      keys: ["Enter"],
      in: [.chooser],
      help: "take it",
      hint: .init(1, "take it"),
      perform: { $0.chooseItem() }
    ),
    BoundAction(
      .previous,
      keys: ["Up", "^P"],
      in: [.chooser],
      help: "up",
      hint: .init(4, "up"),
      change: { $0.chooser?.list.move(.up) }
    ),
    BoundAction(
      .next,
      keys: ["Down", "^N", "Tab"],
      in: [.chooser],
      help: "down",
      hint: .init(3, "down"),
      change: { $0.chooser?.list.move(.down) }
    ),
    BoundAction(
      "page-up",
      keys: ["PgUp"],
      in: [.chooser],
      help: "a page up",
      change: { $0.chooser?.list.move(.pageUp) }
    ),
    BoundAction(
      "page-down",
      keys: ["PgDn"],
      in: [.chooser],
      help: "a page down",
      change: { $0.chooser?.list.move(.pageDown) }
    ),
    BoundAction(
      .copy,
      keys: ["Alt-c"],
      in: [.chooser],
      help: "copy the link",
      unless: { $0.chooser?.selectedLink == nil ? .nothingThere : nil },
      perform: { model in
        guard let link = model.chooser?.selectedLink else { return [] }
        model.chooser = nil
        model.session.message = .note("Copied.")
        return [.copy(link)]
      }
    ),
  ]
}
