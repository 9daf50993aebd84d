import BlogModel

/// The drafts: posts and comments that were typed and not sent, one in each row.
struct DraftsScreen: RowScreen {
  static let layer = ScreenLayer.page

  typealias Item = Unsent.Item

  /// The rows, identified by the indices of the items.
  var list = ListView<Int>()
  fileprivate(set) var items: [Item] = []

  init(_ session: Session) {
    update(session)
    resize(in: session)
  }

  /// A click selects a row; a click on the selected row continues that draft.
  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    if model.stack[DraftsScreen.self]?.list.selection == row { return model.openDraft() }
    model.stack[DraftsScreen.self]?.list.select(row)
    return []
  }

  fileprivate mutating func update(_ session: Session) {
    items = session.writing.unsent.items
    list.update(ids: Array(items.indices))
  }

  func context(in session: Session) -> Context { .drafts }

  func draw(on painter: inout Painter) { painter.paint(self) }
}

extension Context {
  static let drafts = Context("drafts", title: "In the drafts")
}

extension Model {
  private var selectedDraft: DraftsScreen.Item? {
    guard let screen = stack[DraftsScreen.self], let number = screen.list.selection else {
      return nil
    }
    return screen.items[number]
  }

  /// Continues a draft: a post in its form, a comment on its post.
  fileprivate mutating func openDraft() -> [Effect] {
    guard let item = selectedDraft else { return [] }
    stack[DraftsScreen.self] = nil
    switch item {
    case .post(let draft):
      session.writing.unsent.remove(item)
      return compose(draft)
    case .comment(let post, _):
      let effects = closePost()
      // The post opens with the draft that is offered first.
      session.writing.unsent.remove(item)
      session.writing.unsent.keep(item)
      let opening = open(post)
      openPost?.line.isWriting = true
      return effects + opening
    }
  }

  fileprivate mutating func removeDraft() {
    guard let item = selectedDraft else { return }
    session.writing.unsent.remove(item)
    session.writing.add(.discarded(item))
    stack[DraftsScreen.self]?.update(session)
    let key = session.key("undo", in: .drafts)
    session.message = .note("The draft is discarded; \(key) brings it back")
  }

  fileprivate mutating func restoreDraft() -> [Effect] {
    let effects = undo()
    stack[DraftsScreen.self]?.update(session)
    session.message = .note("The draft is back")
    return effects
  }
}

enum DraftsActions {
  static let motions = BoundAction.motions(in: .drafts) { model, motion in
    model.stack[DraftsScreen.self]?.list.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(
      "drafts",
      keys: ["C"],
      in: [.list, .post, .notices],
      help: "posts and comments that were not sent"
    ) { $0.stack[DraftsScreen.self] = DraftsScreen($0.session) }
    .unless { model in
      model.session.writing.unsent.isEmpty ? .note("There are no drafts") : nil
    },
    BoundAction(.open, keys: ["Enter", "l", "Right"], in: [.drafts], help: "go on writing") {
      $0.openDraft()
    }
    .hint("go on", rank: 2)
    .unless { $0.stack[DraftsScreen.self]?.list.selection == nil ? .nothingThere : nil },
    BoundAction(.delete, keys: ["d"], in: [.drafts], help: "throw the draft away") {
      $0.removeDraft()
    }
    .hint("throw away", rank: 4)
    .unless { $0.stack[DraftsScreen.self]?.list.selection == nil ? .nothingThere : nil },
    BoundAction("undo", keys: ["u"], in: [.drafts], help: "bring the last one back") {
      $0.restoreDraft()
    }
    .unless { model in
      // Other changes are not undone where they cannot be seen.
      if case .discarded? = model.session.writing.undoable.last { return nil }
      return .note("Nothing to undo")
    },
    BoundAction(.back, keys: ["q", "Esc", "h", "Left", "C", "^C"], in: [.drafts], help: "back") {
      $0.stack[DraftsScreen.self] = nil
    }
    .hint("back", rank: 3),
  ]
}

extension Painter {
  fileprivate mutating func paint(_ drafts: DraftsScreen) {
    screen.put(" Drafts", at: frame.header.origin, style: theme.brand, clip: frame.header)
    if drafts.items.isEmpty { paintNoDrafts() }
    for row in drafts.list.rows(in: frame.page) {
      beginRow(row, of: DraftsScreen.self, number: row.id)
      paint(drafts.items[row.id], isSelected: row.isSelected, in: row.rect)
      if row.isSelected { paintSelection(at: row.rect) }
    }
  }

  private mutating func paint(_ item: DraftsScreen.Item, isSelected: Bool, in rect: Rect) {
    let style = theme.style(theme.text, isSelected: isSelected)
    let first: SafeText
    let second: SafeText
    switch item {
    case .post(let draft):
      let title = SafeText(untrusted: draft.title, limit: 200)
      first =
        (draft.editing == nil ? "Post: " : "Edit of the post: ")
        + (title.isEmpty ? "(no title)" : title)
      second = draft.problem.map { SafeText(untrusted: $0, limit: 300) } ?? excerpt(draft.body)
    case .comment(let post, let draft):
      let title = model.knownPost(post)?.title ?? "a post that is not loaded"
      let what: SafeText
      if let answered = draft.answered {
        let name = session.shownName(of: answered.writer)
        what = "Answer to " + name + " on "
      } else if draft.editing != nil {
        what = "Edit of a comment on "
      } else {
        what = "Comment on "
      }
      first = what + SafeText(untrusted: title, limit: 200)
      second = excerpt(draft.text)
    }
    let line = rect.line(0)
    let heading = line.cut(left: 1)
    guard rect.height > 1 else {
      let text = second.isEmpty ? first : first + separator + second
      return _ = put(text, in: heading, style: style)
    }
    put(first, in: heading, style: style)
    let below = rect.line(1).cut(left: 3)
    put(second, in: below, style: isSelected ? style : theme.dim)
  }

  private func excerpt(_ text: String) -> SafeText {
    Markup.excerpt(of: text, limit: 300, bullet: glyphs.bullet)
  }
}
