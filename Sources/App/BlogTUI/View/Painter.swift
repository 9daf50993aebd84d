import BlogModel

/// Draws a model part by part; each part clips itself to its rectangle.
struct Painter {
  let model: Model
  let frame: Frame
  // Looked up once for all the rows of a screen.
  let theme: Theme
  let glyphs: GlyphSet
  let isASCII: Bool
  /// Between facts on one line.
  let separator: SafeText
  var screen: Screen
  /// The rows of the list as they were drawn before.
  var drawnRows: DrawnRows
  /// What was drawn where.
  var hits = HitMap<ClickTarget>()

  init(_ model: Model, drawnRows: DrawnRows = DrawnRows()) {
    self.drawnRows = drawnRows
    self.model = model
    frame = Frame(model.size)
    theme = model.theme
    glyphs = model.glyphs
    isASCII = glyphs.repertoire == .ascii
    separator = glyphs.factSeparator
    screen = Screen(size: model.size)
  }

  /// Draws everything.
  mutating func paint() {
    guard Frame.isLargeEnough(model.size) else { return paintTooSmall() }
    paintRules()
    if model.chooser != nil {
      paintChooser()
    } else if let page = model.help {
      paint(page)
    } else if model.inspector.isOpen {
      paintInspector()
    } else if model.composer != nil {
      paintComposer()
    } else {
      paintHeader()
      paintReading()
    }
    paintStatus()
    paintFooter()
    if model.commandLine != nil { paintCompletions() }
    let isHidden = model.settings.word(.cursor) == "hidden"
    if isHidden, !model.context.isTyping { screen.cursor = nil }
  }

  /// The list, the open post, or both side by side.
  private mutating func paintReading() {
    guard model.isSplit else { return model.openPost != nil ? paintPost() : paintList() }
    paintList()
    // The line between both goes all the way down, also beside a short post.
    screen.verticalLine(in: model.postFrame.border, glyphs: glyphs, style: theme.border)
    paintPost()
  }

  private mutating func paintTooSmall() {
    let text: SafeText = "Too small: need 20x6"
    let lines = text.wrapped(width: model.size.width)
    screen.put(lines: lines, in: screen.bounds)
  }

  private mutating func paintRules() {
    screen.horizontalLine(in: frame.upperRule, glyphs: glyphs, style: theme.rule)
    let isReading =
      model.composer == nil && model.contextBelowCommand == model.contextBelowHelp
      && model.chooser == nil
    var rule = frame.lowerRule
    // A post has the row of this line for the comment that is written.
    if isReading, model.isSplit {
      rule = rule.intersection(
        Rect(row: rule.row, column: 0, width: model.listRect.width, height: 1)
      )
    } else if isReading, model.openPost != nil {
      return
    }
    screen.horizontalLine(in: rule, glyphs: glyphs, style: theme.rule)
  }

  private mutating func paintHeader() {
    let bar = TabBar(model)
    screen.put(bar.brand, at: frame.header.origin, style: theme.brand, clip: frame.header)
    for tab in bar.tabs {
      let isActive = tab.kind == model.tab
      let style = isActive ? theme.activeTab : theme.tab
      screen.put(tab.text, at: tab.rect.origin, style: style, clip: frame.header)
      hits.add(.tab(tab.kind), at: tab.rect)
    }
    paintNotices(after: bar.tabs.last?.rect.endColumn ?? 0)
  }

  /// Notices stand in the upper rule, or at the right of the tabs where there is no rule.
  private mutating func paintNotices(after column: Int) {
    let mark = unseenMark
    if frame.upperRule.isEmpty {
      let room = Rect(
        row: frame.header.row,
        column: column,
        width: frame.header.width - column,
        height: 1
      )
      let short = model.openPost == nil ? mark.short : .empty
      guard short.width < room.width else { return }
      screen.put(short, in: room, style: theme.notice, aligned: .trailing)
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
    let place = Position(row: room.row, column: max(room.column, room.endColumn - text.width))
    screen.put(text, at: place, style: theme.notice, clip: room)
  }

  /// What is true as long as it is shown, unlike a message.
  private var notice: SafeText? {
    if model.openPost?.isGone == true { return "This post was deleted." }
    if case .failed(let reason) = model.feed.phase, model.openPost == nil {
      return SafeText(untrusted: "Cannot be read: \(Model.clause(reason)). r tries again.")
    }
    let texts = [searchNotice, followingNotice, offlineNotice].compactMap(\.self)
    return texts.isEmpty ? nil : texts.joined(separator: separator)
  }

  private var followingNotice: SafeText? {
    model.feed.isFollowing && model.openPost == nil ? "Following the newest." : nil
  }

  private var searchNotice: SafeText? {
    guard model.openPost == nil, let search = model.search, !search.isEditing else { return nil }
    let query = SafeText(untrusted: search.field.text, limit: 60)
    return "/" + query + ": " + matchCount + ". Esc shows all."
  }

  private var offlineNotice: SafeText? {
    switch model.connection {
    case .online: return nil
    case .connecting where model.connectionProblem == nil: return nil
    case .connecting, .offline: break
    }
    if let reason = model.connectionProblem {
      return SafeText(untrusted: "Offline: \(Model.clause(reason)).", limit: 400)
    }
    return frame.upperRule.width < 72
      ? "Offline: this may be old."
      : "Offline: what you see may be old, what you write is sent later."
  }

  /// The number of posts that a search found, of how many.
  var matchCount: SafeText {
    SafeText(model.feed.list.ids.count) + " of " + SafeText(model.feed.posts.count)
  }

  private var unseenMark: (long: SafeText, short: SafeText) {
    let count = model.feed.unseenCount
    let arrow: SafeText = isASCII ? "^" : "▲"
    if model.feed.extent.hasNewer {
      return (arrow + " newer posts" + hintToTop, arrow)
    }
    guard count > 0 else { return (.empty, .empty) }
    return (arrow + " " + SafeText(count) + " new" + hintToTop, arrow + SafeText(count))
  }

  private var hintToTop: SafeText {
    model.keys.keyText(for: .top, in: .list).map { ", " + $0 + " shows" } ?? .empty
  }
}
