package import BlogModel

/// What readers see apart from the posts themselves.
package struct Reading: Sendable {
  /// Everyone's names, so that people with the same name can be told apart.
  package internal(set) var names = NameBook()
  package internal(set) var company = Company()
  package internal(set) var marks = ReadMarks()
  var inbox = NoticeInbox()
  /// The newest comments on the posts in view.
  var comments = NewestComments()
  package internal(set) var lists = OwnLists.empty
  var arrivals = Arrivals()
  /// Whether texts are shown as written, with their markup uninterpreted.
  var showsSource = false

  /// What others did that concerns the user, newest first, apart from people who are muted; nil
  /// until it is known.
  package var notices: [NoticeEntry]? {
    guard !lists.muted.isEmpty else { return inbox.entries }
    return inbox.entries?.filter { entry in
      entry.author.map { !lists.muted.contains($0.uid) } ?? true
    }
  }
}

/// The other terminals, and what they are told about this one.
package struct Company: Sendable {
  /// How often others are told that the user is still typing, in milliseconds.
  private static let typingPause: Int64 = 10_000

  /// The terminals that are online.
  package internal(set) var people: [Presence] = []
  /// What they read, by the identifier of the terminal; nil while it is not shown.
  private var places: [String: ReadingPlace]?
  /// Whether the blog has been told to show others what the user reads.
  private var sharesPlace = false
  /// The post on which others see the user typing, and since when.
  private var typing: (post: PostID, since: Int64)?

  func places(of terminals: [Presence]) -> [ReadingPlace] {
    terminals.compactMap { places?[$0.id] }
  }

  /// Adopts what the terminals read, if it is shown.
  mutating func take(_ new: [ReadingPlace]) {
    if places != nil { places = Dictionary(new.map { ($0.id, $0) }) { $1 } }
  }

  /// Requests what others read, or requests it no longer.
  mutating func watchPlaces(_ isOn: Bool) -> [Effect] {
    guard isOn != (places != nil) else { return [] }
    places = isOn ? [:] : nil
    return [.request(.watchReading(isOn))]
  }

  /// Has the blog show others what the user reads, or hide it.
  mutating func sharePlace(_ isOn: Bool) -> [Effect] {
    guard isOn != sharesPlace else { return [] }
    sharesPlace = isOn
    return [.request(.shareReading(isOn))]
  }

  /// Tells others that the user is typing on a post, at a limited rate.
  mutating func type(on post: PostID, at now: Int64) -> [Effect] {
    if let typing, typing.post == post, now < typing.since + Self.typingPause { return [] }
    typing = (post, now)
    return [.request(.typing(post, true))]
  }

  /// Tells others that the user is no longer typing.
  mutating func endTyping() -> [Effect] {
    guard let ended = typing else { return [] }
    typing = nil
    return [.request(.typing(ended.post, false))]
  }
}

/// What the user has read, here and on other terminals.
package struct ReadMarks: Sendable {
  /// What the user has read; nil until it is known.
  package private(set) var state: ReadState?
  /// The state that the blog reported last; older than ``state`` while a mark is unacknowledged.
  private var told: ReadState?
  /// The number of the user's marks that are not acknowledged yet.
  private var unanswered = 0
  /// The times up to which the user has marked everything as read here.
  private var ownTimes: Set<Int64> = []
  /// Whether the blog has yet to tell the last of them exactly.
  private var awaitsOwnTime = false

  /// Changes what the user has read, before the blog knows about it.
  mutating func change(_ change: (inout ReadState) -> Void) {
    guard var changed = state else { return }
    change(&changed)
    state = changed
    unanswered += 1
  }

  /// Marks a post, and has the blog store that.
  mutating func mark(_ post: PostID, as mark: ReadState.Mark) -> Effect {
    change { $0.marks[post] = mark }
    return .mark(.post(post, mark))
  }

  /// Marks everything as read, and has the blog store that.
  mutating func markAll(at now: Int64) -> Effect {
    change { $0 = ReadState(before: now, stars: $0.stars) }
    ownTimes.insert(now)
    awaitsOwnTime = true
    return .mark(.allRead)
  }

  /// Takes back what has changed from one state to the other, apart from what was marked again since.
  mutating func restore(_ old: ReadState, from new: ReadState) -> [Effect] {
    guard let state, new.before == old.before || ownTimes.contains(state.before) else { return [] }
    let before = new.before == old.before ? nil : old.before
    var marks: [PostID: ReadState.Mark?] = [:]
    for post in Set(old.marks.keys).union(new.marks.keys)
    where old.marks[post] != new.marks[post] && state.marks[post] == new.marks[post] {
      marks.updateValue(old.marks[post], forKey: post)
    }
    let stars = (new.stars ?? [:]).filter { post, count in
      old.stars?[post] != count && state.stars?[post] == count
    }
    let known = note(stars: stars.map { post, _ in (post, old.stars?[post] ?? 0) })
    guard before != nil || !marks.isEmpty else { return known }
    change { state in
      state.before = before ?? state.before
      for (post, mark) in marks { state.marks[post] = mark }
    }
    return [.mark(.restore(before: before, marks: marks))] + known
  }

  /// Notes the numbers of stars that the user knows, where they differ from those known before.
  mutating func note(stars: [(post: PostID, count: Int)]) -> [Effect] {
    let new = stars.filter { state?.stars?[$0.post] != $0.count }
    guard state != nil, !new.isEmpty else { return [] }
    let changes = Dictionary(new.map { ($0.post, $0.count) }) { $1 }
    change { $0.stars = ($0.stars ?? [:]).merging(changes) { $1 } }
    return [.mark(.stars(changes))]
  }

  /// Adopts the blog's state once it includes all marks made here: an echo of an older mark would
  /// briefly undo a newer one.
  mutating func take(_ state: ReadState) {
    told = state
    if unanswered == 0 { self.state = state }
  }

  /// Notes that the blog has stored or refused one of the user's marks.
  mutating func takeAnswer() {
    unanswered = max(0, unanswered - 1)
    guard unanswered == 0, let told else { return }
    state = told
    if awaitsOwnTime { ownTimes.insert(told.before) }
    awaitsOwnTime = false
  }
}

struct NoticeInbox: Sendable {
  /// The shortest time between two that ring, in milliseconds.
  private static let pause: Int64 = 5_000

  /// The notices, newest first, with those of people who are muted; nil until they are known.
  var entries: [NoticeEntry]?
  private var isRequested = false
  /// When the last one rang.
  private var rangAt: Int64?

  /// Requests notices from the blog, once.
  mutating func request() -> [Effect] {
    guard !isRequested else { return [] }
    isRequested = true
    return [.request(.hearNotices(true))]
  }

  /// Rings for a notice, unless another one has just done so.
  mutating func ring(_ text: String, at now: Int64) -> [Effect] {
    if let rangAt, now < rangAt + Self.pause { return [] }
    rangAt = now
    return [.terminal(.notify(text))]
  }
}

/// The newest comments on the posts in view, which are requested post by post.
struct NewestComments: Sendable {
  private var watched: Set<PostID> = []
  private var latest: [PostID: [Comment]] = [:]

  /// The newest comments on a post, oldest first; nil until they are known.
  subscript(post: PostID) -> [Comment]? { latest[post] }

  /// All of them, in no order.
  var all: some Sequence<Comment> { latest.values.joined() }

  /// Whether the comments on all these posts have been requested.
  func watches(_ posts: some Sequence<PostID>) -> Bool { posts.allSatisfy(watched.contains) }

  /// Requests the comments on these posts, and forgets those on all others.
  mutating func watch(_ posts: [PostID]) -> [Effect] {
    watched = Set(posts)
    latest = latest.filter { watched.contains($0.key) }
    return [.request(.watchComments(posts))]
  }

  /// Adopts the comments on a post, and returns the newest one before.
  mutating func take(_ comments: [Comment], on post: PostID) -> String? {
    latest.updateValue(comments, forKey: post)?.last?.id
  }
}

// MARK: Read and unread

/// The number of comments on a post, as far as they were looked at.
struct CommentCount: Equatable {
  let number: Int
  /// Whether there may be more.
  let isAtLeast: Bool

  var text: SafeText { SafeText(number) + (isAtLeast ? "+" : "") }
}

extension Session {
  /// The number of comments that the list can show for a post; nil if it is unknown.
  func commentCount(on id: PostID) -> CommentCount? {
    guard let comments = reading.comments[id] else { return nil }
    let isAtLeast = comments.count >= NewComments.limit
    let hidden = writing.hidden
    let number = hidden.isEmpty ? comments.count : comments.count { !hidden.contains($0.id) }
    return CommentCount(number: number, isAtLeast: isAtLeast)
  }

  func isUnread(_ post: Post) -> Bool {
    post.uid != me.uid && reading.marks.state?.isUnread(post) == true
  }

  mutating func markAllRead() -> [Effect] {
    let before = reading.marks.state
    let stars = noteStars()
    let all = reading.marks.markAll(at: now)
    addMarks(since: before, "What was unread is unread again")
    message = .note("Everything is marked as read; \(key("undo")) undoes")
    return [all] + stars
  }

  /// Records marks that can be undone, and the message that then says so.
  mutating func addMarks(since before: ReadState?, _ message: String) {
    guard let before, let after = reading.marks.state else { return }
    writing.add(.marked(from: before, to: after, message: message))
  }
}

extension Model {
  /// The number of unread comments on a post whose text the user has read.
  func newComments(on post: Post) -> NewComments {
    guard let state = session.reading.marks.state, let comments = session.reading.comments[post.id],
      openPost?.id != post.id, tellsWhatIsNew(on: post, state)
    else { return NewComments(count: 0) }
    let muted = session.reading.lists.muted
    let shown = muted.isEmpty ? comments : comments.filter { !muted.contains($0.uid) }
    return state.newComments(among: shown, on: post.id, for: session.me.uid)
  }

  /// Whether there is something unread: the post itself, or comments on it.
  func hasNews(_ post: Post) -> Bool { session.isUnread(post) || newComments(on: post).count > 0 }

  /// Whether it is known which comments on a post the user has read: it was opened, or is the
  /// user's.
  private func tellsWhatIsNew(on post: Post, _ state: ReadState) -> Bool {
    switch state.marks[post.id] {
    case .read: true
    case .unread: false
    case nil: post.uid == session.me.uid
    }
  }

  /// Requests the newest comments on the posts in view, and on those around them.
  mutating func watchComments() -> [Effect] {
    // An open post hides the list, and the same posts return when it closes.
    // While a search is typed, the posts in view change with each letter.
    guard openPost == nil || session.isSplit, session.feed.phase == .loaded,
      session.search?.isEditing != true
    else { return [] }
    let list = session.feed.list
    // This runs after every key, and most keys reveal no row that is not watched yet.
    guard !session.reading.comments.watches(list.visibleIDs) else { return [] }
    // Half a page above and below, so that scrolling does not send a request for each row.
    let visible = list.visibleRange
    let margin = visible.count / 2
    let range =
      max(0, visible.lowerBound - margin)..<min(list.ids.count, visible.upperBound + margin)
    return session.reading.comments.watch(Array(list.ids[range]))
  }

  /// Adopts what has been read on all of the user's terminals.
  mutating func take(_ readState: ReadState) -> [Effect] {
    let isFirst = session.reading.marks.state == nil
    session.reading.marks.take(readState)
    noteReadState()
    // After the first report, another terminal may have marked the post as unread on purpose.
    let marks = isFirst && openPost?.comments.areLoaded == true ? markOpenPostRead() : []
    return isFirst ? marks + session.noteOldStars() : marks
  }

  mutating func noteReadState() {
    // In a search for unread posts, a post that was just read stays until the next search.
    guard let state = session.reading.marks.state else { return }
    stack[OpenPost.self]?.noteRead(state, me: session.me.uid)
  }

  mutating func markOpenPostRead() -> [Effect] {
    guard let state = session.reading.marks.state, let open = openPost, open.post != nil,
      !open.unread.stays
    else { return [] }
    let last = open.comments.newest ?? state.lastComment(on: open.id) ?? ""
    let mark = ReadState.Mark.read(lastComment: last)
    let effects = session.noteStars(on: open.id)
    guard state.marks[open.id] != mark else { return effects }
    return effects + [session.reading.marks.mark(open.id, as: mark)]
  }

  mutating func toggleRead() -> [Effect] {
    guard let before = session.reading.marks.state, let post = currentPost else { return [] }
    let latest = openPost?.id == post.id ? nil : session.reading.comments[post.id]?.last?.id
    let read = latest.map { ReadState.Mark.read(lastComment: $0) } ?? .read(until: session.now)
    let mark = hasNews(post) ? read : .unread
    let effect = session.reading.marks.mark(post.id, as: mark)
    openPost?.unread.stays = mark == .unread
    session.addMarks(since: before, "Marked as \(mark == .unread ? "read" : "unread") again")
    session.message = .note(mark == .unread ? "Marked as unread" : "Marked as read")
    return [effect]
  }

  /// Selects the first unread comment of the open post, or the next unread post of the list.
  mutating func showNextUnread() {
    if openPost != nil {
      guard openPost?.selectFirstUnread() == true else {
        session.message = .notDone("No unread comments here")
        return
      }
      return
    }
    let ids = session.feed.list.ids
    let start = (session.feed.list.selectedIndex ?? 0) + 1
    let order = Array(ids.dropFirst(start)) + Array(ids.prefix(start))
    var guess = start
    let next = order.first { id in
      guard let index = session.feed.posts.index(of: id, near: guess) else { return false }
      guess = index + 1
      return hasNews(session.feed.posts[index])
    }
    guard let id = next else {
      session.message = .notDone("No unread posts in this list")
      return
    }
    session.feed.list.select(id)
    session.feed.markSeen()
  }
}

// MARK: Other people

extension Session {
  /// A name as displayed, with a mark of the account if it could be mistaken for another account.
  func shownName(of person: Author) -> SafeText {
    SafeText(untrusted: reading.names.shown(person), limit: SafeText.nameLimit)
  }

  /// A name as part of a sentence.
  func name(of person: Author) -> String { shownName(of: person).string }

  /// Tells the user what others have just done that concerns the user.
  mutating func take(_ notice: Notice) -> [Effect] {
    guard settings.isOn(.notifications), !isMuted(notice) else { return [] }
    let text = notice.sentence(
      name: { name(of: $0) },
      title: { SafeText(untrusted: $0, limit: 40).string }
    )
    tell(text)
    return reading.inbox.ring(text, at: now)
  }

  private func isMuted(_ notice: Notice) -> Bool {
    switch notice {
    case .comment(_, _, let author), .reply(_, _, let author), .mention(_, _, let author):
      reading.lists.muted.contains(author.uid)
    case .star: false
    }
  }

  /// Requests notices from the blog, once the first list has loaded and they cannot delay it.
  mutating func hearNotices() -> [Effect] {
    switch feed.phase {
    case .idle, .loading: []
    case .loaded, .failed: reading.inbox.request()
    }
  }
}
