import BlogModel

extension Painter {
  mutating func paint(_ notices: NoticesScreen) {
    screen.put(" Notices", at: frame.header.origin, style: theme.brand, clip: frame.header)
    let unread = session.unreadNotices
    if unread > 0 {
      let room = frame.header.cut(left: 9)
      screen.put(SafeText(unread) + " new ", in: room, style: theme.notice, aligned: .trailing)
    }
    guard let entries = session.reading.notices, !entries.isEmpty else {
      return paintNoNotices(isKnown: session.reading.notices != nil)
    }
    let known = Dictionary(entries.map { ($0.id, $0) }) { $1 }
    let rows = notices.list.rows(in: frame.page)
    for (number, row) in zip(notices.list.visibleRange, rows) {
      guard let entry = known[row.id] else { continue }
      beginRow(row, of: NoticesScreen.self, number: number)
      paint(entry, isSelected: row.isSelected, in: row.rect)
      if row.isSelected { paintSelection(at: row.rect) }
    }
  }

  /// Paints the mark in front of a selected row of a page.
  mutating func paintSelection(at row: Rect) {
    for line in 0..<row.height {
      let position = Position(row: row.row + line, column: row.column - 1)
      screen.put(glyphs.selection, at: position, style: theme.selectedBorder)
    }
  }

  /// Paints who did what, on which post and when, and below it the text.
  private mutating func paint(_ entry: NoticeEntry, isSelected: Bool, in rect: Rect) {
    let isUnread = session.isUnread(entry)
    let line = rect.line(0)
    let style = theme.style(isUnread ? theme.title : theme.text, isSelected: isSelected)
    let mark: SafeText = isUnread ? glyphs.bullet : " "
    let markStyle = theme.style(theme.notice, isSelected: isSelected)
    screen.put(mark, at: line.origin, style: markStyle, clip: line)
    let age = time(entry.at, isShort: line.width < 60)
    let dim = theme.style(theme.dim, isSelected: isSelected)
    screen.put(age, in: line.cut(left: line.width - age.width), style: dim)
    let room = line.cut(left: 2, right: age.isEmpty ? 0 : age.width + 2)
    put(sentence(entry), in: room, style: style)
    guard rect.height > 1 else { return }
    let below = rect.line(1)
    let text = Markup.excerpt(of: entry.text, limit: below.width + 1, bullet: glyphs.bullet)
    put(text, in: below.cut(left: 4), style: dim)
  }

  private func sentence(_ entry: NoticeEntry) -> SafeText {
    let name = entry.author.map { session.name(of: $0) } ?? ""
    let text = SafeText(untrusted: entry.sentence(by: name), limit: 300)
    return entry.kind == .stars ? glyphs.star + " " + text : text
  }

  /// Paints the number of unread notices at the right end of a row; returns the width used.
  mutating func paintNoticeMark(in room: Rect) -> Int {
    let count = session.unreadNotices
    guard count > 0 else { return 0 }
    let sign: SafeText = isASCII ? "!" : "◆"
    let short = sign + SafeText(count) + " "
    let key = session.keys.keyText(for: .notices, in: .list)
    let word: SafeText = count == 1 ? " notice" : " notices"
    let long = sign + " " + SafeText(count) + word + (key.map { ", " + $0 } ?? .empty) + " "
    let text = long.width + 2 <= room.width ? long : short
    guard text.width < room.width else { return 0 }
    let rect = room.cut(left: room.width - text.width)
    screen.put(text, in: rect, style: style(theme.notice, of: .notices))
    hits.add(.action(.notices), at: rect)
    return text.width
  }
}
