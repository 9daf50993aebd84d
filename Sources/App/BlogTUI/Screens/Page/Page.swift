import BlogModel

/// A page of text in front of the content: the table of keys, the messages, a report.
package struct Page: Equatable, Sendable {
  /// What the page shows.
  enum Content: Equatable, Sendable {
    /// The keys, starting with those of a context.
    case keys(Context)
    /// Headings and paragraphs.
    case text([Paragraph])
    /// The tries of a transaction.
    case tries(TransactionTries)
  }

  /// A heading or a paragraph.
  struct Paragraph: Equatable, Sendable {
    let text: SafeText
    let isHeading: Bool
  }

  /// The heading of the page.
  package let title: SafeText
  /// What the page shows.
  let content: Content
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
    switch content {
    case .keys(let context):
      sections = Self.sections(of: keys, startingWith: context, width: size.width)
    case .text(let paragraphs):
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
    let needle = field.text.lowercased()
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

  private static func sections(
    of keys: KeyTable,
    startingWith context: Context,
    width: Int
  ) -> [(heading: SafeText?, rows: [SafeText])] {
    let contexts = [context] + Context.allCases.filter { $0 != context }
    let names = Context.allCases.flatMap { keys.bindings(in: $0) }.map { Self.keys(of: $0).width }
    let column = min(names.max() ?? 0, max(8, width / 3))
    var result: [(heading: SafeText?, rows: [SafeText])] = contexts.map { context in
      let rows = keys.bindings(in: context).flatMap { binding in
        Self.rows(Self.keys(of: binding), help: binding.help, column: column, width: width)
      }
      return (context.title, rows)
    }
    let commands = Command.all.flatMap { command in
      let name = SafeText(untrusted: ":\(command.name) \(command.arguments)")
      return rows(name, help: SafeText(untrusted: command.help), column: column, width: width)
    }
    result.append(("Commands, in addition to the names of all actions", commands))
    return result.filter { !$0.rows.isEmpty }
  }

  /// The keys of a row; without any, the action as a command.
  private static func keys(of binding: KeyBinding<Action, Context>) -> SafeText {
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

// MARK: The screen

extension Page: AppScreen {
  static let layer = ScreenLayer.page

  func context(in session: Session) -> Context { isSearching ? .find : .help }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    guard isSearching else { return .ignored }
    if field.handle(key) == .changed { resize(in: session) }
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    self.field.moveCursor(toColumn: offset.column)
  }

  mutating func scroll(
    by direction: Int,
    over target: ClickTarget?,
    session: inout Session
  )
    -> [Effect]?
  {
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

  /// Shows a page.
  mutating func show(_ page: Page) {
    help = page
    relayout()
  }

  /// Reduces the page to the lines that contain a text.
  mutating func searchPage(for text: String) {
    let session = self.session
    help?.search(for: text, in: session)
  }

  /// Shows all keys, starting with those of the current context.
  mutating func openHelp(search: String = "") {
    let context = stack.screen(below: Page.layer).context(in: session)
    show(Page(title: "All keys", content: .keys(context), search: search))
  }

  /// Shows all messages so far, newest first.
  mutating func openMessages() {
    let glyphs = session.glyphs
    let paragraphs = session.messageLog.entries.reversed().map { entry in
      let sign = entry.message.kind == .failure ? glyphs.cross : glyphs.bullet
      let time = SafeText(untrusted: Clock.text(entry.time))
      return Page.Paragraph(text: time + " " + sign + " " + entry.message.text, isHeading: false)
    }
    show(Page(title: "Messages", content: .text(paragraphs)))
  }

  /// Shows who is online.
  mutating func openPeople() {
    let people = session.reading.people.sorted {
      ($0.person.name, $0.id) < ($1.person.name, $1.id)
    }
    let lines = people.map { presence in
      let name = session.shownName(of: presence.person.uid, named: presence.person.name)
      let terminal = SafeText(untrusted: presence.terminal, limit: 60)
      let since = Age.text(presence.since, now: session.now)
      let age: SafeText = since == "now" ? "since just now" : "for " + since
      return Page.Paragraph(text: name + "  " + terminal + "  " + age, isHeading: false)
    }
    let nobody = Page.Paragraph(text: "Nobody seems to be online.", isHeading: false)
    show(Page(title: "Who is here", content: .text(lines.isEmpty ? [nobody] : lines)))
  }
}

/// The actions of a page of text.
enum PageActions {
  static let motions = BoundAction.motions(
    in: .help,
    hints: [
      .down: .init("down", rank: 3), .up: .init("up", rank: 4), .pageDown: .init("page", rank: 5),
    ]
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
      hint: .init("search", rank: 2),
      change: { $0.help?.isSearching = true }
    ),
    BoundAction(
      .back,
      keys: ["?", "q", "Esc", "F1", "^C"],
      in: [.help],
      help: "back",
      hint: .init("back", rank: 1),
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
      hint: .init("keep", rank: 1),
      change: { $0.help?.isSearching = false }
    ),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.find],
      help: "show the whole page",
      hint: .init("all", rank: 2),
      change: { model in
        model.help?.isSearching = false
        model.searchPage(for: "")
      }
    ),
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
    let none: SafeText = page.field.isEmpty ? "Nothing yet." : "No match; Esc shows everything"
    screen.put(none, in: room, style: theme.dim, ellipsis: glyphs.ellipsis)
  }

  /// Paints the scroll position of a text at the right of the header.
  mutating func paintPlace(in scroll: ScrollView, after column: Int) {
    let last = scroll.visibleRange.upperBound
    let total = scroll.lines.count
    var mark = SafeText.empty
    if scroll.top > 0 { mark.append(isASCII ? "^" : "▲") }
    if last < total { mark.append(isASCII ? "v" : "▼") }
    let text = mark + " " + SafeText(last) + "/" + SafeText(total) + " "
    let room = Rect(
      row: frame.header.row,
      column: column,
      width: frame.header.width - column,
      height: 1
    )
    screen.put(text, in: room, style: theme.dim, aligned: .trailing, ellipsis: glyphs.ellipsis)
  }

  /// Paints the search line of a page.
  mutating func paintSearch(of page: Page) {
    screen.put("/", at: frame.footer.origin, style: theme.key, clip: frame.footer)
    hits.add(.field(of: Page.self), at: frame.commandField)
    page.field.draw(
      on: &screen,
      in: frame.commandField,
      placeholder: "type to filter",
      isFocused: model.context == .find
    )
  }
}
