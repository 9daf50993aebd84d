package import BlogModel

/// A search through a whole list.
package struct SearchRequest: Hashable, Sendable {
  /// The number that identifies the search in its reports.
  package let number: Int
  package let kind: FeedKind
  package let pattern: SearchPattern
  package let me: String
  package let readState: ReadState?
  package var lists = OwnLists.empty

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
/// What it has found stays until the search ends.
struct RestSearch: Sendable {
  /// Whether it still searches: running → ended, or running → stopped.
  enum Phase: Equatable {
    case running
    case stopped
    /// It has found what there is, or all that it may find, or it failed.
    case ended(SearchProgress.End)
  }

  let request: SearchRequest
  /// Whether all posts are loaded, so that only their comments are searched.
  let isOfComments: Bool
  fileprivate(set) var phase = Phase.running
  /// The number of posts searched so far.
  fileprivate(set) var searched = 0
  /// When the last searched post was written, in milliseconds since 1970.
  fileprivate(set) var reached: Int64?
  /// The posts that match only with their comments.
  fileprivate(set) var foundByComments: Set<PostID> = []
}

/// The search through the posts that are not loaded, and what was learned by those before it.
struct RestSearches: Sendable {
  /// The search that belongs to the list and the search line, if it has begun.
  private var current: RestSearch?
  private var lastNumber = 0
  /// The number of the search that the blog is running; nil if it runs none.
  private var toldNumber: Int?
  /// The number of posts in each list when all of it was last searched.
  private(set) var lengths: [FeedKind: Int] = [:]

  /// The search of posts that are not loaded; a search of comments alone goes on unseen.
  var shown: RestSearch? { current.flatMap { $0.isOfComments ? nil : $0 } }

  var isEmpty: Bool { current == nil }

  /// The posts of a list that match only with their comments.
  func foundByComments(in kind: FeedKind) -> Set<PostID> {
    current.flatMap { $0.request.kind == kind ? $0.foundByComments : nil } ?? []
  }

  /// Ends the search if it is for another list or pattern, and returns its list.
  mutating func end(unlessIn kind: FeedKind, for pattern: SearchPattern?) -> FeedKind? {
    guard let request = current?.request, request.kind != kind || request.pattern != pattern
    else { return nil }
    current = nil
    return request.kind
  }

  /// Begins a search, whose request is made with its number.
  mutating func begin(isOfComments: Bool, _ request: (Int) -> SearchRequest) {
    lastNumber += 1
    current = RestSearch(request: request(lastNumber), isOfComments: isOfComments)
  }

  /// Has the blog run the search, or none, unless it does so already.
  mutating func tell() -> [Effect] {
    let running = current.flatMap { $0.phase == .running ? $0.request : nil }
    guard running?.number != toldNumber else { return [] }
    toldNumber = running?.number
    return [.search(running)]
  }

  /// Adopts the results of the search, and returns its request if it is still running.
  mutating func take(_ progress: SearchProgress) -> SearchRequest? {
    guard var search = current, search.phase == .running, search.request.number == progress.number
    else { return nil }
    search.searched = progress.searched
    search.reached = progress.reached
    if let end = progress.end {
      search.phase = .ended(end)
      toldNumber = nil
    }
    if progress.end == .complete { lengths[search.request.kind] = progress.searched }
    let byComments = progress.found.filter { !search.request.matches($0) }
    search.foundByComments.formUnion(byComments.map(\.id))
    current = search
    return search.request
  }

  /// Stops the search; returns false if none is shown that is running.
  mutating func stop() -> Bool {
    guard shown?.phase == .running else { return false }
    current?.phase = .stopped
    return true
  }
}

extension Session {
  /// Starts, ends or continues the search of the rest of the list, to match the search line and
  /// list.
  ///
  /// While a search is typed, only the loaded posts are searched: the rest may have to come from
  /// far away, and is requested once, when Enter is pressed.
  mutating func searchRest() -> [Effect] {
    if let kind = feeds.restSearches.end(unlessIn: tab, for: search?.pattern) {
      self[kind].forgetFound()
      self[kind].filter(filter(of: kind))
    }
    let isWhole = !feed.extent.hasOlder && !feed.extent.hasNewer
    if feeds.restSearches.isEmpty, let search, !search.isEditing, let pattern = search.pattern,
      feed.phase == .loaded, !isWhole || pattern.looksAtTexts
    {
      let session = self
      feeds.restSearches.begin(isOfComments: isWhole) { number in
        SearchRequest(
          number: number,
          kind: session.tab,
          pattern: pattern,
          me: session.me.uid,
          readState: session.reading.marks.state,
          lists: session.reading.lists
        )
      }
    }
    return feeds.restSearches.tell()
  }

  mutating func take(_ progress: SearchProgress) {
    guard let request = feeds.restSearches.take(progress), !progress.found.isEmpty else { return }
    self[request.kind].add(found: progress.found, isByStars: request.kind.isByStars)
    self[request.kind].filter(filter(of: request.kind))
  }
}

// MARK: Texts

extension Painter {
  /// The number of posts that a search has found, and the number it has searched.
  var matchCount: SafeText {
    let found = SafeText(session.feed.list.ids.count)
    guard let rest = session.feeds.restSearches.shown else {
      return found + " of " + SafeText(session.feed.posts.count)
    }
    switch rest.phase {
    case .ended(.complete): return found + " of " + Self.grouped(rest.searched)
    case .ended(.full): return found + " found, enough"
    case .ended(.failed): return found + " found, then it failed"
    case .running, .stopped: return found + " found, searched " + searchedCount(rest)
    }
  }

  /// `12,000 of 100,000`, without the second number if the length of the list is unknown.
  private func searchedCount(_ rest: RestSearch) -> SafeText {
    let searched = Self.grouped(rest.searched)
    guard let length = session.feeds.restSearches.lengths[rest.request.kind],
      length >= rest.searched
    else {
      return searched
    }
    return searched + " of " + Self.grouped(length)
  }

  /// The key that stops a search, and ends it once it has stopped.
  private var back: SafeText {
    let context = session.search?.isEditing == true ? Context.search : .list
    return SafeText(untrusted: session.key(.back, in: context))
  }

  /// The results of a kept search, and how to leave it.
  var searchNotice: SafeText? {
    guard model.openPost == nil, let search = session.search, !search.isEditing else { return nil }
    let query = SafeText(untrusted: search.field.text, limit: 60)
    let text = "/" + query + ": " + matchCount
    guard let rest = session.feeds.restSearches.shown else {
      return text + ". " + back + " shows all."
    }
    switch rest.phase {
    case .running: return text + glyphs.ellipsis + " " + back + " stops."
    case .stopped: return text + ", stopped. " + back + " shows all."
    case .ended(.failed(let reason)):
      let why = SafeText(untrusted: Model.clause(reason), limit: 200)
      return text + " (" + why + "). " + back + " shows all."
    case .ended(.complete), .ended(.full): return text + ". " + back + " shows all."
    }
  }

  func nothingFoundText(_ search: Search) -> [SafeText] {
    let query = "\"" + SafeText(untrusted: search.field.text, limit: 40) + "\""
    let extent = session.feed.extent
    guard let rest = session.feeds.restSearches.shown else {
      return extent.hasOlder || extent.hasNewer
        ? ["None of the loaded posts contains " + query + ".", "Enter searches all."]
        : ["No post contains " + query + ".", back + " shows all posts."]
    }
    let searched = Self.grouped(rest.searched)
    switch rest.phase {
    case .running:
      return [
        "Nothing yet: searched " + searchedCount(rest) + glyphs.ellipsis,
        (rest.reached.map { "Back to " + Age.day($0) + ". " } ?? .empty) + back + " stops.",
      ]
    case .ended(.complete):
      return [
        "No post contains " + query + ".",
        "All " + searched + " were searched. " + back + " shows them.",
      ]
    case .ended(.failed(let reason)):
      let why = SafeText(untrusted: Model.clause(reason), limit: 200)
      return [
        "Nothing in the " + searched + " posts that could be read: " + why + ".",
        back + " shows all posts.",
      ]
    case .ended(.full), .stopped:
      return [
        "No post contains " + query + " among the " + searched + " that were searched.",
        back + " shows all posts.",
      ]
    }
  }

  /// A number with a comma between thousands.
  static func grouped(_ number: Int) -> SafeText {
    let digits = String(max(0, number))
    let groups = digits.enumerated().map { index, digit in
      index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : String(digit)
    }
    return SafeText(untrusted: groups.joined())
  }
}
