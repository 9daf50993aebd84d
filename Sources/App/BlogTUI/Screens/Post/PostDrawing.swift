import BlogModel

extension Painter {
  mutating func paint(_ open: OpenPost) {
    let areas = session.postFrame
    if open.post == nil {
      paintMissing(open, in: areas.text)
    } else {
      paintLines(of: open, in: areas)
    }
    paintCommentLine(open, in: areas)
  }

  private mutating func paintMissing(_ open: OpenPost, in rect: Rect) {
    let text: SafeText = open.isGone ? "This post was deleted." : "Loading" + glyphs.ellipsis
    screen.put(text, in: rect.line(rect.height / 2), style: theme.dim, aligned: .center)
  }

  private mutating func paintLines(of open: OpenPost, in areas: PostFrame) {
    let selected = open.selectedIndex.map { open.layout.ranges[$0] }
    if selected == nil { screen.cursor = areas.border.origin }
    for (offset, number) in open.visibleRange.enumerated() {
      let row = areas.text.line(offset)
      guard !row.isEmpty else { break }
      hits.add(.row(offset, of: OpenPost.self), at: row)
      let line = open.layout.lines[number]
      let isSelected = selected?.contains(number) == true
      let border = Position(row: row.row, column: areas.border.column)
      if line != .commentsHeading, line != .unread {
        let mark = isSelected ? glyphs.selection : glyphs.vertical
        let style = isSelected ? theme.selectedBorder : theme.border
        screen.put(mark, at: border, style: style, clip: areas.border)
      }
      if number == selected?.lowerBound { screen.cursor = border }
      paint(line, of: open, isSelected: isSelected, in: row)
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
    case .body(let text):
      screen.put(text, at: row.origin, style: theme.text, clip: row)
    case .blank:
      break
    case .commentsHeading:
      paintRule(commentsHeading(open), style: theme.dim, in: row)
    case .unread:
      paintRule("new since you were here", style: theme.notice, in: row)
    case .commentHeading(let index):
      guard let comment = open.comments?[index] else { return }
      let style = isSelected ? theme.selected : theme.author
      let used = paintSignature(
        of: comment.uid,
        named: comment.author,
        at: comment.createdAt,
        style: style,
        in: row
      )
      guard let delivery = session.delivery(of: comment.id) else { return }
      let position = Position(row: row.row, column: row.column + used + 1)
      screen.put(delivery.sign(glyphs), at: position, style: delivery.style(theme), clip: row)
    case .comment(_, let text):
      let position = Position(row: row.row, column: row.column + 2)
      screen.put(text, at: position, style: theme.text, clip: row)
    }
  }

  /// Who and when; returns the number of cells.
  @discardableResult
  private mutating func paintSignature(
    of uid: String,
    named name: String,
    at created: Int64?,
    style: Style,
    in row: Rect
  ) -> Int {
    let age = time(created)
    let when = age.isEmpty ? age : separator + age
    let name = session.shownName(of: uid, named: name)
      .truncated(to: max(1, row.width - when.width), ellipsis: glyphs.ellipsis)
    let used = screen.put(name, at: row.origin, style: style, clip: row)
    let position = Position(row: row.row, column: row.column + used)
    return used + screen.put(when, at: position, style: theme.dim, clip: row)
  }

  private mutating func paintByline(of open: OpenPost, in row: Rect) {
    guard let post = open.post else { return }
    let isStarred = post.stars.contains(session.me.uid)
    let star = isStarred ? glyphs.star : glyphs.emptyStar
    let short = star + " " + ShortNumber.text(post.starCount)
    let words: SafeText = post.starCount == 1 ? " star" : " stars"
    let long = short + words + (isStarred ? ", one is yours" : "")
    let shown = row.width >= 56 ? long : short
    let room = Rect(row: row.row, column: row.column, width: row.width - shown.width - 3, height: 1)
    let used = paintSignature(
      of: post.uid,
      named: post.author,
      at: post.createdAt,
      style: theme.author,
      in: room
    )
    let middle = Position(row: row.row, column: row.column + used)
    screen.put(separator, at: middle, style: theme.dim, clip: row)
    let position = Position(row: row.row, column: middle.column + 3)
    screen.put(shown, at: position, style: isStarred ? theme.star : theme.text, clip: row)
  }

  /// A line across the whole post with a text in it.
  private mutating func paintRule(_ text: SafeText, style: Style, in row: Rect) {
    let all = session.postFrame.rule
    let line = Rect(row: row.row, column: all.column, width: all.width, height: 1)
    screen.horizontalLine(in: line, glyphs: glyphs, style: theme.rule)
    let room = line.inset(rows: 0, columns: 2)
    screen.put(" " + text + " ", at: room.origin, style: style, clip: room)
  }

  /// The selected post beside the list, before it is opened, with its newest comments.
  mutating func paintPreview() {
    let room = session.previewRect
    guard let post = session.feed.selectedPost else { return }
    var preview = OpenPost(id: post.id, known: post, comment: "")
    preview.resize(text: room.size, field: .zero)
    preview.hide(session.reading.hidden)
    if let comments = session.reading.latestComments[post.id] { preview.update(comments: comments) }
    hits.add(.post(post.id), at: room)
    let cursor = screen.cursor
    for (offset, number) in preview.visibleRange.enumerated() {
      paint(preview.layout.lines[number], of: preview, isSelected: false, in: room.line(offset))
    }
    screen.cursor = cursor
  }

  private func commentsHeading(_ open: OpenPost) -> SafeText {
    guard let comments = open.comments else { return "Loading comments" + glyphs.ellipsis }
    let isPreview = model.openPost == nil
    if isPreview, session.commentCount(on: open.id)?.isAtLeast == true {
      return "The newest " + SafeText(comments.count) + " comments"
    }
    switch comments.count {
    case 0:
      let isShort = isPreview || session.postFrame.rule.width < 40
      return isShort ? "No comments yet" : "No comments yet; c writes one"
    case 1: return "1 comment"
    default: return SafeText(comments.count) + " comments"
    }
  }

  /// Who else is writing a comment.
  private mutating func paintTypists(_ open: OpenPost, in rule: Rect) {
    let now = session.now
    let names = open.typists.filter { $0.isWriting(now: now) }.map {
      session.shownName(of: $0.person.uid, named: $0.person.name)
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

  /// The line to write a comment, below everything else.
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
    let mark: SafeText = isASCII ? ">" : "›"
    let style = open.isWriting ? theme.selectedBorder : theme.dim
    screen.put(mark, at: areas.prompt.origin, style: style, clip: areas.prompt)
    let key = session.keys.key(for: .comment, in: .post).map(\.description) ?? ""
    let prompt = open.editing == nil ? "Your comment" : "Your changed comment"
    let hint = SafeText(untrusted: open.isWriting ? prompt : "\(key): write a comment")
    let isFocused = open.isWriting && model.context == .comment
    hits.add(.field(of: OpenPost.self), at: areas.prompt)
    hits.add(.field(of: OpenPost.self), at: areas.field)
    open.field.draw(
      on: &screen,
      in: areas.field,
      style: open.isWriting ? theme.text : theme.dim,
      placeholder: hint,
      isFocused: isFocused
    )
  }
}
