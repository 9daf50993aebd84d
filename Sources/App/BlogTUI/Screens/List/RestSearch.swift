package import BlogModel

/// What to look for in a whole list.
package struct SearchRequest: Hashable, Sendable {
  /// Names the search in its reports.
  package let number: Int
  /// The list.
  package let kind: FeedKind
  /// What to look for.
  package let pattern: SearchPattern
  /// Who I am.
  package let me: String
  /// What I have read.
  package let readState: ReadState?
  /// Whom I follow.
  package var following: Set<String> = []

  /// Whether a post is looked for.
  ///
  /// - Complexity: O(n) in the length of the post
  package func matches(_ post: Post) -> Bool {
    isInList(post) && pattern.matches(post, me: me, readState: readState)
  }

  /// Whether a post that was read is one of the list: tags and people followed are looked for in all.
  private func isInList(_ post: Post) -> Bool {
    switch kind {
    case .recent, .top, .mine, .myTop, .author: true
    case .tag(let tag): TextMarks(of: post.title, post.body).tags.contains(tag)
    case .following: following.contains(post.uid)
    }
  }
}

/// A search through the part of a list that is not loaded.
///
/// States: running → ended, or running → stopped. What it has found stays until the search ends.
package struct RestSearch: Equatable, Sendable {
  /// What is looked for.
  package let request: SearchRequest
  /// How many posts were looked at so far.
  package fileprivate(set) var searched = 0
  /// When the last of them was made, in milliseconds since 1970.
  package fileprivate(set) var reached: Int64?
  /// How it ended; nil while it runs or was stopped.
  package fileprivate(set) var end: SearchProgress.End?
  /// Whether the user has stopped it.
  package fileprivate(set) var isStopped = false

  /// Whether more may be found.
  package var isRunning: Bool { end == nil && !isStopped }
}

extension Session {
  /// Starts, ends or goes on with the search behind the list, as the search line and the list say.
  ///
  /// While a search is typed, only what is loaded is searched: the rest may have to come from far
  /// away, and is asked for once, with Enter.
  mutating func searchRest() -> [Effect] {
    if let rest = restSearch, rest.request.kind != tab || rest.request.pattern != search?.pattern {
      restSearch = nil
      self[rest.request.kind].forgetFound()
      self[rest.request.kind].filter(filter(of: rest.request.kind))
    }
    if restSearch == nil, let search, !search.isEditing, let pattern = search.pattern,
      feed.phase == .loaded, feed.extent.hasOlder || feed.extent.hasNewer
    {
      lastSearch += 1
      let request = SearchRequest(
        number: lastSearch,
        kind: tab,
        pattern: pattern,
        me: me.uid,
        readState: reading.state,
        following: tab == .following ? reading.following : []
      )
      restSearch = RestSearch(request: request)
    }
    let running = restSearch.flatMap { $0.isRunning ? $0.request : nil }
    guard running?.number != toldSearch else { return [] }
    toldSearch = running?.number
    return running.map { [.search($0)] } ?? [.stopSearching]
  }

  /// Takes over what a search has found.
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
    self[rest.request.kind].add(found: progress.found, isByStars: rest.request.kind.isByStars)
    self[rest.request.kind].filter(filter(of: rest.request.kind))
  }

  /// Stops the search behind the list; false if none is running.
  mutating func stopSearch() -> Bool {
    guard restSearch?.isRunning == true else { return false }
    restSearch?.isStopped = true
    return true
  }
}

// MARK: Words

extension Painter {
  /// The number of posts that a search found, of how many.
  var matchCount: SafeText {
    let found = SafeText(session.feed.list.ids.count)
    guard let rest = session.restSearch else {
      return found + " of " + SafeText(session.feed.posts.count)
    }
    switch rest.end {
    case .complete: return found + " of " + Self.grouped(rest.searched)
    case .full: return found + " found, enough"
    case .failed: return found + " found, then it failed"
    case nil: return found + " found, searched " + searchedCount(rest)
    }
  }

  /// `12,000 of about 100,000`, without the second number where nobody has counted.
  private func searchedCount(_ rest: RestSearch) -> SafeText {
    let searched = Self.grouped(rest.searched)
    guard let length = session.listLengths[rest.request.kind], length >= rest.searched else {
      return searched
    }
    return searched + " of " + Self.grouped(length)
  }

  /// What a kept search has come to, and what Esc does.
  var searchNotice: SafeText? {
    guard model.openPost == nil, let search = session.search, !search.isEditing else { return nil }
    let query = SafeText(untrusted: search.field.text, limit: 60)
    let text = "/" + query + ": " + matchCount
    guard let rest = session.restSearch else { return text + ". Esc shows all." }
    if rest.isRunning { return text + glyphs.ellipsis + " Esc stops." }
    if rest.isStopped { return text + ", stopped. Esc shows all." }
    if case .failed(let reason) = rest.end {
      let why = SafeText(untrusted: Model.clause(reason), limit: 200)
      return text + " (" + why + "). Esc shows all."
    }
    return text + ". Esc shows all."
  }

  /// What a list says in which a search has found nothing.
  func nothingFoundText(_ search: Search) -> [SafeText] {
    let query = "\"" + SafeText(untrusted: search.field.text, limit: 40) + "\""
    let extent = session.feed.extent
    guard let rest = session.restSearch else {
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
