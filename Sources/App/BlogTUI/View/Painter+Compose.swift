extension Painter {
  mutating func paintComposer() {
    guard let form = model.composer else { return }
    let places = model.composeFrame
    let name: SafeText = form.editing == nil ? " New post " : " Edit post "
    screen.put(name, at: frame.header.origin, style: theme.brand, clip: frame.header)
    paintCount(form, after: name.width)
    let isTitle = form.focus == .title
    screen.put(" Title", in: places.titleLabel, style: isTitle ? theme.key : theme.dim)
    screen.put(" Text", in: places.bodyLabel, style: isTitle ? theme.dim : theme.key)
    paintBorder(of: places.title, isActive: isTitle)
    paintBorder(of: places.body, isActive: !isTitle)
    let takesKeys = model.context == .compose
    hits.add(.field(.title), at: places.title)
    hits.add(.field(.body), at: places.body)
    form.title.draw(
      on: &screen,
      in: places.title,
      style: theme.title,
      placeholder: "Title",
      isFocused: isTitle && takesKeys
    )
    form.body.draw(
      on: &screen,
      in: places.body,
      style: theme.text,
      placeholder: "Write your post" + glyphs.ellipsis,
      isFocused: !isTitle && takesKeys
    )
    if let problem = form.problem { paintProblem(problem, in: places.problem) }
  }

  private mutating func paintBorder(of field: Rect, isActive: Bool) {
    for row in field.row..<field.endRow {
      let place = Position(row: row, column: max(0, field.column - 2))
      let mark = isActive ? glyphs.selection : glyphs.vertical
      screen.put(mark, at: place, style: isActive ? theme.selectedBorder : theme.border)
    }
  }

  private mutating func paintProblem(_ problem: SafeText, in rect: Rect) {
    let room = Rect(row: rect.row, column: 1, width: rect.width - 2, height: rect.height)
    screen.put(problem, in: room, style: theme.failure, ellipsis: glyphs.ellipsis)
  }

  /// How much of each field is used, and what is too long; the focused field alone when narrow.
  private mutating func paintCount(_ form: Composer, after column: Int) {
    let title = form.title.text.utf16.count
    let body = form.body.utf16Count
    let isTitle = form.focus == .title
    let (used, limit) = isTitle ? (title, PostLimits.title) : (body, PostLimits.body)
    let isTooLong = title > PostLimits.title || body > PostLimits.body
    var text = SafeText(used) + "/" + SafeText(limit) + " "
    if frame.header.width >= 36 {
      text = SafeText(used) + " of " + SafeText(limit) + " characters "
    }
    if let problem = PostLimits.problem(titleCount: title, bodyCount: body) {
      text = frame.header.width >= 60 ? problem + " " : glyphs.cross + " " + text
    }
    let room = Rect(
      row: frame.header.row,
      column: column,
      width: frame.header.width - column,
      height: 1
    )
    guard text.width <= room.width else { return }
    let isNearLimit = used * 10 >= limit * 9
    let style = isTooLong ? theme.failure : isNearLimit ? theme.notice : theme.dim
    screen.put(text, in: room, style: style, aligned: .trailing)
  }
}
