package import BlogModel

/// What readers see apart from the posts themselves, and what they can undo.
package struct Reading: Equatable, Sendable {
  /// How many changes can be undone.
  static let changeLimit = 100
  /// The shortest time between two notifications that ring, in milliseconds.
  static let noticePause: Int64 = 5_000
  /// How often others are told that the user is still typing, in milliseconds.
  static let typingPause: Int64 = 10_000

  /// The delivery state of the user's changes, by the key of the post or comment.
  package internal(set) var deliveries: [String: Delivery] = [:]
  /// The terminals that are online.
  package internal(set) var people: [Presence] = []
  /// What they read, by the identifier of the terminal; known while it is shown.
  package internal(set) var places: [String: ReadingPlace] = [:]
  /// Whether reports of what others read have been requested from the blog.
  var watchesPlaces = false
  /// Whether the blog has been told to show others what the user reads.
  var sharesPlace = false
  /// What the user has read; nil until it is known.
  package private(set) var state: ReadState?
  /// The state that the blog reported last; older than ``state`` while a mark is unacknowledged.
  private var told: ReadState?
  /// The number of the user's marks that are not acknowledged yet.
  private var unansweredMarks = 0
  /// What others did that concerns the user, newest first; nil until it is known.
  package var notices: [NoticeEntry]? {
    guard !lists.muted.isEmpty else { return allNotices }
    return allNotices?.filter { entry in entry.author.map { !lists.muted.contains($0.uid) } ?? true
    }
  }
  /// The same with those of people who are muted.
  var allNotices: [NoticeEntry]?
  /// The newest comments on posts in view, oldest first.
  package internal(set) var latestComments: [PostID: [Comment]] = [:]
  /// The posts whose newest comments have been requested from the blog.
  var watched: Set<PostID> = []
  /// The latency of the server's last response, in milliseconds.
  package internal(set) var roundTrip: Int?
  /// When the last event from the server arrived, in milliseconds since 1970.
  package internal(set) var lastEventAt: Int64?
  /// The changes that can be undone, oldest first.
  package internal(set) var changes: [Change] = []
  /// The deletions that are pending.
  package internal(set) var deletions: [Deletion] = []
  /// The author whose posts the additional list shows.
  package internal(set) var author: Author?
  /// The tag whose posts the additional list shows.
  package internal(set) var tag: String?
  /// What the account keeps for itself.
  package internal(set) var lists = OwnLists()
  /// The list that was shown before the additional one.
  package internal(set) var tabBefore = FeedKind.recent
  /// Whether texts are shown as written, with their markup uninterpreted.
  package internal(set) var showsSource = false
  /// When the last notification rang.
  var noticeAt: Int64?
  /// Whether notifications have been requested from the blog.
  var hearsNotices = false
  /// The post on which others see the user typing, and since when.
  var typing: (post: PostID, at: Int64)?

  /// Changes what the user has read, before the blog knows about it.
  mutating func mark(_ change: (inout ReadState) -> Void) {
    guard var marked = state else { return }
    change(&marked)
    state = marked
    unansweredMarks += 1
  }

  /// Adopts the blog's state once it includes all marks made here: an echo of an older mark would
  /// briefly undo a newer one.
  mutating func take(_ state: ReadState) {
    told = state
    if unansweredMarks == 0 { self.state = state }
  }

  /// Notes that the blog has stored or refused one of the user's marks.
  mutating func takeAnswerToMark() {
    unansweredMarks = max(0, unansweredMarks - 1)
    if unansweredMarks == 0, let told { state = told }
  }

  /// Records a change that can be undone.
  mutating func add(_ change: Change) {
    changes.append(change)
    if changes.count > Self.changeLimit { changes.removeFirst() }
  }

  /// The keys of all items with a pending deletion.
  var hidden: Set<String> { Set(deletions.map(\.id)) }

  /// Compares only what affects the screen.
  package static func == (left: Reading, right: Reading) -> Bool {
    left.deliveries == right.deliveries && left.people == right.people
      && left.places == right.places && left.state == right.state
      && left.latestComments == right.latestComments && left.notices == right.notices
      && left.showsSource == right.showsSource
      && left.roundTrip == right.roundTrip && left.lastEventAt == right.lastEventAt
      && left.changes == right.changes && left.deletions == right.deletions
      && left.tag == right.tag && left.lists == right.lists
      && left.author == right.author && left.tabBefore == right.tabBefore
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
    guard let comments = reading.latestComments[id] else { return nil }
    let isAtLeast = comments.count >= NewComments.limit
    let hidden = reading.deletions.isEmpty ? [] : reading.hidden
    let number = hidden.isEmpty ? comments.count : comments.count { !hidden.contains($0.id) }
    return CommentCount(number: number, isAtLeast: isAtLeast)
  }

  /// Whether the user has yet to read the post.
  func isUnread(_ post: Post) -> Bool {
    post.uid != me.uid && reading.state?.isUnread(post) == true
  }

  mutating func markAllRead() -> [Effect] {
    guard let before = reading.state else { return [] }
    let now = now
    reading.add(.readState(before))
    let stars = noteStars()
    reading.mark { $0 = ReadState(before: now, stars: $0.stars) }
    message = .note("Everything is marked as read; u undoes")
    return [.mark(.allRead)] + stars
  }
}

extension Model {
  /// The number of unread comments on a post whose text the user has read.
  func newComments(on post: Post) -> NewComments {
    guard let state = session.reading.state, let comments = session.reading.latestComments[post.id],
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
    guard !list.visibleIDs.allSatisfy(session.reading.watched.contains) else { return [] }
    // Half a page above and below, so that scrolling does not send a request for each row.
    let visible = list.visibleRange
    let margin = visible.count / 2
    let range =
      max(0, visible.lowerBound - margin)..<min(list.ids.count, visible.upperBound + margin)
    let wanted = Array(list.ids[range])
    session.reading.watched = Set(wanted)
    session.reading.latestComments = session.reading.latestComments.filter {
      session.reading.watched.contains($0.key)
    }
    return [.request(.watchComments(wanted))]
  }

  /// Adopts what has been read on all of the user's terminals.
  mutating func take(_ readState: ReadState) -> [Effect] {
    let isFirst = session.reading.state == nil
    session.reading.take(readState)
    noteReadState()
    // After the first report, another terminal may have marked the post as unread on purpose.
    let marks = isFirst && openPost?.hasComments == true ? markOpenPostRead() : []
    return isFirst ? marks + session.noteOldStars() : marks
  }

  mutating func noteReadState() {
    // In a search for unread posts, a post that was just read stays until the next search.
    guard let state = session.reading.state else { return }
    let me = session.me.uid
    openPost?.noteRead(state, me: me)
  }

  /// Marks the open post as read with all its comments.
  mutating func markOpenPostRead() -> [Effect] {
    guard let state = session.reading.state, let open = openPost, open.post != nil,
      !open.staysUnread
    else { return [] }
    let last = open.newestComment ?? state.lastComment(on: open.id) ?? ""
    let mark = ReadState.Mark.read(lastComment: last)
    let effects = session.noteStars(on: open.id)
    guard state.marks[open.id] != mark else { return effects }
    session.reading.mark { $0.marks[open.id] = mark }
    return effects + [.mark(.post(open.id, mark))]
  }

  mutating func toggleRead() -> [Effect] {
    guard session.reading.state != nil, let post = currentPost else { return [] }
    let latest = openPost?.id == post.id ? nil : session.reading.latestComments[post.id]?.last?.id
    let read = latest.map { ReadState.Mark.read(lastComment: $0) } ?? .read(until: session.now)
    let mark = hasNews(post) ? read : .unread
    session.reading.mark { $0.marks[post.id] = mark }
    openPost?.staysUnread = mark == .unread
    session.message = .note(mark == .unread ? "Marked as unread" : "Marked as read")
    return [.mark(.post(post.id, mark))]
  }

  /// Selects the first unread comment of the open post, or the next unread post of the list.
  mutating func showNextUnread() {
    if openPost != nil {
      guard openPost?.selectFirstUnread() == true else {
        session.message = .note("No unread comments here")
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
      session.message = .note("No unread posts in this list")
      return
    }
    session.feed.list.select(id)
    session.feed.markSeen()
  }
}

// MARK: Other people

extension Session {
  /// A name as displayed, with a mark of the account if it could be mistaken for another account.
  func shownName(of uid: String, named name: String) -> SafeText {
    let shown = names.shown(Author(uid: uid, name: name))
    return SafeText(untrusted: shown, limit: SafeText.nameLimit)
  }

  /// A name as part of a sentence.
  func name(of uid: String, named name: String) -> String {
    shownName(of: uid, named: name).string
  }

  /// Tells the user what others have just done that concerns the user.
  mutating func take(_ notice: Notice) -> [Effect] {
    guard settings.isOn(.notifications), !isMuted(notice) else { return [] }
    let text = notice.sentence(name: { name(of: $0.uid, named: $0.name) }, title: Self.title)
    tell(text)
    if let last = reading.noticeAt, now < last + Reading.noticePause { return [] }
    reading.noticeAt = now
    return [.terminal(.notify(text))]
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
    guard !reading.hearsNotices else { return [] }
    switch feed.phase {
    case .idle, .loading: return []
    case .loaded, .failed: break
    }
    reading.hearsNotices = true
    return [.request(.hearNotices(true))]
  }

  private static func title(_ title: String) -> String {
    SafeText(untrusted: title, limit: 40).string
  }
}
