extension Model {
  /// Shows all keys, those of the place where the user is first.
  mutating func openHelp(search: String = "") {
    let context = inspector.isOpen ? Context.inspector : contextBelowHelp
    show(Page(title: "All keys", content: .keys(context), search: search))
  }

  /// Shows what the user was told so far, the newest first.
  mutating func openMessages() {
    let paragraphs = messageLog.entries.reversed().map { entry in
      let sign = entry.message.kind == .failure ? glyphs.cross : glyphs.bullet
      let time = SafeText(untrusted: Clock.text(entry.time))
      return Page.Paragraph(text: time + " " + sign + " " + entry.message.text, isHeading: false)
    }
    show(Page(title: "Messages", content: .text(paragraphs)))
  }

  /// Shows a page in front of everything.
  mutating func show(_ page: Page) {
    help = page
    relayout()
  }

  mutating func performInHelp(_ action: Action) -> [Effect] {
    guard let scroll = help?.scroll else { return [] }
    let top = scroll.top
    let capacity = scroll.capacity
    switch action {
    case .up: help?.scroll.scroll(to: top - 1)
    case .down: help?.scroll.scroll(to: top + 1)
    case .pageUp: help?.scroll.scroll(to: top - capacity)
    case .pageDown: help?.scroll.scroll(to: top + capacity)
    case .halfPageUp: help?.scroll.scroll(to: top - max(1, capacity / 2))
    case .halfPageDown: help?.scroll.scroll(to: top + max(1, capacity / 2))
    case .top: help?.scroll.scroll(to: 0)
    case .bottom: help?.scroll.scroll(to: scroll.lines.count)
    case .search:
      help?.isSearching = true
      relayout()
    case .back where help?.field.isEmpty == false: searchPage("")
    case .back, .quit: help = nil
    case .open, .tab, .nextTab, .previousTab, .compose, .star, .delete, .nextMatch,
      .previousMatch, .writeComment, .send, .switchField, .confirm, .decline, .reload, .help,
      .redraw, .suspend, .reading, .program:
      break
    }
    return []
  }

  mutating func performInPageSearch(_ action: Action) -> [Effect] {
    switch action {
    case .send: help?.isSearching = false
    case .back:
      help?.isSearching = false
      searchPage("")
    case .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .top, .bottom, .open, .quit,
      .tab, .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch, .previousMatch,
      .writeComment, .switchField, .confirm, .decline, .reload, .help, .redraw, .suspend, .reading,
      .program:
      break
    }
    return []
  }

  mutating func typeIntoPageSearch(_ key: KeyEvent) {
    guard help?.field.handle(key) == .changed else { return }
    relayout()
  }

  private mutating func searchPage(_ text: String) {
    help?.field.setText(text)
    relayout()
  }
}
