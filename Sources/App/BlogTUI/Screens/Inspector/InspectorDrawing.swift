extension Painter {
  /// The width from which rows have the sizes of frames, and the width of that column.
  private static let (sizedWidth, sizeColumn) = (60, 4)

  /// Paints the traffic on the wire, one line for each event.
  mutating func paintInspector() {
    let inspector = session.inspector
    screen.put(" Inspector", at: frame.header.origin, style: theme.brand, clip: frame.header)
    paintInspectorState(inspector)
    let room = frame.page
    let followed = inspector.followedEvents
    let facts = followed.map { Self.words(of: $0) } ?? Self.words(about: inspector)
    put(facts.joined(separator: separator), in: room.line(0), style: theme.dim)
    let rows = room.cut(top: 1)
    if inspector.list.ids.isEmpty {
      let text: SafeText =
        inspector.count == 0 ? "Nothing happened yet." : "Nothing of this kind or path."
      put(text, in: rows, style: theme.dim)
      return
    }
    let start = followed.map { $0.first?.event.time ?? 0 }
    for row in inspector.list.rows(in: rows) {
      beginRow(row, of: InspectorScreen.self, number: row.id)
      guard let entry = inspector.entry(row.id) else { continue }
      paint(entry.event, since: start, isSelected: row.isSelected, in: row.rect)
    }
  }

  private static func words(about inspector: Inspector) -> [SafeText] {
    let bytes = inspector.tally.bytes
    let hidden = inspector.tally.hiddenKeepalives
    return [
      count(inspector.listeners.count, one: "listener", many: "listeners"),
      count(inspector.writes.count, one: "write under way", many: "writes under way"),
      count(inspector.count, one: "event", many: "events"),
      ShortNumber.text(bytes) + (bytes == 1 ? " byte" : " bytes"),
    ] + (hidden == 0 ? [] : [count(hidden, one: "keepalive", many: "keepalives") + " hidden"])
  }

  /// What caused a write, how often it was sent, when it was answered, and the frames with its data.
  private static func words(of write: [InspectedEvent]) -> [SafeText] {
    let cause = write.lazy.compactMap(\.event.cause).first
    let roundTrip = write.last { $0.roundTrip != nil }?.roundTrip
    let echoes = write.count { $0.isNews && $0.event.kind == .received }
    return [
      cause.map { SafeText(untrusted: $0) } ?? "cause unknown",
      count(write.count { $0.event.kind == .sent }, one: "request", many: "requests"),
      roundTrip.map { "answered after " + SafeText(Int(clamping: $0)) + " ms" } ?? "unanswered",
      count(echoes, one: "echo", many: "echoes"),
    ]
  }

  mutating func paintInspectorFilter() {
    paintLine(
      session.inspector.field,
      of: InspectorScreen.self,
      after: "/",
      placeholder: "the beginning of a path, or a part of one without / in front"
    )
  }

  private mutating func paintInspectorState(_ inspector: Inspector) {
    var words: [SafeText] = []
    if inspector.followed != nil {
      words.append("one write")
    } else {
      if let kind = inspector.kind { words.append("only " + SafeText(untrusted: kind.rawValue)) }
      if !inspector.field.isEmpty {
        words.append("path " + SafeText(untrusted: inspector.field.text, limit: 200))
      }
    }
    if inspector.isPaused {
      words.append("paused, " + SafeText(inspector.waitingCount) + " waiting")
    }
    let text = words.joined(separator: separator) + " "
    put(text, in: frame.header.cut(left: 12), style: theme.notice, aligned: .trailing)
  }

  private mutating func paint(
    _ event: WireEvent,
    since start: Int64?,
    isSelected: Bool,
    in row: Rect
  ) {
    let style = theme.style(theme.text, isSelected: isSelected)
    // A narrow screen leaves out the time in favour of the event.
    let isNarrow = row.width < 40
    let clock =
      start.map { SafeText(untrusted: "+\(event.time - $0) ms").padded(to: 12) }
      ?? SafeText(untrusted: Clock.preciseText(event.time))
    let time = isNarrow ? .empty : clock + " "
    let used = screen.put(
      time,
      at: row.origin,
      style: theme.style(theme.dim, isSelected: isSelected),
      clip: row
    )
    let sign = Position(row: row.row, column: row.column + used)
    let signStyle = theme.style(Self.style(of: event.kind, theme), isSelected: isSelected)
    let width = screen.put(self.sign(of: event.kind) + " ", at: sign, style: signStyle, clip: row)
    var start = sign.column + width
    if row.width >= Self.sizedWidth {
      let column = Rect(row: row.row, column: start, width: Self.sizeColumn, height: 1)
      let size = event.size.map { ShortNumber.text($0) } ?? .empty
      let dim = theme.style(theme.dim, isSelected: isSelected)
      put(size, in: column, style: dim, aligned: .trailing)
      start += Self.sizeColumn + 1
    }
    let rest = Rect(row: row.row, column: start, width: row.endColumn - start, height: 1)
    let title = SafeText(untrusted: event.title, limit: 400)
    put(title, in: rest, style: style)
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
