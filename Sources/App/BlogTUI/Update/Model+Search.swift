import BlogModel

extension Model {
  mutating func performInSearch(_ action: Action) -> [Effect] {
    switch action {
    case .send:
      search?.isEditing = false
      if search?.pattern == nil { endSearch() }
    case .back: endSearch()
    case .down:
      feed.list.move(by: 1)
      feed.markSeen()
      return tellPlace()
    case .up: feed.list.move(by: -1)
    case .pageUp, .pageDown, .halfPageUp, .halfPageDown, .top, .bottom, .open, .quit, .tab,
      .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch, .previousMatch,
      .writeComment, .switchField, .confirm, .decline, .reload, .help, .redraw, .suspend, .reading,
      .program:
      break
    }
    feed.markSeen()
    return []
  }

  mutating func typeIntoSearch(_ key: KeyEvent) {
    if search?.field.handle(key) == .changed { refilter() }
  }

  /// Opens the search line; a search that goes on is changed.
  mutating func beginSearch() {
    if search == nil { search = Search(origin: feed.list.selection) }
    search?.isEditing = true
    relayout()
  }

  /// Shows all posts again; what is selected stays selected.
  mutating func endSearch() {
    guard let ended = search else {
      message = .note("q quits, ? shows all keys.")
      return
    }
    let selection = feed.list.selection ?? ended.origin
    search = nil
    refilter()
    if let selection { feed.list.select(selection) }
    feed.markSeen()
  }

  /// To the match that many further, round at the ends.
  mutating func moveToMatch(by step: Int) {
    guard search?.pattern != nil else {
      message = .note("Nothing was searched: / searches.")
      return
    }
    guard let index = feed.list.selectedIndex else { return }
    let count = feed.list.ids.count
    feed.list.move(to: (index + step + count) % count)
    feed.markSeen()
  }
}
