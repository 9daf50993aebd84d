import BlogModel

/// The rectangles of the parts of the form for a post.
struct ComposeFrame: Hashable {
  /// The label of the first field; empty on screens with few rows.
  let titleLabel: Rect
  let title: Rect
  /// The label of the second field; empty on screens with few rows.
  let bodyLabel: Rect
  let body: Rect
  /// What readers will see of the text, beside it; empty on screens that are not wide.
  let preview: Rect
  /// The problem with the post; the last row of the content, empty on screens with few rows.
  let problem: Rect

  /// The columns of a screen that has room for the text and what readers see of it.
  private static let wide = 120

  init(_ frame: Frame, textWidth: Int) {
    let isHigh = frame.content.height >= 12
    let label: Length = isHigh ? .fixed(1) : .fixed(0)
    let gap: Length = isHigh ? .fixed(1) : .fixed(0)
    let rows = Layout.rows(
      [
        gap, label, .fixed(1), gap, label, .flexible,
        frame.lowerRule.isEmpty ? .fixed(0) : .fixed(1),
      ],
      in: frame.content
    )
    titleLabel = rows[1]
    title = Self.field(rows[2], textWidth: textWidth)
    bodyLabel = rows[4]
    let isWide = frame.content.width >= Self.wide
    let halves = Layout.columns([.flexible, isWide ? .flexible : .fixed(0)], in: rows[5])
    body = Self.field(halves[0], textWidth: textWidth)
    preview = isWide ? Self.field(halves[1], textWidth: textWidth) : halves[1]
    problem = rows[6]
  }

  private static func field(_ rect: Rect, textWidth: Int) -> Rect {
    rect.cut(left: 2).with(width: min(textWidth, rect.width - 3))
  }
}

extension Painter {
  mutating func paint(_ form: Composer) {
    let areas = session.composeFrame
    let name: SafeText = form.editing == nil ? " New post " : " Edit post "
    screen.put(name, at: frame.header.origin, style: theme.brand, clip: frame.header)
    paintCount(form, after: name.width)
    let isTitle = form.focus == .title
    screen.put(" Title", in: areas.titleLabel, style: isTitle ? theme.key : theme.dim)
    screen.put(" Text", in: areas.bodyLabel, style: isTitle ? theme.dim : theme.key)
    paintBorder(of: areas.title, isActive: isTitle)
    paintBorder(of: areas.body, isActive: !isTitle)
    let takesKeys = model.context == .compose
    hits.add(.field(0, of: Composer.self), at: areas.title)
    hits.add(.field(1, of: Composer.self), at: areas.body)
    form.title.draw(
      on: &screen,
      in: areas.title,
      style: theme.title,
      placeholder: "Title",
      isFocused: isTitle && takesKeys
    )
    form.body.draw(
      on: &screen,
      in: areas.body,
      style: theme.text,
      placeholder: "Write your post" + glyphs.ellipsis,
      isFocused: !isTitle && takesKeys
    )
    paintPreview(of: form.body, in: areas)
    if let problem = form.problem {
      let room = areas.problem.cut(left: 1, right: 1)
      put(problem, in: room, style: theme.failure)
    }
  }

  /// Paints what readers will see, from the line with which the text begins on the screen.
  private mutating func paintPreview(of body: TextArea, in areas: ComposeFrame) {
    let rect = areas.preview
    guard !rect.isEmpty else { return }
    if !areas.bodyLabel.isEmpty {
      let label = Position(row: areas.bodyLabel.row, column: rect.column)
      screen.put("As readers see it", at: label, style: theme.dim, clip: areas.bodyLabel)
    }
    paintBorder(of: rect, isActive: false)
    let signs = Markup.Signs(glyphs, keepsMarks: !session.colorsCode)
    func lines(_ text: String) -> [MarkedLine] {
      let text = SafeText(untrusted: text, mode: .multiLine)
      return Markup.lines(of: text, width: rect.width, signs: signs)
    }
    let (before, shown) = body.excerpt(of: rect.height)
    // What is above tells whether code goes on here.
    let above = before.isEmpty ? 0 : lines(before).count
    let all = lines(before.isEmpty ? shown : before + "\n" + shown)
    for (offset, line) in all.dropFirst(above + body.topRow).prefix(rect.height).enumerated() {
      let row = rect.line(offset)
      paint(line, at: row.origin, in: row)
    }
  }

  private mutating func paintBorder(of field: Rect, isActive: Bool) {
    for row in field.row..<field.endRow {
      let position = Position(row: row, column: max(0, field.column - 2))
      let mark = isActive ? glyphs.selection : glyphs.vertical
      screen.put(mark, at: position, style: isActive ? theme.selectedBorder : theme.border)
    }
  }

  /// Paints how much of the focused field is used, and what is too long, as detailed as fits.
  private mutating func paintCount(_ form: Composer, after column: Int) {
    let title = form.title.text.utf16.count
    let body = form.body.utf16Count
    let isTitle = form.focus == .title
    let (used, limit) = isTitle ? (title, BlogBounds.title) : (body, BlogBounds.body)
    let problem = BlogBounds.problem(titleCount: title, bodyCount: body)
    var text = SafeText(used) + "/" + SafeText(limit) + " "
    if frame.header.width >= 36 {
      text = SafeText(used) + " of " + SafeText(limit) + " characters "
    }
    if let problem {
      let sentence = SafeText(untrusted: problem.description, mode: .singleLine)
      text = frame.header.width >= 60 ? sentence + " " : glyphs.cross + " " + text
    }
    let room = frame.header.cut(left: column)
    guard text.width <= room.width else { return }
    let isNearLimit = used * 10 >= limit * 9
    let style = problem != nil ? theme.failure : isNearLimit ? theme.notice : theme.dim
    screen.put(text, in: room, style: style, aligned: .trailing)
  }
}
