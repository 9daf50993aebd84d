import BlogModel

extension Painter {
  /// The most pressing of: a question, a message, the search line, hints.
  mutating func paintFooter() {
    if let question = model.question {
      paintQuestion(question)
    } else if !model.keys.pendingKeys.isEmpty {
      paintPendingKeys()
    } else if let message = model.message {
      paintText(message.text, style: message.kind == .failure ? theme.failure : theme.note)
    } else if model.commandLine != nil {
      paintCommandLine()
    } else if let page = model.help, page.isSearching {
      paintPageSearch(page)
    } else if model.context == .search {
      paintSearchLine()
    } else if let problem = model.composer?.problem, model.composeFrame.problem.isEmpty,
      model.help == nil
    {
      paintText(problem, style: theme.failure)
    } else {
      paintHints()
    }
  }

  /// A text that may need more than the footer: it grows upwards, over the content.
  private mutating func paintText(_ text: SafeText, style: Style) {
    let width = frame.footer.width - 2
    let all = text.wrapped(width: width)
    let height = min(all.count, footerLimit)
    var lines = Array(all.prefix(height))
    if all.count > height, let last = lines.popLast() { lines.append(last + glyphs.ellipsis) }
    paintLines(lines, style: style)
  }

  /// The number of lines that the footer may have.
  var footerLimit: Int { max(1, min(5, model.size.height / 2)) }

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
    let typed = model.keys.pendingKeys.map(\.description).joined(separator: " ")
    var text = SafeText(untrusted: typed) + " " + glyphs.ellipsis
    for (keys, binding) in model.keys.continuations(in: model.context) {
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

  private mutating func paintSearchLine() {
    guard let search = model.search else { return }
    screen.put("/", at: frame.footer.origin, style: theme.key, clip: frame.footer)
    hits.add(.field(.search), at: frame.searchField)
    search.field.draw(
      on: &screen,
      in: frame.searchField,
      placeholder: "title, author or text",
      isFocused: true
    )
    guard search.pattern != nil else { return }
    let count: SafeText = model.feed.list.ids.isEmpty ? "no match" : matchCount
    screen.put(count + " ", in: frame.searchCount, style: theme.dim, aligned: .trailing)
  }

  private mutating func paintPageSearch(_ page: Page) {
    screen.put("/", at: frame.footer.origin, style: theme.key, clip: frame.footer)
    hits.add(.field(.find), at: frame.commandField)
    page.field.draw(
      on: &screen,
      in: frame.commandField,
      placeholder: "a word of this page",
      isFocused: model.context == .find
    )
  }

  private mutating func paintHints() {
    var column = frame.footer.column + 1
    let context = model.context
    for (action, name) in ActionTable.hints[context] ?? [] {
      // There is always a way to all the other keys, whatever the configuration took away.
      let key = model.keys.keyText(for: action, in: context)
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
