import BlogModel

extension Painter {
  /// The most pressing of: a question, the keys of a sequence, a message, what is typed, hints.
  mutating func paintFooter() {
    let front = model.stack.front
    if type(of: front).layer == .question {
      front.drawFooter(on: &self)
    } else if !session.keys.pendingKeys.isEmpty {
      paintPendingKeys()
    } else if let message = session.message {
      paintText(message.text, style: message.kind == .failure ? theme.failure : theme.note)
    } else {
      front.drawFooter(on: &self)
    }
  }

  /// A text that may need more than the footer: it grows upwards, over the content.
  mutating func paintText(_ text: SafeText, style: Style) {
    let width = frame.footer.width - 2
    let all = text.wrapped(width: width)
    let height = min(all.count, footerLimit)
    var lines = Array(all.prefix(height))
    if all.count > height, let last = lines.popLast() { lines.append(last + glyphs.ellipsis) }
    paintLines(lines, style: style)
  }

  /// The number of lines that the footer may have.
  var footerLimit: Int { max(1, min(5, session.size.height / 2)) }

  /// Lines at the bottom; all but the last stand over the content.
  mutating func paintLines(_ lines: [SafeText], style: Style) {
    for (index, line) in lines.enumerated() {
      let row = Rect(
        row: frame.footer.row - lines.count + 1 + index,
        column: 0,
        width: frame.footer.width,
        height: 1
      )
      screen.fill(row, style: style)
      screen.put(line, in: row.inset(rows: 0, columns: 1), style: style, ellipsis: glyphs.ellipsis)
      hits.cover(row)
    }
  }

  static func count(_ number: Int, _ one: SafeText, _ many: SafeText) -> SafeText {
    SafeText(number) + " " + (number == 1 ? one : many)
  }

  /// The keys of a sequence that has begun, and what can follow.
  private mutating func paintPendingKeys() {
    let typed = session.keys.pendingKeys.map(\.description).joined(separator: " ")
    var text = SafeText(untrusted: typed) + " " + glyphs.ellipsis
    for (keys, binding) in session.keys.continuations(in: model.context) {
      let rest = keys.map(\.description).joined(separator: " ")
      text = text + "  " + SafeText(untrusted: rest) + " " + binding.help
    }
    screen.put(
      text,
      in: frame.footer.inset(rows: 0, columns: 1),
      style: theme.key,
      ellipsis: glyphs.ellipsis
    )
  }

  /// What keys do here, as far as there is room.
  mutating func paintHints() {
    var column = frame.footer.column + 1
    let context = model.context
    for (action, name) in ActionTable.hints[context] ?? [] {
      // There is always a way to all the other keys, whatever the configuration took away.
      let key = session.keys.keyText(for: action, in: context)
      guard let keyText = key ?? (action == .help ? ":help" : nil) else { continue }
      let width = keyText.width + 1 + name.width
      guard column + width <= frame.footer.endColumn else { continue }
      let start = Position(row: frame.footer.row, column: column)
      screen.put(keyText, at: start, style: theme.key, clip: frame.footer)
      let label = Position(row: frame.footer.row, column: column + keyText.width + 1)
      screen.put(name, at: label, style: theme.dim, clip: frame.footer)
      hits.add(.action(action), at: Rect(row: start.row, column: column, width: width, height: 1))
      column += width + 2
    }
  }
}
