import BlogModel

extension Model {
  mutating func performInList(_ action: Action) -> [Effect] {
    switch action {
    case .top:
      feed.awaited = nil
      return showFirst()
    case .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .bottom:
      moveInList(action)
      return tellPlace()
    case .nextMatch:
      moveToMatch(by: 1)
      return tellPlace()
    case .previousMatch:
      moveToMatch(by: -1)
      return tellPlace()
    case .open: return feed.list.selection.map { open($0) } ?? []
    case .tab(let kind): return select(tab: kind)
    case .nextTab: return select(tab: neighbour(of: tab, by: 1))
    case .previousTab: return select(tab: neighbour(of: tab, by: -1))
    case .compose: openComposer()
    case .star: return star(feed.selectedPost)
    case .delete: askToDelete(feed.selectedPost)
    case .search: beginSearch()
    case .reload: return reload()
    case .back:
      if search == nil, let effects = backFromAuthor() { return effects }
      endSearch()
    case .quit: return backFromAuthor() ?? quit()
    case .reading(let action): return performWhileReading(action)
    case .writeComment, .send, .switchField, .confirm, .decline, .help, .redraw, .suspend, .program:
      break
    }
    return []
  }

  private mutating func moveInList(_ action: Action) {
    let capacity = feed.list.pageLength
    feed.awaited = nil
    switch action {
    case .up: feed.list.move(by: -1)
    case .down: feed.list.move(by: 1)
    case .pageUp: feed.list.move(by: -capacity)
    case .pageDown: feed.list.move(by: capacity)
    case .halfPageUp: feed.list.move(by: -max(1, capacity / 2))
    case .halfPageDown: feed.list.move(by: max(1, capacity / 2))
    case .bottom: feed.list.move(to: feed.list.ids.count - 1)
    case .top, .open, .back, .quit, .tab, .nextTab, .previousTab, .compose, .star, .delete,
      .search, .nextMatch, .previousMatch, .writeComment, .send, .switchField, .confirm, .decline,
      .reload,
      .help, .redraw, .suspend, .reading, .program:
      break
    }
    feed.isFollowing = false
    feed.markSeen()
  }

  private func neighbour(of kind: FeedKind, by step: Int) -> FeedKind {
    let all = allFeeds
    let index = (all.firstIndex(of: kind) ?? 0) + step
    return all[(index + all.count) % all.count]
  }

  /// Shows a list; it is followed from the first look on, so that coming back shows it at once.
  mutating func select(tab kind: FeedKind) -> [Effect] {
    tab = kind
    refilter()
    guard feed.phase == .idle else { return [] }
    feed.phase = .loading
    return [.follow(kind)]
  }

  private mutating func reload() -> [Effect] {
    if case .failed = feed.phase { feed.phase = .loading }
    message = .note("Reading the list again.")
    return [.stopFollowing(tab), .follow(tab)]
  }

  /// Shows my new post where it is: at the top of the newest, of all or of mine.
  mutating func showPosted(_ id: PostID) -> [Effect] {
    search = nil
    let kind: FeedKind
    switch tab {
    case .recent, .top: kind = .recent
    case .mine, .myTop: kind = .mine
    case .author: kind = .recent
    }
    var effects = leaveAuthor() + select(tab: kind)
    note(id)
    feed.awaited = feed.list.select(id) ? nil : id
    if feed.extent.hasNewer { effects.append(.showFirst(kind)) }
    feed.markSeen()
    return effects
  }

  /// Opens a post in front of the list, with what was begun to be written about it.
  mutating func open(_ id: PostID) -> [Effect] {
    let comment = takeCommentDraft(id) ?? ""
    openPost = OpenPost(id: id, known: knownPost(id), comment: comment)
    openPost?.hide(reading.hidden)
    if let state = reading.state { openPost?.noteRead(state, me: me.uid) }
    relayout()
    return [.open(id)]
  }

  /// Leaves, or asks first when something would be lost, until nothing would be.
  mutating func quit() -> [Effect] {
    guard hasOpenEnds else { return leaveForGood() }
    question = .quit
    return []
  }

  /// Whether something is typed and not sent, or written and not acknowledged.
  var hasOpenEnds: Bool {
    !unsentDrafts.isEmpty || !unsentComments.isEmpty || pendingWrites > 0
  }

  /// Leaves; what was to be deleted is deleted.
  mutating func leaveForGood() -> [Effect] { carryOutDeletions(until: .max) + [.quit] }
}
