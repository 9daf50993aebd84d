/// What keys do in a page of text.
enum PageActions {
  static let motions = BoundAction.motions(
    in: .help,
    hints: [.down: .init(3, "down"), .up: .init(4, "up"), .pageDown: .init(5, "page")]
  ) { model, motion in
    model.help?.scroll.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(
      .search,
      keys: ["/"],
      in: [.help],
      help: "search this page",
      hint: .init(2, "search"),
      change: { $0.help?.isSearching = true }
    ),
    BoundAction(
      .back,
      keys: ["?", "q", "Esc", "F1", "^C"],
      in: [.help],
      help: "back",
      hint: .init(1, "back"),
      change: { model in
        if model.help?.field.isEmpty == false {
          model.searchPage(for: "")
        } else {
          model.help = nil
        }
      }
    ),
    BoundAction(
      .send,
      keys: ["Enter", "^S"],
      in: [.find],
      help: "keep what fits",
      hint: .init(1, "keep"),
      change: { $0.help?.isSearching = false }
    ),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.find],
      help: "show the whole page",
      hint: .init(2, "all"),
      change: { model in
        model.help?.isSearching = false
        model.searchPage(for: "")
      }
    ),
  ]
}
