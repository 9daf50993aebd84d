package import BlogModel

/// What readers see besides the posts themselves, and what they can undo.
package struct Reading: Equatable, Sendable {
  /// How many changes can be taken back.
  static let changeLimit = 100
  /// How often notifications ring, in milliseconds.
  static let noticePause: Int64 = 5_000
  /// How often others are told that I go on typing, in milliseconds.
  static let typingPause: Int64 = 10_000

  /// How far what I did has got, by the key of the post or comment.
  package internal(set) var deliveries: [String: Delivery] = [:]
  /// The terminals that are here.
  package internal(set) var people: [Presence] = []
  /// What I have read; nil as long as nobody knows.
  package private(set) var state: ReadState?
  /// What the blog told last; older than ``state`` as long as a mark of mine is not answered.
  private var told: ReadState?
  /// How many marks of mine are not answered.
  private var unansweredMarks = 0
  /// What others did to what I wrote, and to me, newest first; nil as long as nobody knows.
  package internal(set) var notices: [NoticeEntry]?
  /// The newest comments on posts in view, oldest first.
  package internal(set) var latestComments: [PostID: [Comment]] = [:]
  /// The posts whose newest comments the blog was asked for.
  var watched: Set<PostID> = []
  /// How long the server took to answer last, in milliseconds.
  package internal(set) var roundTrip: Int?
  /// When the server told something last, in milliseconds since 1970.
  package internal(set) var lastEventAt: Int64?
  /// What I did, the last one last.
  package internal(set) var changes: [Change] = []
  /// What disappears soon.
  package internal(set) var deletions: [Deletion] = []
  /// Whose posts the additional list has.
  package internal(set) var author: Author?
  /// The tag whose posts the additional list has.
  package internal(set) var tag: String?
  /// Whom I follow, by identifier.
  package internal(set) var following: Set<String> = []
  /// The list that was shown before the additional one.
  package internal(set) var tabBefore = FeedKind.recent
  /// Whether texts are shown as they were written, without their markup.
  package internal(set) var showsSource = false
  /// When a notification rang last.
  var noticeAt: Int64?
  /// Whether the blog was asked for notifications.
  var hearsNotices = false
  /// The post on which others see me typing, and since when.
  var typing: (post: PostID, at: Int64)?

  /// Changes what I have read before the blog knows of it.
  mutating func mark(_ change: (inout ReadState) -> Void) {
    guard var marked = state else { return }
    change(&marked)
    state = marked
    unansweredMarks += 1
  }

  /// Adopts the blog's state once it includes all marks made here: an echo of an older mark
  /// would briefly undo a newer one.
  mutating func take(_ state: ReadState) {
    told = state
    if unansweredMarks == 0 { self.state = state }
  }

  /// Takes note that the blog has stored or refused a mark of mine.
  mutating func takeAnswerToMark() {
    unansweredMarks = max(0, unansweredMarks - 1)
    if unansweredMarks == 0, let told { state = told }
  }

  /// Notes something that can be taken back.
  mutating func add(_ change: Change) {
    changes.append(change)
    if changes.count > Self.changeLimit { changes.removeFirst() }
  }

  /// The keys of all that disappears soon.
  var hidden: Set<String> { Set(deletions.map(\.id)) }

  /// Compares only what affects the screen.
  package static func == (left: Reading, right: Reading) -> Bool {
    left.deliveries == right.deliveries && left.people == right.people && left.state == right.state
      && left.latestComments == right.latestComments && left.notices == right.notices
      && left.showsSource == right.showsSource
      && left.roundTrip == right.roundTrip && left.lastEventAt == right.lastEventAt
      && left.changes == right.changes && left.deletions == right.deletions
      && left.tag == right.tag && left.following == right.following
      && left.author == right.author && left.tabBefore == right.tabBefore
  }
}

// MARK: What was read

/// How many comments a post has, as far as that was looked at.
struct CommentCount: Equatable {
  let number: Int
  /// Whether there may be more than that.
  let isAtLeast: Bool

  var text: SafeText { SafeText(number) + (isAtLeast ? "+" : "") }
}

extension Session {
  /// How many comments the list can show for a post; nil when that is not known.
  func commentCount(on id: PostID) -> CommentCount? {
    guard let comments = reading.latestComments[id] else { return nil }
    let isAtLeast = comments.count >= NewComments.limit
    let hidden = reading.deletions.isEmpty ? [] : reading.hidden
    let number = hidden.isEmpty ? comments.count : comments.count { !hidden.contains($0.id) }
    return CommentCount(number: number, isAtLeast: isAtLeast)
  }

  /// Whether the post is to be read by me.
  func isUnread(_ post: Post) -> Bool {
    post.uid != me.uid && reading.state?.isUnread(post) == true
  }

  mutating func markAllRead() -> [Effect] {
    guard reading.state != nil else { return [] }
    let now = now
    let stars = noteStars()
    reading.mark { $0 = ReadState(before: now, stars: $0.stars) }
    message = .note("Everything is marked as read")
    return [.markAllRead] + stars
  }
}

extension Model {
  /// How many comments are to be read on a post whose text I have read.
  func newComments(on post: Post) -> NewComments {
    guard let state = session.reading.state, let comments = session.reading.latestComments[post.id],
      openPost?.id != post.id, tellsWhatIsNew(on: post, state)
    else { return NewComments(count: 0) }
    return state.newComments(among: comments, on: post.id, for: session.me.uid)
  }

  /// Whether there is something to read: the post itself, or comments on it.
  func hasNews(_ post: Post) -> Bool { session.isUnread(post) || newComments(on: post).count > 0 }

  /// Whether it is known which comments on a post I have read: it was opened, or it is mine.
  private func tellsWhatIsNew(on post: Post, _ state: ReadState) -> Bool {
    switch state.marks[post.id] {
    case .read: true
    case .unread: false
    case nil: post.uid == session.me.uid
    }
  }

  /// Asks for the newest comments on the posts in view, and on those around it.
  mutating func watchComments() -> [Effect] {
    // An open post hides the list, and the same posts come back with it.
    // While a search is typed, what is in view changes with each letter.
    guard openPost == nil || session.isSplit, session.feed.phase == .loaded,
      session.search?.isEditing != true
    else { return [] }
    let list = session.feed.list
    // This runs after every key, and most keys show no row that is not watched.
    guard !list.visibleIDs.allSatisfy(session.reading.watched.contains) else { return [] }
    // Half a page above and below, so that scrolling does not ask anew with each row.
    let visible = list.visibleRange
    let margin = visible.count / 2
    let range =
      max(0, visible.lowerBound - margin)..<min(list.ids.count, visible.upperBound + margin)
    let wanted = Array(list.ids[range])
    session.reading.watched = Set(wanted)
    session.reading.latestComments = session.reading.latestComments.filter {
      session.reading.watched.contains($0.key)
    }
    return [.watchComments(wanted)]
  }

  /// Takes over what all my terminals have read.
  mutating func take(_ readState: ReadState) -> [Effect] {
    let isFirst = session.reading.state == nil
    session.reading.take(readState)
    noteReadState()
    // Later on, another terminal may have marked the post as unread on purpose.
    let marks = isFirst && openPost?.comments != nil ? markOpenPostRead() : []
    return isFirst ? marks + session.noteOldStars() : marks
  }

  mutating func noteReadState() {
    // In a search for unread posts, a post that was just read stays until the next search.
    guard let state = session.reading.state else { return }
    let me = session.me.uid
    openPost?.noteRead(state, me: me)
  }

  /// Notes that the open post was read with all its comments.
  mutating func markOpenPostRead() -> [Effect] {
    guard let state = session.reading.state, let open = openPost, open.post != nil,
      !open.staysUnread
    else { return [] }
    let last = open.newestComment ?? state.lastComment(on: open.id) ?? ""
    let mark = ReadState.Mark.read(lastComment: last)
    let effects = session.noteStars(on: open.id)
    guard state.marks[open.id] != mark else { return effects }
    session.reading.mark { $0.marks[open.id] = mark }
    return effects + [.mark(open.id, mark)]
  }

  mutating func toggleRead() -> [Effect] {
    guard session.reading.state != nil, let post = currentPost else { return [] }
    let latest = openPost?.id == post.id ? nil : session.reading.latestComments[post.id]?.last?.id
    let read = latest.map { ReadState.Mark.read(lastComment: $0) } ?? .read(until: session.now)
    let mark = hasNews(post) ? read : .unread
    session.reading.mark { $0.marks[post.id] = mark }
    openPost?.staysUnread = mark == .unread
    session.message = .note(mark == .unread ? "Marked as unread" : "Marked as read")
    return [.mark(post.id, mark)]
  }

  /// To the first comment that was not read, or to the next unread post of the list.
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

// MARK: Others

extension Session {
  /// A name as displayed, with a mark of the account if another account could be mistaken for it.
  func shownName(of uid: String, named name: String) -> SafeText {
    let shown = names.shown(Author(uid: uid, name: name))
    return SafeText(untrusted: shown, limit: SafeText.nameLimit)
  }

  /// A name as part of a sentence.
  func name(of uid: String, named name: String) -> String {
    shownName(of: uid, named: name).string
  }

  /// Tells of what others have just done to what I wrote, or to me.
  mutating func take(_ notice: Notice) -> [Effect] {
    guard settings.isOn(.notifications) else { return [] }
    let text: String
    switch notice {
    case .comment(_, let title, let author):
      text = "\(name(of: author.uid, named: author.name)) commented on \"\(Self.title(title))\"."
    case .star(_, let title, let count):
      text = "\"\(Self.title(title))\" has \(count) \(count == 1 ? "star" : "stars") now."
    case .reply(_, let title, let author):
      text = "\(name(of: author.uid, named: author.name)) answered you on \"\(Self.title(title))\"."
    case .mention(_, let title, let author):
      text = "\(name(of: author.uid, named: author.name)) named you in \"\(Self.title(title))\"."
    }
    message = .note(text)
    if let last = reading.noticeAt, now < last + Reading.noticePause { return [] }
    reading.noticeAt = now
    return [.notify(text)]
  }

  /// Asks the blog for notices, once the first list is there and can no longer be delayed by them.
  mutating func hearNotices() -> [Effect] {
    guard !reading.hearsNotices else { return [] }
    switch feed.phase {
    case .idle, .loading: return []
    case .loaded, .failed: break
    }
    reading.hearsNotices = true
    return [.hearNotices(true)]
  }

  private static func title(_ title: String) -> String {
    SafeText(untrusted: title, limit: 40).string
  }
}
