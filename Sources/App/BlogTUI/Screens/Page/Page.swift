/// A page of text in front of the content: the table of keys, the messages, a report.
package struct Page: Equatable, Sendable {
  enum Content: Equatable, Sendable {
    /// The few keys that one needs in a context.
    case fewKeys(Context)
    /// All keys, starting with those of a context.
    case keys(Context)
    case text([Paragraph])
    case people([Paragraph])
    case tries(TransactionTries)
  }

  struct Paragraph: Equatable, Sendable {
    let text: SafeText
    var isHeading = false
  }

  package private(set) var title: SafeText
  private(set) var content: Content
  /// The scroll position and the lines, which include headings.
  package internal(set) var scroll = ScrollView()
  /// The indices of the lines that are headings.
  package private(set) var headings: Set<Int> = []
  /// The text to search for in the page; only lines that contain it are shown.
  package private(set) var field = TextField(limit: 100)
  /// Whether keys are typed into the search.
  package internal(set) var isSearching = false

  /// Makes a page; it has no lines before ``layout(keys:size:glyphs:)``.
  init(title: SafeText, content: Content, search: String = "") {
    self.title = title
    self.content = content
    field.setText(search)
  }

  /// Rebuilds the lines.
  mutating func layout(keys: KeyTable, size: Size, glyphs: GlyphSet) {
    var sections: [(heading: SafeText?, rows: [SafeText])] = []
    let needle = field.text.lowercased()
    switch content {
    case .fewKeys(let context):
      sections = Self.fewKeys(of: keys, in: context, width: size.width)
    case .keys(let context):
      sections = Self.sections(of: keys, from: context, with: needle, width: size.width)
    case .text(let paragraphs), .people(let paragraphs):
      for paragraph in paragraphs {
        if paragraph.isHeading {
          sections.append((paragraph.text, []))
        } else {
          if sections.isEmpty { sections.append((nil, [])) }
          sections[sections.count - 1].rows += paragraph.text.wrapped(width: size.width)
        }
      }
    case .tries(let tries):
      sections = tries.sections(width: size.width, glyphs: glyphs)
    }
    var lines: [SafeText] = []
    headings = []
    for (heading, rows) in sections {
      let isWhole = needle.isEmpty || heading?.string.lowercased().contains(needle) == true
      let shown = isWhole ? rows : rows.filter { $0.string.lowercased().contains(needle) }
      guard !shown.isEmpty || isWhole else { continue }
      if !lines.isEmpty { lines.append(.empty) }
      if let heading {
        headings.insert(lines.count)
        lines.append(heading)
      }
      lines += shown
    }
    scroll.update(lines: lines)
    scroll.resize(to: size)
  }

  /// The number of keys on the first page.
  private static let fewKeys = 10

  /// The keys that one needs in a context, and how to get to the others.
  private static func fewKeys(
    of keys: KeyTable,
    in context: Context,
    width: Int
  ) -> [(heading: SafeText?, rows: [SafeText])] {
    let bindings = keys.bindings(in: context).filter { !$0.keys.isEmpty }
    var seen: Set<Action> = [.help]
    let names = (ActionTable.essentials[context] ?? []) + bindings.map(\.action)
    let chosen = names.filter { seen.insert($0).inserted }.compactMap { name in
      bindings.first { $0.action == name }
    }
    .prefix(fewKeys)
    let firsts = chosen.map { SafeText(untrusted: $0.keys[0].description) }
    let columns = Columns(width: width, narrowest: 34)
    let column = min(firsts.map(\.width).max() ?? 0, max(8, columns.width / 3))
    let items = zip(firsts, chosen).map { first, binding in
      rows(first, help: binding.help, column: column, width: columns.width)
    }
    let others =
      (keys.keyText(for: .allKeys, in: .help) ?? ":keys") + " shows all keys and commands; "
      + (keys.keyText(for: .palette, in: context) ?? ":palette") + " finds one by a few letters."
    return [(context.title, columns.arranged(items)), (nil, others.wrapped(width: width))]
  }

  private static func sections(
    of keys: KeyTable,
    from context: Context,
    with needle: String,
    width: Int
  ) -> [(heading: SafeText?, rows: [SafeText])] {
    let contexts = [context] + Context.allCases.filter { $0 != context }
    let names = Context.allCases.flatMap { keys.bindings(in: $0) }.map { Self.keys(of: $0).width }
    let columns = Columns(width: width, narrowest: 56)
    let column = min(names.max() ?? 0, max(8, columns.width / 3))
    var sections = contexts.map { context in
      let items = keys.bindings(in: context).map { (Self.keys(of: $0), $0.help) }
      return (heading: context.title, items: items)
    }
    let commands = Command.all.map { command in
      let name = SafeText(untrusted: ":\(command.name) \(command.arguments)")
      return (name, SafeText(untrusted: command.help))
    }
    sections.append(("Commands, in addition to the names of all actions", commands))
    return sections.compactMap { heading, items in
      let isWhole = needle.isEmpty || heading.string.lowercased().contains(needle)
      let rows = items.map { Self.rows($0.0, help: $0.1, column: column, width: columns.width) }
      let shown = rows.filter { lines in
        isWhole || lines.contains { $0.string.lowercased().contains(needle) }
      }
      return shown.isEmpty ? nil : (heading, columns.arranged(shown))
    }
  }

  /// Shows other people, or the same ones at something else, and keeps the place.
  mutating func show(people: [Paragraph], in session: Session) {
    guard content != .people(people) else { return }
    content = .people(people)
    resize(in: session)
  }

  /// Turns the few keys into all of them.
  mutating func showAllKeys(in session: Session) {
    guard case .fewKeys(let context) = content else { return }
    content = .keys(context)
    title = "All keys"
    scroll = ScrollView()
    resize(in: session)
  }

  /// The keys of a row; without any, the action as a command.
  private static func keys(of binding: KeyBinding) -> SafeText {
    binding.keys.isEmpty ? SafeText(untrusted: ":" + binding.action.name) : binding.keysText
  }

  /// Lays out keys on the left and their meaning on the right, each wrapped in its column.
  private static func rows(
    _ keys: SafeText,
    help: SafeText,
    column: Int,
    width: Int
  ) -> [SafeText] {
    let names = keys.wrapped(width: column)
    let texts = help.wrapped(width: max(4, width - column - 2))
    return (0..<max(names.count, texts.count)).map { row in
      let name = row < names.count ? names[row] : .empty
      return name.padded(to: column) + "  " + (row < texts.count ? texts[row] : .empty)
    }
  }
}

/// Columns of equal width, as many as there is room for, filled one after the other.
private struct Columns {
  private static let gap = 3
  private static let most = 3

  private let count: Int
  let width: Int

  init(width: Int, narrowest: Int) {
    count = max(1, min(Self.most, (width + Self.gap) / (narrowest + Self.gap)))
    self.width = (width - (count - 1) * Self.gap) / count
  }

  /// The lines of items side by side; an item stays in one column.
  func arranged(_ items: [[SafeText]]) -> [SafeText] {
    let height = (items.reduce(0) { $0 + $1.count } + count - 1) / count
    var columns: [[SafeText]] = [[]]
    for item in items {
      let isFull = (columns.last?.count ?? 0) + (item.count + 1) / 2 > height
      if isFull, columns.count < count { columns.append([]) }
      columns[columns.count - 1] += item
    }
    let blanks = SafeText(repeating: .space, count: Self.gap)
    return (0..<(columns.map(\.count).max() ?? 0)).map { row in
      let last = columns.lastIndex { $0.count > row } ?? 0
      return columns[...last].enumerated().map { number, lines in
        let line = row < lines.count ? lines[row] : .empty
        return number == last ? line : line.padded(to: width) + blanks
      }
      .reduce(.empty) { $0 + $1 }
    }
  }
}

// MARK: The screen

extension Page: AppScreen {
  static let layer = ScreenLayer.page

  func context(in session: Session) -> Context { isSearching ? .find : .help }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    guard isSearching else { return .ignored }
    if session.type(key, into: &field) == .changed { resize(in: session) }
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    self.field.moveCursor(toColumn: offset.column)
  }

  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] {
    scroll.scroll(to: scroll.top + wheelStep * direction)
    return []
  }

  mutating func resize(in session: Session) {
    layout(keys: session.keys, size: Frame(session.size).page.size, glyphs: session.glyphs)
  }

  /// Shows only the lines that contain the text.
  mutating func search(for text: String, in session: Session) {
    field.setText(text)
    resize(in: session)
  }

  func draw(on painter: inout Painter) { painter.paint(self) }

  func drawFooter(on painter: inout Painter) {
    if isSearching { painter.paintSearch(of: self) } else { painter.paintHints() }
  }
}

extension Model {
  /// The open page of text, in front of everything except choosers, input lines and questions.
  package internal(set) var help: Page? {
    get { stack[Page.self] }
    _modify { yield &stack[Page.self] }
  }

  mutating func show(_ page: Page) {
    help = page
    relayout()
  }

  mutating func searchPage(for text: String) {
    stack[Page.self]?.search(for: text, in: session)
  }

  /// Shows the keys that one needs in the current context.
  mutating func openHelp() {
    let context = stack.screen(below: Page.layer).context(in: session)
    show(Page(title: "Keys", content: .fewKeys(context)))
  }

  /// Shows all keys, starting with those of the current context.
  mutating func openAllKeys(search: String = "") {
    let context = stack.screen(below: Page.layer).context(in: session)
    show(Page(title: "All keys", content: .keys(context), search: search))
  }

  mutating func showAllKeys() {
    stack[Page.self]?.showAllKeys(in: session)
  }

  /// Shows all messages so far, newest first.
  mutating func openMessages() {
    let glyphs = session.glyphs
    let paragraphs = session.messages.entries.reversed().map { entry in
      let sign = entry.message.kind == .failure ? glyphs.cross : glyphs.bullet
      let time = SafeText(untrusted: Clock.text(entry.time))
      return Page.Paragraph(text: time + " " + sign + " " + entry.message.text)
    }
    show(Page(title: "Messages", content: .text(paragraphs)))
  }
}

enum PageActions {
  static let motions = BoundAction.motions(
    in: .help,
    hints: [
      .down: ("down", 4), .up: ("up", 5), .pageDown: ("page", 6),
    ]
  ) { model, motion in
    model.help?.scroll.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(.search, keys: ["/"], in: [.help], help: "search this page") {
      model -> Void in
      // Where only a few keys are shown, all are searched.
      model.showAllKeys()
      model.help?.isSearching = true
    }
    .hint("search", rank: 3),
    BoundAction(.allKeys, keys: ["Enter"], in: [.help], help: "all keys and commands") {
      $0.showAllKeys()
    }
    .hint("all keys", rank: 2)
    .unless { if case .fewKeys? = $0.help?.content { nil } else { .nothingThere } },
    BoundAction(.back, keys: ["?", "q", "Esc", "F1", "^C"], in: [.help], help: "back") { model in
      if model.help?.field.isEmpty == false {
        model.searchPage(for: "")
      } else {
        model.help = nil
      }
    }
    .hint("back", rank: 1),
    BoundAction(.send, keys: ["Enter", "^S"], in: [.find], help: "keep what fits") {
      $0.help?.isSearching = false
    }
    .hint("keep", rank: 1),
    BoundAction(.back, keys: ["Esc", "^C"], in: [.find], help: "show the whole page") {
      model -> Void in
      model.help?.isSearching = false
      model.searchPage(for: "")
    }
    .hint("all", rank: 2),
  ]
}

extension Painter {
  /// Paints the lines of a page that are in view, and how much there is above and below.
  mutating func paint(_ page: Page) {
    screen.put(" " + page.title, at: frame.header.origin, style: theme.brand, clip: frame.header)
    paintPlace(in: page.scroll, after: page.title.width + 2)
    let room = frame.page
    screen.cursor = room.origin
    for (offset, number) in page.scroll.visibleRange.enumerated() {
      let row = room.line(offset)
      let style = page.headings.contains(number) ? theme.title : theme.text
      screen.put(page.scroll.lines[number], at: row.origin, style: style, clip: row)
    }
    guard page.scroll.lines.isEmpty else { return }
    let key = SafeText(untrusted: session.key(.back, in: .find))
    let none = page.field.isEmpty ? "Nothing yet." : "No match; " + key + " shows everything"
    put(none, in: room, style: theme.dim)
  }

  /// Paints the scroll position of a text at the right of the header.
  mutating func paintPlace(in scroll: ScrollView, after column: Int) {
    let last = scroll.visibleRange.upperBound
    let total = scroll.lines.count
    var mark = SafeText.empty
    if scroll.top > 0 { mark.append(isASCII ? "^" : "▲") }
    if last < total { mark.append(isASCII ? "v" : "▼") }
    let text = mark + " " + SafeText(last) + "/" + SafeText(total) + " "
    let room = frame.header.cut(left: column)
    put(text, in: room, style: theme.dim, aligned: .trailing)
  }

  mutating func paintSearch(of page: Page) {
    paintLine(
      page.field,
      of: Page.self,
      after: "/",
      placeholder: "type to filter",
      isFocused: model.context == .find
    )
  }
}
