import BlogModel

extension Painter {
  /// A line of the text in place of rows; keys and their meanings are aligned in two columns.
  private enum EmptyLine {
    case text(SafeText)
    case key(SafeText, SafeText)
    /// Separates parts where there is room.
    case gap

    func wrapped(width: Int) -> [EmptyLine] {
      guard case .text(let text) = self else { return [self] }
      return text.wrapped(width: width).map(EmptyLine.text)
    }
  }

  /// Explains why the list is empty, and what to do.
  mutating func paintEmptyList() {
    let area = session.listRect
    let width = max(1, area.width - 4)
    var lines = emptyListText.map(EmptyLine.text)
    if isEmptyBlog { lines = welcome(in: Size(width: width, height: area.height)) }
    lines = lines.flatMap { $0.wrapped(width: width) }
    if lines.count > area.height { lines.removeAll { if case .gap = $0 { true } else { false } } }
    let room = area.centered(Size(width: width, height: min(lines.count, area.height)))
    let pairs = lines.compactMap { line -> (SafeText, SafeText)? in
      if case .key(let key, let meaning) = line { (key, meaning) } else { nil }
    }
    let column = (pairs.map(\.0.width).max() ?? 0) + 2
    let block = room.centered(
      Size(width: column + (pairs.map(\.1.width).max() ?? 0), height: room.height)
    )
    for (index, line) in lines.prefix(room.height).enumerated() {
      switch line {
      case .text(let text):
        let style = index == 0 ? theme.text : theme.dim
        screen.put(text, in: room.line(index), style: style, aligned: .center)
      case .key(let key, let meaning):
        let cells = Layout.columns([.fixed(column), .flexible], in: block.line(index))
        screen.put(key, in: cells[0], style: theme.key)
        put(meaning, in: cells[1], style: theme.dim)
      case .gap: break
      }
    }
  }

  /// Whether the newest posts are in view and there are none.
  private var isEmptyBlog: Bool {
    session.feed.phase == .loaded && session.tab == .recent && session.feed.posts.isEmpty
  }

  /// The first thing that a new user reads: what this is, the first keys, and how to see it live.
  private func welcome(in room: Size) -> [EmptyLine] {
    let isWide = room.width >= 60
    let keys: [EmptyLine] = [
      .key(key(.compose), "write a post"), .key(key(.help), "show the keys"),
      .key(key(.quit), "quit"),
    ]
    let lines: [EmptyLine] = [
      .text("No posts yet - why not add one?"), .gap,
      .text(
        isWide
          ? "A blog in the terminal: all terminals see what one writes, at once."
          : "A blog that all terminals see live."
      ), .gap,
    ]
    // Only a local database is opened by the bare command, and is one's own to fill.
    let options: [String: SafeText] = ["local": "", "in memory": " --ephemeral"]
    guard let option = options[session.connection.databaseName] else { return lines + keys }
    let hearth = "hearth" + option
    let sample = "hearth import --sample" + option
    return lines + keys + [
      .gap,
      .text(
        isWide
          ? "To see it live, open a second terminal and type " + hearth + "."
          : "In a second terminal: " + hearth
      ),
      .text(isWide ? sample + " adds a blog worth looking at." : sample),
    ]
  }

  /// The key of an action in a list; the command, if it has none.
  private func key(_ action: Action, in context: Context = .list) -> SafeText {
    SafeText(untrusted: session.key(action, in: context))
  }

  private var emptyListText: [SafeText] {
    if let search = session.search, search.pattern != nil, !session.feed.posts.isEmpty {
      return nothingFoundText(search)
    }
    switch session.feed.phase {
    case .idle, .loading:
      if let seconds = session.connection.silentSeconds(at: session.now),
        let silence = session.connection.silence
      {
        let address = SafeText(untrusted: silence.address, limit: 200)
        return [
          "Waiting for an answer from " + address + ": " + SafeText(seconds) + " s so far.",
          "The posts come as soon as it answers. " + key(.quit) + " leaves.",
        ]
      }
      if case .offline = session.connection.state {
        guard let problem = session.connection.problem else {
          return ["Not loaded yet: the database cannot be reached.", "Retrying automatically."]
        }
        let reason = SafeText(untrusted: Model.clause(problem.reason), limit: 400)
        return ["Not loaded yet: " + reason + ".", "Retrying automatically."]
      }
      return ["Loading" + glyphs.ellipsis]
    case .failed(let reason):
      let text = SafeText(untrusted: "This list cannot be read: \(Model.clause(reason)).")
      return [text, SafeText(untrusted: session.retryAdvice)]
    case .loaded:
      switch session.tab {
      case .following:
        return [
          "No posts of people whom you follow.",
          key("follow-author") + " on a post follows its author.",
        ]
      case .bookmarks: return ["No bookmarks yet.", key("bookmark") + " on a post marks it."]
      case .tag: return ["No post has this tag.", key(.back) + " goes back."]
      case .author: return ["No posts of this author.", key(.back) + " goes back."]
      case .mine, .myTop:
        return ["No posts of yours yet.", key(.compose) + " writes the first one."]
      case .top, .recent:
        return [
          "No posts yet, so there is no favourite.",
          key(.compose) + " writes one; " + key(.star) + " on a post stars it.",
        ]
      }
    }
  }

  /// Explains why a page has no rows, and which key helps.
  mutating func paintEmptyPage(_ lines: [SafeText]) {
    let wrapped = lines.flatMap { $0.wrapped(width: max(1, frame.page.width - 2)) }
    let height = min(wrapped.count, frame.page.height)
    let room = frame.page.centered(Size(width: frame.page.width, height: height))
    for (index, line) in wrapped.prefix(height).enumerated() {
      let style = index == 0 ? theme.text : theme.dim
      screen.put(line, in: room.line(index), style: style, aligned: .center)
    }
  }

  /// Explains why there are no notices, or that they are not loaded yet.
  mutating func paintNoNotices(isKnown: Bool) {
    guard isKnown else { return paintEmptyPage(["Loading" + glyphs.ellipsis]) }
    paintEmptyPage([
      "No notices yet.", "Comments and stars on your posts, answers and @mentions come here.",
      key(.back, in: .notices) + " goes back; " + key(.compose) + " in a list writes a post.",
    ])
  }

  mutating func paintNoDrafts() {
    paintEmptyPage([
      "No drafts left.", "A text that you leave unsent waits here.",
      key(.back, in: .drafts) + " goes back; " + key(.compose) + " in a list writes a post.",
    ])
  }
}
