import BlogModel

/// Where the parts of a choice are.
struct ChooserFrame: Hashable {
  /// The mark before the field.
  let prompt: Rect
  /// What is typed.
  let field: Rect
  /// The things to choose.
  let list: Rect
  /// What is said about the selected one; empty where nothing is.
  let note: Rect

  init(_ frame: Frame, noteHeight: Int = 0) {
    let height = min(noteHeight, frame.content.height / 2)
    let rows = Layout.rows([.fixed(1), .flexible(1), .fixed(height)], in: frame.content)
    let columns = Layout.columns([.fixed(2), .flexible(1)], in: rows[0])
    prompt = columns[0]
    field = columns[1]
    list = rows[1]
    note = rows[2].inset(rows: 0, columns: 1)
  }
}

/// A choice between many items, narrowed by typing a few letters.
package struct Chooser: Equatable, Sendable {
  /// What is chosen between.
  package enum Kind: Hashable, Sendable {
    /// Commands.
    case palette
    case settings
    /// Links of a post, and its tags.
    case links
    /// The tags of a post.
    case tags
  }

  /// What choosing an item does.
  enum Choice: Hashable, Sendable {
    case action(Action)
    case command(String)
    case setting(Setting)
    case link(String)
    case tag(String)
  }

  /// One thing to choose.
  package struct Item: Hashable, Sendable {
    /// What it is called.
    package let title: String
    /// What is shown at its right.
    package let detail: String
    let choice: Choice

    /// The name by which it can be typed exactly.
    var name: String? {
      switch choice {
      case .action(let action): action.name
      case .command(let name): name
      case .setting(let setting): setting.rawValue
      case .link, .tag: nil
      }
    }
  }

  /// What is chosen between.
  package let kind: Kind
  /// Everything there is.
  package private(set) var items: [Item]
  /// What is typed.
  package private(set) var field = TextField(limit: 100)
  /// The numbers of the items that fit, best first.
  package internal(set) var list = ListView<Int>()
  /// The settings that are tried out; nil where something else is chosen.
  var trial: Trial?

  init(_ kind: Kind, items: [Item]) {
    self.kind = kind
    self.items = items
    filter()
  }

  /// The selected item.
  var selection: Item? {
    list.selection.flatMap { items.indices.contains($0) ? items[$0] : nil }
  }

  var selectedLink: String? {
    guard case .link(let link)? = selection?.choice else { return nil }
    return link
  }

  /// The heading.
  package var title: SafeText {
    switch kind {
    case .palette: "Commands"
    case .settings: "Settings"
    case .links: "Links"
    case .tags: "Tags"
    }
  }

  /// How the typed letters fit a title.
  package func match(_ item: Item) -> FuzzyMatch? {
    FuzzyMatch(field.text, in: item.title)
  }

  /// How the typed letters fit what is shown beside a title, where they do not fit the title.
  func detailMatch(_ item: Item) -> FuzzyMatch? {
    match(item) == nil || nameRank(of: item) > 0 ? FuzzyMatch(field.text, in: item.detail) : nil
  }

  /// Whether what was typed stands in the title as it is.
  private func hasWords(_ item: Item) -> Bool {
    let typed = field.text.lowercased().trimmingBlanks
    return !typed.isEmpty && item.title.lowercased().contains(typed)
  }

  /// Whether the name of an item is what was typed, or begins with it.
  private func nameRank(of item: Item) -> Int {
    let typed = field.text.lowercased().trimmingBlanks
    guard !typed.isEmpty, let name = item.name, name.hasPrefix(typed) else { return 0 }
    return name == typed ? 4 : 2
  }

  /// Shows other items under the same number.
  mutating func update(items new: [Item]) {
    let index = list.selectedIndex
    items = new
    filter()
    if let index { list.move(to: index) }
  }

  /// Shows what fits what was typed, best first.
  private mutating func filter() {
    let fitting = items.indices.compactMap { index -> (index: Int, rank: Int, score: Int)? in
      let item = items[index]
      let rank = nameRank(of: item) + (hasWords(item) ? 1 : 0)
      if let match = match(item) { return (index, rank, match.score) }
      return FuzzyMatch(field.text, in: item.detail).map { (index, rank, $0.score - 100) }
    }
    let order =
      field.isEmpty
      ? fitting
      : fitting.sorted { ($1.rank, $1.score, $0.index) < ($0.rank, $0.score, $1.index) }
    list.update(ids: order.map(\.index))
    list.move(to: 0)
  }
}

// MARK: The screen

extension Chooser: RowScreen {
  static let layer = ScreenLayer.chooser

  /// A click on an item chooses it.
  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    if model.chooser?.kind == .settings { return model.clickSetting(row) }
    model.chooser?.list.select(row)
    return model.chooseItem()
  }

  func context(in session: Session) -> Context { kind == .settings ? .settings : .chooser }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    if field.handle(key) == .changed { filter() }
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    self.field.moveCursor(toColumn: offset.column)
  }

  mutating func resize(in session: Session) {
    let frame = frame(in: session)
    field.resize(to: frame.field.size)
    list.resize(to: frame.list.size)
  }

  func draw(on painter: inout Painter) { painter.paint(self) }

  /// Where the parts are.
  func frame(in session: Session) -> ChooserFrame {
    let frame = Frame(session.size)
    guard kind == .settings else { return ChooserFrame(frame) }
    let width = frame.content.width - 2
    return ChooserFrame(frame, noteHeight: Self.explanationHeight(in: session, width: width))
  }
}

extension Model {
  /// A choice between many things, in front of everything but lines and questions.
  package internal(set) var chooser: Chooser? {
    get { stack[Chooser.self] }
    _modify { yield &stack[Chooser.self] }
  }

  /// Opens the palette with all actions and commands of the current context.
  mutating func openPalette() {
    let context = commandContext
    var seen: Set<Action> = [.palette, .commandLine]
    let actions = session.keys.bindings(in: context).filter { seen.insert($0.action).inserted }.map
    {
      let keys = $0.keysText.string
      return Chooser.Item(
        title: $0.help.string,
        detail: keys.isEmpty ? $0.action.name : "\($0.action.name)  \(keys)",
        choice: .action($0.action)
      )
    }
    let names = Set(actions.compactMap(\.name))
    let commands = Command.all.filter { $0.name != Command.waitIdle && !names.contains($0.name) }
      .map {
        Chooser.Item(title: $0.help, detail: ":\($0.name)", choice: .command($0.name))
      }
    show(Chooser(.palette, items: actions + commands))
  }

  /// Shows the open a link of the post or comment that is selected.
  mutating func openLinks() {
    guard let post = postInView else { return }
    let comments = openPost?.comments?.map(\.text) ?? []
    let texts = openPost?.selectedComment.map { [$0.text] } ?? [post.body, post.title] + comments
    var seen: Set<String> = []
    let links = texts.flatMap { Link.all(in: $0) }.filter { seen.insert($0.text).inserted }
    guard !links.isEmpty else {
      session.message = .note("No link here")
      return
    }
    let items = links.map {
      Chooser.Item(title: $0.text, detail: $0.host, choice: .link($0.text))
    }
    show(Chooser(.links, items: items))
  }

  /// Shows the tags of the post or comment that is selected; a single one needs no choice.
  mutating func chooseTag() -> [Effect] {
    let tags = tagsInView
    if tags.count == 1 { return showTag(tags[0]) }
    let items = tags.map { Chooser.Item(title: "#" + $0, detail: "", choice: .tag($0)) }
    show(Chooser(.tags, items: items))
    return []
  }

  mutating func show(_ new: Chooser) {
    chooser = new
    relayout()
  }

  /// Does what the selected item stands for.
  mutating func chooseItem() -> [Effect] {
    guard let item = chooser?.selection else { return [] }
    switch item.choice {
    case .action(let action):
      chooser = nil
      return perform(action, in: commandContext)
    case .command(let name):
      chooser = nil
      guard let command = Command.named(name), command.needsArguments else { return run(name) }
      openCommandLine(name + " ")
      return []
    case .setting: return keepTrial()
    case .link(let link):
      chooser = nil
      return [.openLink(link)]
    case .tag(let tag):
      chooser = nil
      return showTag(tag)
    }
  }
}

/// The actions of a choice.
enum ChooserActions {
  private static let both: Set<Context> = [.chooser, .settings]

  static let all: [BoundAction] = [
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.chooser],
      help: "back",
      hint: .init("back", rank: 2),
      change: { $0.chooser = nil }
    ),
    BoundAction(
      .send,
      keys: ["Enter"],
      in: [.chooser],
      help: "choose it",
      hint: .init("choose", rank: 1),
      perform: { $0.chooseItem() }
    ),
    BoundAction(
      .previous,
      keys: ["Up", "^P"],
      in: both,
      help: "up",
      hint: .init("up", rank: 6),
      change: { $0.chooser?.list.move(.up) }
    ),
    BoundAction(
      .next,
      keys: ["Down", "^N", "Tab"],
      in: both,
      help: "down",
      hint: .init("down", rank: 5),
      change: { $0.chooser?.list.move(.down) }
    ),
    BoundAction(
      "page-up",
      keys: ["PgUp"],
      in: both,
      help: "a page up",
      change: { $0.chooser?.list.move(.pageUp) }
    ),
    BoundAction(
      "page-down",
      keys: ["PgDn"],
      in: both,
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
        model.session.message = .note("Copied")
        return [.copy(link)]
      }
    ),
  ]
}
