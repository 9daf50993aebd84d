extension Painter {
  /// A page of text: its lines in view, and how much there is above and below.
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
    let none: SafeText = page.field.isEmpty ? "Nothing yet." : "Nothing fits; Esc shows everything."
    screen.put(none, in: room, style: theme.dim, ellipsis: glyphs.ellipsis)
  }

  /// How far a text is scrolled, at the right of the header.
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

  /// What is looked for in a page.
  mutating func paintSearch(of page: Page) {
    screen.put("/", at: frame.footer.origin, style: theme.key, clip: frame.footer)
    hits.add(.field(of: Page.self), at: frame.commandField)
    page.field.draw(
      on: &screen,
      in: frame.commandField,
      placeholder: "a word of this page",
      isFocused: model.context == .find
    )
  }
}
