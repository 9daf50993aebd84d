package import BlogModel

/// A search through a whole list.
package struct SearchRequest: Hashable, Sendable {
  /// The number that identifies the search in its reports.
  package let number: Int
  /// The list to search.
  package let kind: FeedKind
  /// The pattern to search for.
  package let pattern: SearchPattern
  /// The identifier of the user.
  package let me: String
  /// What the user has read.
  package let readState: ReadState?
  /// What the account keeps for itself.
  package var lists = OwnLists()

  /// Whether a post matches the search.
  ///
  /// - Complexity: O(n) in the length of the texts
  package func matches(_ post: Post, comments: [Comment] = []) -> Bool {
    isInList(post) && pattern.matches(post, comments: comments, me: me, readState: readState)
  }

  /// Whether a post belongs to the list: tags and followed people are searched for in all posts.
  private func isInList(_ post: Post) -> Bool {
    switch kind {
    case .recent, .top, .mine, .myTop, .author: true
    case .tag(let tag): TextMarks(of: post.title, post.body).tags.contains(tag)
    case .following: lists.following.contains(post.uid)
    case .bookmarks: lists.bookmarks.contains(post.id)
    }
  }
}

/// A search through the part of a list that is not loaded.
///
/// States: running → ended, or running → stopped. What it has found stays until the search ends.
package struct RestSearch: Equatable, Sendable {
  /// The request that started it.
  package let request: SearchRequest
  /// The number of posts searched so far.
  package fileprivate(set) var searched = 0
  /// When the last searched post was written, in milliseconds since 1970.
  package fileprivate(set) var reached: Int64?
  /// How it ended; nil while it runs or was stopped.
  package fileprivate(set) var end: SearchProgress.End?
  /// The posts that match only with their comments.
  package fileprivate(set) var foundByComments: Set<PostID> = []
  /// Whether all posts are loaded, so that only their comments are searched.
  let isOfComments: Bool
  /// Whether the user stopped it.
  package fileprivate(set) var isStopped = false

  /// Whether it may still find more.
  package var isRunning: Bool { end == nil && !isStopped }
}

extension Session {
  /// The search of posts that are not loaded; a search of comments alone goes on unseen.
  var shownRestSearch: RestSearch? {
    restSearch.flatMap { $0.isOfComments ? nil : $0 }
  }

  /// Starts, ends or continues the search of the rest of the list, to match the search line and
  /// list.
  ///
  /// While a search is typed, only the loaded posts are searched: the rest may have to come from
  /// far away, and is requested once, when Enter is pressed.
  mutating func searchRest() -> [Effect] {
    if let rest = restSearch, rest.request.kind != tab || rest.request.pattern != search?.pattern {
      restSearch = nil
      self[rest.request.kind].forgetFound()
      self[rest.request.kind].filter(filter(of: rest.request.kind))
    }
    let isWhole = !feed.extent.hasOlder && !feed.extent.hasNewer
    if restSearch == nil, let search, !search.isEditing, let pattern = search.pattern,
      feed.phase == .loaded, !isWhole || pattern.looksAtTexts
    {
      lastSearch += 1
      let request = SearchRequest(
        number: lastSearch,
        kind: tab,
        pattern: pattern,
        me: me.uid,
        readState: reading.state,
        lists: reading.lists
      )
      restSearch = RestSearch(request: request, isOfComments: isWhole)
    }
    let running = restSearch.flatMap { $0.isRunning ? $0.request : nil }
    guard running?.number != toldSearch else { return [] }
    toldSearch = running?.number
    return [.search(running)]
  }

  /// Adopts the results of a search.
  mutating func take(_ progress: SearchProgress) {
    guard let rest = restSearch, rest.isRunning, rest.request.number == progress.number else {
      return
    }
    restSearch?.searched = progress.searched
    restSearch?.reached = progress.reached
    restSearch?.end = progress.end
    if progress.end != nil { toldSearch = nil }
    if case .complete = progress.end { listLengths[rest.request.kind] = progress.searched }
    guard !progress.found.isEmpty else { return }
    let byComments = progress.found.filter { !rest.request.matches($0) }
    restSearch?.foundByComments.formUnion(byComments.map(\.id))
    self[rest.request.kind].add(found: progress.found, isByStars: rest.request.kind.isByStars)
    self[rest.request.kind].filter(filter(of: rest.request.kind))
  }

  /// Stops the search of the rest of the list; returns false if none is running.
  mutating func stopSearch() -> Bool {
    guard shownRestSearch?.isRunning == true else { return false }
    restSearch?.isStopped = true
    return true
  }
}

// MARK: Texts

extension Painter {
  /// The number of posts that a search has found, and the number it has searched.
  var matchCount: SafeText {
    let found = SafeText(session.feed.list.ids.count)
    guard let rest = session.shownRestSearch else {
      return found + " of " + SafeText(session.feed.posts.count)
    }
    switch rest.end {
    case .complete: return found + " of " + Self.grouped(rest.searched)
    case .full: return found + " found, enough"
    case .failed: return found + " found, then it failed"
    case nil: return found + " found, searched " + searchedCount(rest)
    }
  }

  /// `12,000 of 100,000`, without the second number if the length of the list is unknown.
  private func searchedCount(_ rest: RestSearch) -> SafeText {
    let searched = Self.grouped(rest.searched)
    guard let length = session.listLengths[rest.request.kind], length >= rest.searched else {
      return searched
    }
    return searched + " of " + Self.grouped(length)
  }

  /// The results of a kept search, and what Esc does.
  var searchNotice: SafeText? {
    guard model.openPost == nil, let search = session.search, !search.isEditing else { return nil }
    let query = SafeText(untrusted: search.field.text, limit: 60)
    let text = "/" + query + ": " + matchCount
    guard let rest = session.shownRestSearch else { return text + ". Esc shows all." }
    if rest.isRunning { return text + glyphs.ellipsis + " Esc stops." }
    if rest.isStopped { return text + ", stopped. Esc shows all." }
    if case .failed(let reason) = rest.end {
      let why = SafeText(untrusted: Model.clause(reason), limit: 200)
      return text + " (" + why + "). Esc shows all."
    }
    return text + ". Esc shows all."
  }

  /// The text of a list in which a search has found nothing.
  func nothingFoundText(_ search: Search) -> [SafeText] {
    let query = "\"" + SafeText(untrusted: search.field.text, limit: 40) + "\""
    let extent = session.feed.extent
    guard let rest = session.shownRestSearch else {
      return extent.hasOlder || extent.hasNewer
        ? ["None of the loaded posts contains " + query + ".", "Enter searches all."]
        : ["No post contains " + query + ".", "Esc shows all posts."]
    }
    let searched = Self.grouped(rest.searched)
    if rest.isRunning {
      return [
        "Nothing yet: searched " + searchedCount(rest) + glyphs.ellipsis,
        rest.reached.map { "Back to " + Age.day($0) + ". Esc stops." } ?? "Esc stops.",
      ]
    }
    switch rest.end {
    case .complete:
      return [
        "No post contains " + query + ".", "All " + searched + " were searched. Esc shows them.",
      ]
    case .failed(let reason):
      let why = SafeText(untrusted: Model.clause(reason), limit: 200)
      return [
        "Nothing in the " + searched + " posts that could be read: " + why + ".",
        "Esc shows all posts.",
      ]
    case .full, nil:
      return [
        "No post contains " + query + " among the " + searched + " that were searched.",
        "Esc shows all posts.",
      ]
    }
  }

  /// A number with a comma between thousands.
  static func grouped(_ number: Int) -> SafeText {
    var digits = String(max(0, number))
    var parts: [String] = []
    while digits.count > 3 {
      parts.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return SafeText(untrusted: ([digits] + parts).joined(separator: ","))
  }
}
