import BlogModel

/// What the account keeps for itself: muted and blocked people, and bookmarks.
extension Model {
  mutating func adopt(_ lists: OwnLists) {
    session.reading.lists = lists
    openPost?.mute(lists.muted)
    session.refilter()
    if let entries = session.reading.inbox.entries { _ = take(entries) }
    relayout()
  }

  /// Performs an action that can be undone, and says so.
  mutating func change(
    _ action: BlogAction,
    _ message: String,
    undo: BlogAction,
    _ undone: String
  ) -> [Effect] {
    session.message = .note(message)
    session.writing.add(.written(action, undo: undo, message: undone))
    return session.perform(action)
  }

  /// The author of the selected comment, or of the post.
  private var authorInView: Author? {
    openPost?.selectedComment?.writer ?? postInView?.writer
  }

  /// Why an action on somebody else does not apply.
  var otherAuthorReason: DisabledReason? {
    guard let author = authorInView, !author.uid.isEmpty else { return .nothingThere }
    return author.uid == session.me.uid ? .note("That is you") : nil
  }

  mutating func toggleMute() -> [Effect] {
    guard let author = authorInView else { return [] }
    return mute(author, !session.reading.lists.muted.contains(author.uid))
  }

  /// Hides what somebody writes, or shows it again.
  mutating func mute(_ author: Author, _ isMuted: Bool) -> [Effect] {
    let name = session.name(of: author)
    return change(
      .mute(uid: author.uid, isMuted),
      isMuted
        ? "\(name) is muted; \(session.key("undo")) undoes, :muted lists all"
        : "\(name) is no longer muted",
      undo: .mute(uid: author.uid, !isMuted),
      isMuted ? "\(name) is no longer muted" : "\(name) is muted again"
    )
  }

  mutating func toggleBlock() -> [Effect] {
    guard let author = authorInView else { return [] }
    return block(author, !session.reading.lists.blocked.contains(author.uid))
  }

  /// Refuses somebody's comments on the user's posts, or allows them again.
  mutating func block(_ author: Author, _ isBlocked: Bool) -> [Effect] {
    let name = session.name(of: author)
    return change(
      .block(uid: author.uid, isBlocked),
      isBlocked
        ? "\(name) can no longer comment on your posts; \(session.key("undo")) undoes"
        : "\(name) can comment on your posts again",
      undo: .block(uid: author.uid, !isBlocked),
      isBlocked ? "\(name) can comment again" : "\(name) is blocked again"
    )
  }

  mutating func toggleBookmark() -> [Effect] {
    guard let post = postInView else { return [] }
    let isMarked = !session.reading.lists.bookmarks.contains(post.id)
    return change(
      .bookmark(post.id, isMarked),
      isMarked
        ? "The post is marked; \(session.key("show-bookmarks")) shows all bookmarks"
        : "The bookmark is removed",
      undo: .bookmark(post.id, !isMarked),
      isMarked ? "The bookmark is removed" : "The bookmark is back"
    )
  }

  /// Shows the people who are muted or blocked; choosing one ends it.
  mutating func openMuted() {
    let lists = session.reading.lists
    func people(_ uids: Set<String>) -> [Author] {
      uids.sorted().map { Author(uid: $0, name: session.reading.names.name(of: $0) ?? $0) }
    }
    func item(_ person: Author, _ detail: String, _ choice: Chooser.Choice) -> Chooser.Item {
      Chooser.Item(title: session.name(of: person), detail: detail, choice: choice)
    }
    let items =
      people(lists.muted).map { item($0, "muted; Enter shows what they write", .unmute($0)) }
      + people(lists.blocked).map { item($0, "blocked; Enter allows their comments", .unblock($0)) }
    show(Chooser(.muted, items: items))
  }

  /// Saves the search in the list, in place of one with the same name.
  mutating func saveSearch(as name: String) -> [Effect] {
    let searches = session.reading.lists.searches
    let name = SafeText(untrusted: name, limit: SavedSearch.nameLimit).string
    guard let text = session.search?.field.text, session.search?.pattern != nil else {
      let key = session.key(.search)
      return session.answer(.failure("There is no search to save: \(key) searches."))
    }
    let before = searches.first { $0.name == name }
    let taken = Set(searches.map(\.slot))
    guard let slot = before?.slot ?? SavedSearch.slots.first(where: { !taken.contains($0) }),
      name.utf16.count <= SavedSearch.nameLimit, text.utf16.count <= SavedSearch.textLimit
    else {
      session.message = .failure(
        "There can be \(SavedSearch.limit) searches, with names of \(SavedSearch.nameLimit) and "
          + "texts of \(SavedSearch.textLimit) characters."
      )
      return []
    }
    return change(
      .saveSearch(slot: slot, name: name, text: text),
      "The search is saved as \(name); \(session.key("saved-searches")) lists all",
      undo: .saveSearch(slot: slot, name: name, text: before?.text),
      before == nil ? "The search is no longer saved" : "The search is as it was"
    )
  }

  mutating func removeSearch(_ name: String) -> [Effect] {
    guard let search = session.reading.lists.searches.first(where: { $0.name == name }) else {
      let key = session.key("saved-searches")
      return session.answer(.failure("There is no saved search \"\(name)\". \(key) lists all."))
    }
    return change(
      .saveSearch(slot: search.slot, name: name, text: nil),
      "The search is removed; \(session.key("undo")) undoes",
      undo: .saveSearch(slot: search.slot, name: name, text: search.text),
      "The search is back"
    )
  }

  /// Shows the saved searches; choosing one opens it as a list.
  mutating func openSearches() {
    let items = session.reading.lists.searches.map {
      Chooser.Item(title: $0.name, detail: $0.text, choice: .search($0.text))
    }
    show(Chooser(.searches, items: items))
  }
}

extension OwnLists {
  var hasUnwanted: Bool { !muted.isEmpty || !blocked.isEmpty }
}
