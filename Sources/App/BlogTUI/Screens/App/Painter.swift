import BlogModel

/// Draws a model part by part; each part clips itself to its rectangle.
struct Painter: FramePainter {
  let model: Model
  let session: Session
  let frame: Frame
  // Cached for all rows of a screen.
  let theme: Theme
  let glyphs: GlyphSet
  let isASCII: Bool
  /// The separator between facts on one line.
  let separator: SafeText
  var screen: Screen
  /// The rows of the list from the previous drawing.
  var drawnRows: DrawnRows
  var hits = HitMap<ClickTarget>()

  init(_ model: Model, drawnRows: DrawnRows = DrawnRows()) {
    self.drawnRows = drawnRows
    self.model = model
    session = model.session
    frame = Frame(model.session.size)
    theme = model.session.theme
    glyphs = model.session.glyphs
    isASCII = glyphs.repertoire == .ascii
    separator = glyphs.factSeparator
    screen = Screen(size: model.session.size)
  }

  mutating func paint() {
    guard Frame.isLargeEnough(session.size) else { return paintTooSmall() }
    let content = model.stack.content
    screen.horizontalLine(in: frame.upperRule, glyphs: glyphs, style: theme.rule)
    let rule = content.lowerRule(in: session)
    screen.horizontalLine(in: rule, glyphs: glyphs, style: theme.rule)
    content.draw(on: &self)
    paintStatus()
    paintFooter()
    model.stack.front.drawOverlay(on: &self)
    let isHidden = session.settings.word(.cursor) == "hidden"
    if isHidden, !model.context.isTyping { screen.cursor = nil }
  }

  /// Paints the line between list and post, over the full height.
  mutating func paintSplitLine() {
    let line = frame.content.cut(left: session.postFrame.border.column)
    screen.verticalLine(in: line, glyphs: glyphs, style: theme.border)
  }

  /// Paints the tabs, and the notices that hold as long as they are shown.
  mutating func paintHeader() {
    let bar = TabBar(session)
    screen.put(bar.brand, at: frame.header.origin, style: theme.brand, clip: frame.header)
    for tab in bar.tabs {
      let isActive = tab.kind == session.tab
      let style = isActive ? theme.activeTab : theme.tab
      screen.put(tab.text, at: tab.rect.origin, style: style, clip: frame.header)
      hits.add(.tab(tab.kind), at: tab.rect)
    }
    let end = bar.tabs.last?.rect.endColumn ?? 0
    let used = paintNoticeMark(in: frame.header.cut(left: end))
    paintNotices(after: end, leaving: used)
  }

  /// Paints notices into the upper rule, or to the right of the tabs where there is no rule.
  private mutating func paintNotices(after column: Int, leaving used: Int) {
    let mark = unseenMark
    if frame.upperRule.isEmpty {
      let room = frame.header.cut(left: column, right: used)
      let short = model.openPost == nil ? mark.short : .empty
      guard short.width < room.width else { return }
      screen.put(short, in: room, style: unseenStyle, aligned: .trailing)
      return
    }
    if let notice {
      let room = frame.upperRule.inset(rows: 0, columns: 2)
      screen.put(
        " " + notice.truncated(to: room.width - 2, ellipsis: glyphs.ellipsis) + " ",
        at: room.origin,
        style: theme.notice,
        clip: room
      )
    }
    guard model.openPost == nil, !mark.long.isEmpty else { return }
    let room = frame.upperRule.inset(rows: 0, columns: 2)
    let text = " " + mark.long + " "
    let position = Position(row: room.row, column: max(room.column, room.endColumn - text.width))
    screen.put(text, at: position, style: unseenStyle, clip: room)
  }

  private var unseenStyle: Style { style(theme.notice, of: .unseen) }

  /// The style of something that may have just arrived.
  func style(_ atRest: Style, of subject: Arrivals.Subject) -> Style {
    session.reading.arrivals.contains(subject) ? theme.glowing(atRest) : atRest
  }

  /// A notice, which unlike a message stays for as long as it holds.
  private var notice: SafeText? {
    if let open = model.openPost, open.isGone {
      return open.post == nil ? "There is no such post." : "This post was deleted."
    }
    if case .failed(let reason) = session.feed.phase, model.openPost == nil {
      let why = Model.clause(reason)
      return SafeText(untrusted: "Cannot be read: \(why). \(session.retryAdvice)")
    }
    let texts = [searchNotice, followingNotice, offlineNotice].compactMap(\.self)
    return texts.isEmpty ? nil : texts.joined(separator: separator)
  }

  private var followingNotice: SafeText? {
    session.feed.isFollowing && model.openPost == nil ? "Following the newest posts." : nil
  }

  private var offlineNotice: SafeText? {
    switch session.connection.state {
    case .online where session.connection.isAlive(at: session.now): return nil
    case .connecting where session.connection.problem == nil: return nil
    case .online, .connecting, .offline: break
    }
    if let problem = session.connection.problem, problem.isPermanent || problem.cause == nil {
      return SafeText(untrusted: "Offline: \(Model.clause(problem.reason)).", limit: 400)
    }
    return frame.upperRule.width < 72
      ? "Offline: this may be old."
      : "Offline: what you see may be old, what you write is sent later."
  }

  private var unseenMark: (long: SafeText, short: SafeText) {
    let count = session.feed.unseenCount
    let arrow: SafeText = isASCII ? "^" : "▲"
    if session.feed.extent.hasNewer {
      return (arrow + " newer posts" + hintToTop, arrow)
    }
    guard count > 0 else { return (.empty, .empty) }
    return (arrow + " " + SafeText(count) + " new" + hintToTop, arrow + SafeText(count))
  }

  private var hintToTop: SafeText {
    session.keys.keyText(for: .top, in: .list).map { ", " + $0 + " shows" } ?? .empty
  }
}

// MARK: Views

/// Draws the model; equal models produce equal screens, exactly as large as the model says.
package func view(_ model: Model) -> Screen {
  var rows = DrawnRows()
  return view(model, reusing: &rows)
}

/// Draws the model like ``view(_:)``, but reuses list rows that look the same as before.
package func view(_ model: Model, reusing rows: inout DrawnRows) -> Screen {
  var painter = Painter(model, drawnRows: rows)
  // Releases the second reference, so that nothing is copied.
  rows = DrawnRows()
  painter.paint()
  rows = painter.drawnRows
  return painter.screen
}
