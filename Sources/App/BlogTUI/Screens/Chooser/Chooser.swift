import BlogModel

struct ChooserFrame: Hashable {
  /// The mark in front of the field.
  let prompt: Rect
  /// The field in which the filter is typed.
  let field: Rect
  let list: Rect
  /// The explanation of the selected item; empty if there is none.
  let note: Rect

  init(_ room: Rect, noteHeight: Int = 0) {
    let height = min(noteHeight, room.height / 2)
    let rows = Layout.rows([.fixed(1), .flexible, .fixed(height)], in: room)
    let columns = Layout.columns([.fixed(2), .flexible], in: rows[0])
    prompt = columns[0]
    field = columns[1]
    list = rows[1]
    note = rows[2].inset(rows: 0, columns: 1)
  }
}

extension Frame {
  /// The box of a chooser over the content; nil where a box would leave too little room.
  var box: Rect? {
    guard content.width >= 60, content.height >= 14 else { return nil }
    return content.centered(
      Size(width: min(content.width - 4, 90), height: min(content.height - 2, 22))
    )
  }
}

/// A picker for one of many items, filtered by typing a few letters.
package struct Chooser: Equatable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The actions and commands of the current context.
    case palette
    case settings
    case links
    case tags
    /// The people who are muted or blocked.
    case muted
    case searches
  }

  enum Choice: Hashable, Sendable {
    case action(Action)
    case command(String)
    case setting(Setting)
    case link(String)
    case tag(String)
    case unmute(Author)
    case unblock(Author)
    case search(String)
  }

  package struct Item: Hashable, Sendable {
    package let title: String
    /// The text to its right.
    package let detail: String
    let choice: Choice
    /// The keys of an action, which are also in its detail.
    var keys: String?
    /// Whether the user has chosen it before, while the program was running.
    var isRecent = false

    /// The name with which it can be typed exactly.
    var name: String? {
      switch choice {
      case .action(let action): action.name
      case .command(let name): name
      case .setting(let setting): setting.rawValue
      case .link, .tag, .unmute, .unblock, .search: nil
      }
    }
  }

  package let kind: Kind
  /// All items, including those that do not match.
  package private(set) var items: [Item]
  /// The filter that is typed.
  package private(set) var field = TextField(limit: 100)
  /// The indices of the matching items, best first.
  package internal(set) var list = ListView<Int>()
  /// The settings that are being tried out; nil for all other kinds.
  var trial: Trial?
  /// Whether the chooser is a box over the screen behind it.
  private(set) var floats = false

  init(_ kind: Kind, items: [Item]) {
    self.kind = kind
    self.items = items
    filter()
  }

  var selection: Item? {
    list.selection.flatMap { items.indices.contains($0) ? items[$0] : nil }
  }

  var selectedLink: String? {
    guard case .link(let link)? = selection?.choice else { return nil }
    return link
  }

  package var title: SafeText {
    switch kind {
    case .palette: "Commands"
    case .settings: "Settings"
    case .links: "Links"
    case .tags: "Tags"
    case .muted: "Muted and blocked"
    case .searches: "Saved searches"
    }
  }

  /// How the typed letters match the title of an item.
  package func match(_ item: Item) -> FuzzyMatch? {
    FuzzyMatch(field.text, in: item.title)
  }

  /// How the typed letters match an item's detail; nil if they match its title but not its name.
  func detailMatch(_ item: Item) -> FuzzyMatch? {
    match(item) == nil || nameRank(of: item) > 0 ? FuzzyMatch(field.text, in: item.detail) : nil
  }

  /// Whether the title contains the typed text literally.
  private func hasWords(_ item: Item) -> Bool {
    let typed = field.text.lowercased().trimmingBlanks
    return !typed.isEmpty && item.title.lowercased().contains(typed)
  }

  /// A rank that is higher if the item's name begins with the typed text, and highest if it is
  /// equal.
  private func nameRank(of item: Item) -> Int {
    let typed = field.text.lowercased().trimmingBlanks
    guard !typed.isEmpty, let name = item.name, name.hasPrefix(typed) else { return 0 }
    return name == typed ? 4 : 2
  }

  /// Replaces the items and keeps the index of the selected one.
  mutating func update(items new: [Item]) {
    let index = list.selectedIndex
    items = new
    filter()
    if let index { list.move(to: index) }
  }

  /// Lists the items that match the typed text, best first.
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

  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    if model.chooser?.kind == .settings { return model.clickSetting(row) }
    model.chooser?.list.select(row)
    return model.chooseItem()
  }

  func context(in session: Session) -> Context { kind == .settings ? .settings : .chooser }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    if session.type(key, into: &field) == .changed { filter() }
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    self.field.moveCursor(toColumn: offset.column)
  }

  mutating func resize(in session: Session) {
    floats = kind != .settings && Frame(session.size).box != nil
    let frame = frame(in: session)
    field.resize(to: frame.field.size)
    list.resize(to: frame.list.size)
  }

  var fillsContent: Bool { !floats }

  func draw(on painter: inout Painter) { painter.paint(self) }

  func drawOverlay(on painter: inout Painter) {
    if floats { painter.paintBox(of: self) }
  }

  func frame(in session: Session) -> ChooserFrame {
    let frame = Frame(session.size)
    if floats, let box = frame.box { return ChooserFrame(box.inset(rows: 1, columns: 1)) }
    guard kind == .settings else { return ChooserFrame(frame.content) }
    let width = frame.content.width - 2
    let height = Self.explanationHeight(in: session, width: width)
    return ChooserFrame(frame.content, noteHeight: height)
  }
}

extension Model {
  /// The open chooser, in front of everything except input lines and questions.
  package internal(set) var chooser: Chooser? {
    get { stack[Chooser.self] }
    _modify { yield &stack[Chooser.self] }
  }

  /// Opens the palette with all actions and commands of the current context, recent ones first.
  mutating func openPalette() {
    let context = commandContext
    var seen: Set<Action> = [.palette, .commandLine]
    let bindings = session.keys.bindings(in: context).filter { seen.insert($0.action).inserted }
    // Aligned keys need the width of a box.
    let isAligned = Frame(session.size).box != nil
    let width = isAligned ? bindings.map(\.action.name.count).max() ?? 0 : 0
    let actions = bindings.map { binding in
      let name = SafeText(untrusted: binding.action.name)
      let detail = binding.keys.isEmpty ? name : name.padded(to: width) + "  " + binding.keysText
      return Chooser.Item(
        title: binding.help.string,
        detail: detail.string,
        choice: .action(binding.action),
        keys: binding.keysText.string
      )
    }
    let names = Set(actions.compactMap(\.name))
    let commands = Command.all.filter { $0.name != Command.waitIdle && !names.contains($0.name) }
      .map {
        Chooser.Item(title: $0.help, detail: ":\($0.name)", choice: .command($0.name))
      }
    var items = actions + commands
    for name in session.commands.recent.reversed() {
      guard let index = items.firstIndex(where: { $0.name == name }) else { continue }
      var item = items.remove(at: index)
      item.isRecent = true
      items.insert(item, at: 0)
    }
    show(Chooser(.palette, items: items))
  }

  /// Shows the links of the selected comment or, without one, of the post and its comments.
  mutating func openLinks() {
    guard let post = postInView else { return }
    let comments = openPost?.comments.visible?.map(\.text) ?? []
    let texts = openPost?.selectedComment.map { [$0.text] } ?? [post.body, post.title] + comments
    var seen: Set<String> = []
    let links = texts.flatMap { Link.all(in: $0) }.filter { seen.insert($0.text).inserted }
    guard !links.isEmpty else {
      session.message = .notDone("No link here")
      return
    }
    let items = links.map {
      Chooser.Item(title: $0.text, detail: $0.host, choice: .link($0.text))
    }
    show(Chooser(.links, items: items))
  }

  /// Shows the tags of the selected post or comment; a single tag is opened at once.
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

  mutating func chooseItem() -> [Effect] {
    guard let kind = chooser?.kind, let item = chooser?.selection else { return [] }
    if kind == .palette, let name = item.name { session.commands.note(name) }
    // The settings stay open for other values.
    if kind != .settings { chooser = nil }
    switch item.choice {
    case .action(let action): return perform(action, in: commandContext)
    case .command(let name):
      guard let command = Command.named(name), command.needsArguments else { return run(name) }
      openCommandLine(name + " ")
      return []
    case .setting: return keepTrial()
    case .link(let link): return [.environment(.openLink(link))]
    case .tag(let tag): return showTag(tag)
    case .unmute(let person): return mute(person, false)
    case .unblock(let person): return block(person, false)
    case .search(let text): return closePost() + searchPosts(for: text)
    }
  }
}

enum ChooserActions {
  private static let both: Set<Context> = [.chooser, .settings]

  static let all: [BoundAction] = [
    BoundAction(.back, keys: ["Esc", "^C"], in: [.chooser], help: "back") { $0.chooser = nil }
      .hint("back", rank: 2),
    BoundAction(.send, keys: ["Enter"], in: [.chooser], help: "choose it") { $0.chooseItem() }
      .hint("choose", rank: 1),
    BoundAction(.previous, keys: ["Up", "^P"], in: both, help: "up") { $0.chooser?.list.move(.up) }
      .hint("up", rank: 6),
    BoundAction(.next, keys: ["Down", "^N", "Tab"], in: both, help: "down") {
      $0.chooser?.list.move(.down)
    }
    .hint("down", rank: 5),
    BoundAction("page-up", keys: ["PgUp"], in: both, help: "a page up") {
      $0.chooser?.list.move(.pageUp)
    },
    BoundAction("page-down", keys: ["PgDn"], in: both, help: "a page down") {
      $0.chooser?.list.move(.pageDown)
    },
    BoundAction(.copy, keys: ["Alt-c"], in: [.chooser], help: "copy the link") { model in
      guard let link = model.chooser?.selectedLink else { return [] }
      model.chooser = nil
      model.session.message = .note("Copied")
      return [.terminal(.copy(link))]
    }
    .unless { $0.chooser?.selectedLink == nil ? .nothingThere : nil },
  ]
}
