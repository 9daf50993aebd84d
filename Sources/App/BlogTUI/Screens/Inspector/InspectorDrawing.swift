extension Painter {
  /// Paints the traffic on the wire, one line for each event.
  mutating func paintInspector() {
    let inspector = session.inspector
    screen.put(" Inspector", at: frame.header.origin, style: theme.brand, clip: frame.header)
    paintInspectorState(inspector)
    let room = frame.page
    let facts = [
      Self.count(inspector.listeners.count, one: "listener", many: "listeners"),
      Self.count(inspector.writes.count, one: "write under way", many: "writes under way"),
      Self.count(inspector.events.count, one: "event", many: "events"),
    ].joined(separator: separator)
    screen.put(facts, in: room.line(0), style: theme.dim, ellipsis: glyphs.ellipsis)
    let rows = Rect(
      row: room.row + 1,
      column: room.column,
      width: room.width,
      height: room.height - 1
    )
    if inspector.list.ids.isEmpty {
      let text: SafeText = "Nothing happened yet."
      screen.put(text, in: rows, style: theme.dim, ellipsis: glyphs.ellipsis)
      return
    }
    var copy = screen
    var areas: [(Int, Rect)] = []
    inspector.list.draw(on: &copy, in: rows) { screen, number, isSelected, row in
      guard let event = inspector.event(number) else { return }
      areas.append((number, row))
      paint(event, isSelected: isSelected, in: row, on: &screen)
    }
    screen = copy
    for (number, row) in areas { hits.add(.row(number, of: InspectorScreen.self), at: row) }
  }

  private mutating func paintInspectorState(_ inspector: Inspector) {
    var words: [SafeText] = []
    if let kind = inspector.kind { words.append("only " + SafeText(untrusted: kind.rawValue)) }
    if inspector.isPaused {
      words.append("paused, " + SafeText(inspector.waitingCount) + " waiting")
    }
    let text = words.joined(separator: separator) + " "
    let room = Rect(row: frame.header.row, column: 12, width: frame.header.width - 12, height: 1)
    screen.put(
      text,
      in: room,
      style: theme.notice,
      aligned: .trailing,
      ellipsis: glyphs.ellipsis
    )
  }

  private func paint(_ event: WireEvent, isSelected: Bool, in row: Rect, on screen: inout Screen) {
    let style = theme.style(theme.text, isSelected: isSelected)
    if isSelected { screen.fill(row, style: theme.selected) }
    // A narrow screen leaves out the time in favour of the event.
    let isNarrow = row.width < 40
    let time = isNarrow ? .empty : SafeText(untrusted: Clock.preciseText(event.time)) + " "
    let used = screen.put(
      time,
      at: row.origin,
      style: theme.style(theme.dim, isSelected: isSelected),
      clip: row
    )
    let sign = Position(row: row.row, column: row.column + used)
    let signStyle = theme.style(Self.style(of: event.kind, theme), isSelected: isSelected)
    let width = screen.put(self.sign(of: event.kind) + " ", at: sign, style: signStyle, clip: row)
    let start = sign.column + width
    let rest = Rect(row: row.row, column: start, width: row.endColumn - start, height: 1)
    let title = SafeText(untrusted: event.title, limit: 400)
    screen.put(title, in: rest, style: style, ellipsis: glyphs.ellipsis)
  }

  /// A symbol and a word, so that the kinds differ in more than colour or symbol.
  private func sign(of kind: WireEvent.Kind) -> SafeText {
    let arrow: SafeText
    switch kind {
    case .sent: arrow = glyphs.right
    case .received: arrow = glyphs.left
    case .event: arrow = glyphs.bullet
    case .listener: arrow = "@"
    case .write: arrow = glyphs.pending
    case .transaction: arrow = "#"
    case .connection: arrow = glyphs.online
    }
    return arrow + " " + SafeText(untrusted: kind.rawValue).padded(to: 11)
  }

  private static func style(of kind: WireEvent.Kind, _ theme: Theme) -> Style {
    switch kind {
    case .sent: theme.waiting
    case .received: theme.author
    case .event: theme.text
    case .listener: theme.dim
    case .write: theme.star
    case .transaction: theme.notice
    case .connection: theme.good
    }
  }
}
