import TerminalUI

extension Painter {
  mutating func paintHelp() {
    guard let page = model.help else { return }
    screen.put(" All keys", at: frame.header.origin, style: theme.brand, clip: frame.header)
    let last = page.scroll.visibleRange.upperBound
    let total = page.scroll.lines.count
    let down: SafeText = isASCII ? "v" : "▼"
    let up: SafeText = isASCII ? "^" : "▲"
    var mark = SafeText.empty
    if page.scroll.top > 0 { mark.append(up) }
    if last < total { mark.append(down) }
    let where_ = mark + " " + SafeText(last) + "/" + SafeText(total) + " "
    let room = frame.header.inset(rows: 0, columns: 0)
    screen.put(
      where_,
      in: Rect(row: room.row, column: 10, width: room.width - 10, height: 1),
      style: theme.dim,
      aligned: .trailing
    )
    let content = frame.content.inset(rows: 0, columns: 1)
    screen.cursor = content.origin
    for (offset, number) in page.scroll.visibleRange.enumerated() {
      let row = content.line(offset)
      let style = page.headings.contains(number) ? theme.title : theme.text
      screen.put(page.scroll.lines[number], at: row.origin, style: style, clip: row)
    }
  }
}
