extension Painter {
  mutating func paint(_ chooser: Chooser) {
    screen.put(" " + chooser.title, at: frame.header.origin, style: theme.brand, clip: frame.header)
    let room = frame.header.cut(left: 12)
    let count = count(of: chooser) + " "
    put(count, in: room, style: theme.dim, aligned: .trailing)
    paintParts(of: chooser)
  }

  /// Paints a chooser in a box over what is behind it, which takes no clicks meanwhile.
  mutating func paintBox(of chooser: Chooser) {
    guard let box = frame.box else { return }
    hits.cover(frame.header)
    hits.cover(frame.content)
    screen.fill(box)
    screen.box(in: box, glyphs: glyphs, title: chooser.title, style: theme.selectedBorder)
    let count = " " + count(of: chooser) + " "
    let place = Position(row: box.row, column: box.endColumn - 2 - count.width)
    screen.put(count, at: place, style: theme.dim, clip: box)
    paintParts(of: chooser)
  }

  private func count(of chooser: Chooser) -> SafeText {
    SafeText(chooser.list.ids.count) + " of " + SafeText(chooser.items.count)
  }

  /// The width of the titles; in a box, the names and keys beside them are shown in full.
  private func titleWidth(of chooser: Chooser, in rect: Rect) -> Int {
    var room = screen.size.width / 2
    if chooser.floats {
      let details = chooser.items.map { SafeText(untrusted: $0.detail).width }.max() ?? 0
      room = rect.width - min(details, rect.width / 2) - 5
    }
    return min(
      chooser.items.map { SafeText(untrusted: $0.title).width }.max() ?? 0,
      max(8, room)
    )
  }

  /// Paints the filter of a chooser and its items.
  private mutating func paintParts(of chooser: Chooser) {
    let areas = chooser.frame(in: session)
    screen.put(isASCII ? ">" : "›", at: areas.prompt.origin, style: theme.selectedBorder)
    let column = titleWidth(of: chooser, in: areas.list)
    for row in chooser.list.rows(in: areas.list) {
      beginRow(row, of: Chooser.self, number: row.id)
      let item = chooser.items[row.id]
      paint(item, in: chooser, isSelected: row.isSelected, column: column, at: row.rect)
    }
    if chooser.list.ids.isEmpty {
      put("No match", in: areas.list, style: theme.dim)
    }
    paintNote(of: chooser, in: areas.note)
    hits.add(.field(of: Chooser.self), at: areas.field)
    chooser.field.draw(
      on: &screen,
      in: areas.field,
      placeholder: "type to filter",
      isFocused: model.context == .chooser || model.context == .settings
    )
  }

  /// Paints the explanation of the selected item, in full if there is room.
  private mutating func paintNote(of chooser: Chooser, in rect: Rect) {
    guard !rect.isEmpty, let setting = chooser.selectedSetting else { return }
    let lines = Chooser.explanation(of: setting, in: session).wrapped(width: rect.width)
    for (index, line) in lines.prefix(rect.height).enumerated() {
      let isCut = index == rect.height - 1 && lines.count > rect.height
      let shown =
        isCut ? line.truncated(to: rect.width - 1, ellipsis: .empty) + glyphs.ellipsis : line
      screen.put(shown, at: rect.line(index).origin, style: theme.note, clip: rect)
    }
  }

  private mutating func paint(
    _ item: Chooser.Item,
    in chooser: Chooser,
    isSelected: Bool,
    column: Int,
    at row: Rect
  ) {
    let style = theme.style(theme.text, isSelected: isSelected)
    let mark: SafeText = isSelected ? glyphs.selection : item.isRecent ? glyphs.bullet : " "
    let isDim = item.isRecent && !isSelected
    screen.put(mark, at: row.origin, style: isDim ? theme.dim : style, clip: row)
    let name = row.line(0).cut(left: 2).with(width: column)
    let title = SafeText(untrusted: item.title)
    put(title, in: name, style: style)
    paintMatch(chooser.match(item), in: name, isSelected: isSelected)
    let rest = row.line(0).cut(left: column + 4, right: 1)
    var detail = SafeText(untrusted: item.detail)
    // Without a box there is no room for names beside the keys.
    let isShort = !chooser.floats && item.keys != nil
    if !chooser.floats, let keys = item.keys { detail = SafeText(untrusted: keys) }
    if isSelected, chooser.kind == .settings {
      detail = isASCII ? "< " + detail + " >" : "‹ " + detail + " ›"
    }
    let detailStyle = theme.style(theme.dim, isSelected: isSelected)
    put(detail, in: rest, style: detailStyle)
    if !chooser.field.isEmpty, !isShort {
      paintMatch(chooser.detailMatch(item), in: rest, isSelected: isSelected)
    }
  }

  /// Sets off the letters that match, unless all parts of selected rows look the same.
  private mutating func paintMatch(_ match: FuzzyMatch?, in rect: Rect, isSelected: Bool) {
    guard let match, !isSelected || theme.hasQuietSelection else { return }
    let style = theme.style(theme.match, isSelected: isSelected)
    for position in match.positions {
      let cell = rect.cut(left: position).with(width: 1).intersection(rect)
      screen.restyle(cell) { _ in style }
    }
  }
}
