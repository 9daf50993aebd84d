import BlogModel

extension OpenPost {
  fileprivate func comment(of line: PostLayout.Line) -> String? {
    switch line {
    case .commentHeading(let index), .comment(let index, _): comments.rows[index].comment.id
    case .title, .byline, .body, .blank, .commentsHeading, .unread: nil
    }
  }
}

extension Painter {
  mutating func paint(_ open: OpenPost) {
    let areas = session.postFrame(fieldHeight: open.line.height)
    if open.post == nil {
      paintMissing(open, in: areas.text)
    } else {
      paintLines(of: open, in: areas)
    }
    paintCommentLine(open, in: areas)
  }

  private mutating func paintMissing(_ open: OpenPost, in rect: Rect) {
    let text: SafeText =
      open.isGone
      ? "There is no such post."
      : open.isRefused ? "This post cannot be read." : "Loading" + glyphs.ellipsis
    screen.put(text, in: rect.line(rect.height / 2), style: theme.dim, aligned: .center)
  }

  private mutating func paintLines(of open: OpenPost, in areas: PostFrame) {
    let selected = open.selectedIndex.map { open.view.layout.range(of: $0) }
    if selected == nil { screen.cursor = areas.border.origin }
    let range = open.view.visibleRange
    for (offset, line) in open.view.layout.lines(in: range).enumerated() {
      let row = areas.text.line(offset)
      guard !row.isEmpty else { break }
      hits.add(.row(offset, of: OpenPost.self), at: row)
      let number = range.lowerBound + offset
      let isSelected = selected?.contains(number) == true
      let border = Position(row: row.row, column: areas.border.column)
      if line != .commentsHeading, line != .unread {
        let mark = isSelected ? glyphs.selection : glyphs.vertical
        let style = isSelected ? theme.selectedBorder : theme.border
        screen.put(mark, at: border, style: style, clip: areas.border)
      }
      if number == selected?.lowerBound { screen.cursor = border }
      paint(line, of: open, isSelected: isSelected, in: row)
      if let id = open.comment(of: line), session.reading.arrivals.contains(.comment(id)) {
        screen.restyle(row, theme.glowing)
      }
    }
  }

  private mutating func paint(
    _ line: PostLayout.Line,
    of open: OpenPost,
    isSelected: Bool,
    in row: Rect
  ) {
    switch line {
    case .title(let text):
      screen.put(text, at: row.origin, style: theme.title, clip: row)
    case .byline:
      paintByline(of: open, in: row)
    case .body(let line):
      paint(line, at: row.origin, in: row)
    case .blank:
      break
    case .commentsHeading:
      paintRule(commentsHeading(open), style: theme.dim, in: row)
    case .unread:
      paintRule("new since you were here", style: theme.notice, in: row)
    case .commentHeading(let index):
      paintHeading(open.comments.rows[index], of: open, isSelected: isSelected, in: row)
    case .comment(let index, let text):
      let indent = open.view.layout.indent(of: open.comments.rows[index].depth)
      paint(text, at: row.cut(left: 2 + indent).origin, in: row)
    }
  }

  /// Paints a line whose parts may look different.
  mutating func paint(_ line: MarkedLine, at position: Position, in row: Rect) {
    screen.put(line.text, at: position, style: theme.text, clip: row)
    guard !line.parts.isEmpty else { return }
    var column = position.column
    var clusters = line.text.clusters[...]
    for part in line.parts {
      let skipped = part.range.lowerBound - clusters.startIndex
      column += clusters.prefix(skipped).reduce(0) { $0 + $1.width }
      clusters = clusters.dropFirst(skipped)
      let width = clusters.prefix(part.range.count).reduce(0) { $0 + $1.width }
      let cells = Rect(row: row.row, column: column, width: width, height: 1).intersection(row)
      let style = style(of: part.looks)
      screen.restyle(cells) { _ in style }
      if let address = part.address { screen.link(cells, to: address) }
      column += width
      clusters = clusters.dropFirst(part.range.count)
    }
  }

  /// The style of a part; attributes are combined, and the strongest colour wins.
  private func style(of looks: Set<MarkedLine.Look>) -> Style {
    var style = theme.text
    if looks.contains(.quote) { style = theme.quote }
    if looks.contains(.heading) { style = theme.heading }
    if looks.contains(.code) { style = theme.code }
    if looks.contains(.keyword) { style = theme[.keyword] }
    if looks.contains(.string) { style = theme[.string] }
    if looks.contains(.number) { style = theme[.number] }
    if looks.contains(.comment) { style = theme[.comment] }
    if looks.contains(.link) { style = theme.link.with(.underline) }
    if looks.contains(.added) { style = theme.dim }
    if looks.contains(.heading) || looks.contains(.strong) { style = style.with(.bold) }
    if looks.contains(.emphasis) { style = style.with(.underline) }
    // Without colours, weight tells a link from emphasis.
    if looks.contains(.link), style.foreground == .standard || !session.colorsCode {
      style = style.with(.bold)
    }
    return style
  }

  /// Paints the author and time of a comment, its delivery state, and the number of folded answers.
  private mutating func paintHeading(
    _ shown: CommentThreads.Row,
    of open: OpenPost,
    isSelected: Bool,
    in row: Rect
  ) {
    let comment = shown.comment
    var indent = open.view.layout.indent(of: shown.depth)
    if indent > 0 {
      let mark: SafeText = isASCII ? "`" : "└"
      screen.put(mark, at: row.cut(left: indent - 2).origin, style: theme.border, clip: row)
    }
    let used = paintSignature(
      of: comment.writer,
      at: comment.createdAt,
      style: theme.style(theme.author, isSelected: isSelected),
      in: row.cut(left: indent)
    )
    indent += used + 1
    if let delivery = session.delivery(of: comment.id) {
      let sign = delivery.sign(glyphs)
      let start = row.cut(left: indent).origin
      screen.put(sign, at: start, style: delivery.style(theme), clip: row)
      indent += sign.width + 1
    }
    if open.comments.muted.contains(comment.uid) {
      let start = row.cut(left: indent).origin
      indent += screen.put("muted ", at: start, style: theme.dim, clip: row)
    }
    guard shown.isFolded else { return }
    let arrow: SafeText = isASCII ? "> " : "▶ "
    let count = Self.count(shown.answers, one: "answer", many: "answers")
    let start = row.cut(left: indent).origin
    screen.put(arrow + count, at: start, style: theme.notice, clip: row)
  }

  /// Paints the author and the time; returns the number of cells.
  @discardableResult
  private mutating func paintSignature(
    of person: Author,
    at created: Int64?,
    style: Style,
    in row: Rect
  ) -> Int {
    let age = time(created)
    let when = age.isEmpty ? age : separator + age
    let name = session.shownName(of: person)
      .truncated(to: max(1, row.width - when.width), ellipsis: glyphs.ellipsis)
    let used = screen.put(name, at: row.origin, style: style.with(.bold), clip: row)
    let end = row.cut(left: used).origin
    return used + screen.put(when, at: end, style: theme.dim, clip: row)
  }

  private mutating func paintByline(of open: OpenPost, in row: Rect) {
    guard let post = open.post else { return }
    let isStarred = post.stars.contains(session.me.uid)
    let star = isStarred ? glyphs.star : glyphs.emptyStar
    let short = star + " " + ShortNumber.text(post.starCount)
    let words: SafeText = post.starCount == 1 ? " star" : " stars"
    let long = short + words + (isStarred ? ", one is yours" : "")
    let shown = row.width >= 56 ? long : short
    let used = paintSignature(
      of: post.writer,
      at: post.createdAt,
      style: theme.author,
      in: row.cut(right: shown.width + 3)
    )
    let rest = row.cut(left: used)
    screen.put(separator, at: rest.origin, style: theme.dim, clip: row)
    let style = style(isStarred ? theme.star : theme.text, of: .stars(post.id))
    screen.put(shown, at: rest.cut(left: 3).origin, style: style, clip: row)
  }

  /// Paints a line across the whole post with a text in it.
  private mutating func paintRule(_ text: SafeText, style: Style, in row: Rect) {
    let all = session.postFrame.rule
    let line = Rect(row: row.row, column: all.column, width: all.width, height: 1)
    screen.horizontalLine(in: line, glyphs: glyphs, style: theme.rule)
    let room = line.inset(rows: 0, columns: 2)
    screen.put(" " + text + " ", at: room.origin, style: style, clip: room)
  }

  /// Paints the selected post next to the list, before it is opened, with its newest comments.
  mutating func paintPreview() {
    let room = session.previewRect
    guard let post = session.feed.selectedPost else { return }
    var preview = OpenPost(preview: post, reusing: drawnRows.preview)
    preview.resize(text: room.size, source: session.sourceView)
    preview.hide(session.writing.hidden)
    preview.mute(session.reading.lists.muted)
    if let comments = session.reading.comments[post.id] { preview.update(comments: comments) }
    drawnRows.preview = preview.view.layout
    hits.add(.post(post.id), at: room)
    let cursor = screen.cursor
    for (offset, line) in preview.view.layout.lines(in: preview.view.visibleRange).enumerated() {
      paint(line, of: preview, isSelected: false, in: room.line(offset))
    }
    screen.cursor = cursor
  }

  private func commentsHeading(_ open: OpenPost) -> SafeText {
    guard let count = open.comments.count else {
      return open.isRefused ? "The comments cannot be read" : "Loading comments" + glyphs.ellipsis
    }
    let isPreview = model.openPost == nil
    if isPreview, session.commentCount(on: open.id)?.isAtLeast == true {
      return "The newest " + SafeText(count) + " comments"
    }
    if open.comments.hasEarlier {
      let key = session.keys.keyText(for: "earlier", in: .post)
      let way: SafeText = key.map { "; " + $0 + " shows earlier ones" } ?? .empty
      return "The newest " + SafeText(count) + " comments" + way
    }
    switch count {
    case 0 where open.isGone: return "No comments"
    case 0:
      let isShort = isPreview || session.postFrame.rule.width < 40
      if isShort { return "No comments yet" }
      let key = SafeText(untrusted: session.key(.comment, in: .post))
      return "No comments yet; " + key + " writes one"
    case 1: return "1 comment"
    default: return SafeText(count) + " comments"
    }
  }

  /// Paints who else is writing a comment.
  private mutating func paintTypists(_ open: OpenPost, in rule: Rect) {
    let now = session.now
    let names = open.typists.filter { $0.isWriting(now: now) }.map {
      session.shownName(of: $0.person)
    }
    guard let first = names.first, session.settings.isOn(.showTyping), !rule.isEmpty else { return }
    let text: SafeText =
      switch names.count {
      case 1: first + " is writing"
      case 2: first + " and " + names[1] + " are writing"
      default: SafeText(names.count) + " people are writing"
      }
    let room = rule.inset(rows: 0, columns: 2)
    screen.put(" " + text + glyphs.ellipsis + " ", at: room.origin, style: theme.notice, clip: room)
  }

  /// Paints the comment line, below everything else.
  private mutating func paintCommentLine(_ open: OpenPost, in areas: PostFrame) {
    screen.horizontalLine(in: areas.rule, glyphs: glyphs, style: theme.rule)
    paintTypists(open, in: areas.rule)
    if open.commentsBelow > 0, !areas.rule.isEmpty {
      let arrow: SafeText = isASCII ? "v" : "▼"
      let text = " " + arrow + " " + SafeText(open.commentsBelow) + " below "
      let column = max(0, areas.rule.endColumn - 2 - text.width)
      let position = Position(row: areas.rule.row, column: column)
      screen.put(text, at: position, style: theme.notice, clip: areas.rule)
    }
    guard !open.isGone || open.line.isWriting || !open.line.field.isEmpty else { return }
    let mark: SafeText = isASCII ? ">" : "›"
    let style = open.line.isWriting ? theme.selectedBorder : theme.dim
    screen.put(mark, at: areas.prompt.origin, style: style, clip: areas.prompt)
    let key = session.keys.keyText(for: .comment, in: .post) ?? .empty
    let hint =
      open.line.isWriting ? SafeText(untrusted: prompt(of: open)) : key + " writes a comment"
    let isFocused = open.line.isWriting && model.context == .comment
    hits.add(.field(of: OpenPost.self), at: areas.prompt)
    hits.add(.field(of: OpenPost.self), at: areas.field)
    open.line.field.draw(
      on: &screen,
      in: areas.field,
      style: open.line.isWriting ? theme.text : theme.dim,
      placeholder: hint,
      isFocused: isFocused
    )
    if let answered = open.line.answered, !areas.rule.isEmpty {
      let name = session.shownName(of: answered.writer)
      let room = areas.rule.inset(rows: 0, columns: 2)
      screen.put(" To " + name + " ", at: room.origin, style: theme.notice, clip: room)
    }
  }

  /// The placeholder of the comment line.
  private func prompt(of open: OpenPost) -> String {
    if open.line.editing != nil { return "Your changed comment" }
    guard let answered = open.line.answered else { return "Your comment" }
    return "Your answer to \(session.name(of: answered.writer))"
  }
}
