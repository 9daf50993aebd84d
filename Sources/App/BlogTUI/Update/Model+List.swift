import BlogModel

extension Model {
  mutating func moveInList(_ motion: Motion) -> [Effect] {
    feed.awaited = nil
    if motion == .top { return showFirst() }
    feed.list.move(motion)
    feed.isFollowing = false
    feed.markSeen()
    return tellPosition()
  }

  /// Shows the next list, or the one before.
  mutating func selectNeighbour(by step: Int) -> [Effect] {
    select(tab: neighbour(of: tab, by: step))
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

  mutating func reload() -> [Effect] {
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
