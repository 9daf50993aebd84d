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

  mutating func typeIntoPageSearch(_ key: KeyEvent) {
    guard help?.field.handle(key) == .changed else { return }
    relayout()
  }

  mutating func searchPage(_ text: String) {
    help?.field.setText(text)
    relayout()
  }
}
