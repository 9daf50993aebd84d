import TerminalUI

extension Painter {
  mutating func paintComposer() {
    guard let form = model.composer else { return }
    let places = ComposeFrame(frame)
    let style = theme.brand
    screen.put(" New post ", at: frame.header.origin, style: style, clip: frame.header)
    paintCount(form)
    let isTitle = form.focus == .title
    screen.put(" Title", in: places.titleLabel, style: isTitle ? theme.key : theme.dim)
    screen.put(" Text", in: places.bodyLabel, style: isTitle ? theme.dim : theme.key)
    paintBorder(of: places.title, isActive: isTitle)
    paintBorder(of: places.body, isActive: !isTitle)
    let takesKeys = model.context == .compose
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

  /// How much of the text is used, once that matters.
  private mutating func paintCount(_ form: Composer) {
    guard frame.header.width >= 36 else { return }
    let text = SafeText(form.body.count) + " of " + SafeText(form.body.limit) + " characters "
    let room = Rect(
      row: frame.header.row,
      column: 12,
      width: frame.header.width - 12,
      height: 1
    )
    let isNearLimit = form.body.count * 10 >= form.body.limit * 9
    screen.put(text, in: room, style: isNearLimit ? theme.notice : theme.dim, aligned: .trailing)
  }
}
