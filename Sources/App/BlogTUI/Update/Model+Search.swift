import BlogModel

extension Model {
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

  /// Goes on with the list while the search limits it; a search for nothing ends.
  mutating func keepSearch() {
    search?.isEditing = false
    if search?.pattern == nil { endSearch() }
    feed.markSeen()
  }

  /// To the match that many further, round at the ends.
  mutating func moveToMatch(by step: Int) -> [Effect] {
    guard let index = feed.list.selectedIndex else { return [] }
    let count = feed.list.ids.count
    feed.list.move(to: (index + step + count) % count)
    feed.markSeen()
    return tellPosition()
  }
}
