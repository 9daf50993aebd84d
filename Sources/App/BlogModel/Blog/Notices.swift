private import RealtimeCore
internal import RealtimeDatabase

// Safety: all state is accessed only on the callback queue of the database.
/// Watches what concerns the user: comments and stars on the user's newest posts, replies and
/// mentions anywhere.
///
/// The cost is bounded: one query for the user's posts, one for the newest comments on each of
/// them, and one for each reply and mention, of which there are at most ``addressed`` each. Nothing
/// is queried again unless it changes.
final class NoticeWatch: @unchecked Sendable {
  /// How many of the user's posts are watched.
  static let length: UInt = 20
  /// How many of the newest comments on each of them are reported.
  static let depth: UInt = 10
  /// How many replies, and how many mentions, are reported.
  static let addressed = 20
  /// Among how many of the newest entries they are chosen: as many as five people can have in a
  /// list.
  static let candidates: UInt = 320

  private struct WatchedPost {
    var post: Post
    let observation: Observation
    var comments: [Comment] = []
    /// The key of the newest comment so far; nil until the existing comments are known.
    var newest: String?
    /// When the last star was seen to arrive; nil if none has been.
    var starredAt: Int64?
  }

  private let paths: BlogPaths
  private var me: Author
  private let burst: Burst
  private let tell: @Sendable (BlogEvent) -> Void
  private let posts: DatabaseQuery
  /// The observers of the user's posts and of what the user has seen; empty while nothing is watched.
  private var observations: [Observation] = []
  private var knowsPosts = false
  private var knowsSeen = false
  /// The key up to which the user has cleared the list; empty if that was never done.
  private var cleared = ""
  /// How many stars the user has seen, by post.
  private var knownStars: [PostID: Double] = [:]
  private var watched: [PostID: WatchedPost] = [:]
  private var addressed: [AddressedNotices] = []
  /// The entries already announced, so that a reply that is also a comment is not announced twice.
  private var rung: Set<String> = []
  private var told: [NoticeEntry]?

  init(_ paths: BlogPaths, me: Author, tell: @escaping @Sendable (BlogEvent) -> Void) {
    self.paths = paths
    self.me = me
    burst = Burst(on: paths.queue)
    self.tell = tell
    posts = paths.posts(of: me.uid).queryOrderedByKey().queryLimited(toLast: Self.length)
  }

  func start() {
    guard observations.isEmpty else { return }
    let posts = Observation(changesOf: posts) { [weak self] event, snapshot in
      self?.take(event, of: snapshot)
    } cancelled: { [weak self] _ in
      self?.knowsPosts = true
      self?.publish()
    }
    let seen = Observation(paths.seen(by: me.uid)) { [weak self] in
      self?.take(seen: $0)
    } cancelled: { [weak self] _ in
      self?.knowsSeen = true
      self?.publish()
    }
    observations = [posts, seen]
    let changed: (NoticeEntry?) -> Void = { [weak self] new in
      if let new { self?.ring(new) }
      self?.publish()
    }
    var inboxes: [(BlogTrace.Kind, DatabaseReference)] = [
      (.reply(uid: me.uid), paths.replies(to: me.uid))
    ]
    if let name = TextMarks.key(ofName: me.name) {
      inboxes.append((.mention(name), paths.mentions(of: name)))
    }
    addressed = inboxes.map { AddressedNotices($0, at: $1, in: paths, me: me, changed: changed) }
  }

  /// Listens for mentions of another name from now on.
  func rename(_ me: Author) {
    self.me = me
    restart()
  }

  /// Watches anew, unless nothing is watched.
  func restart() {
    guard !observations.isEmpty else { return }
    stop()
    start()
  }

  func stop() {
    observations = []
    knowsPosts = false
    knowsSeen = false
    told = nil
    watched = [:]
    addressed = []
  }

  private func take(seen snapshot: DataSnapshot) {
    knowsSeen = true
    cleared = snapshot.text("cleared") ?? ""
    let stars = snapshot.node[.stars].entries
    knownStars = Dictionary(stars.map { ($0.key.text, $0.value.leafValue?.number ?? 0) }) { $1 }
    for inbox in addressed { inbox.clear(upTo: cleared) }
    publish()
  }

  // MARK: My posts

  private func take(_ event: DataEventType, of snapshot: DataSnapshot) {
    let id = snapshot.key
    switch event {
    case .childAdded:
      if let post = Post(snapshot) { watch(post) }
    case .childChanged:
      guard let post = Post(snapshot), let old = watched[id]?.post else { return }
      watched[id]?.post = post
      if !post.stars.subtracting(old.stars).subtracting([me.uid]).isEmpty {
        watched[id]?.starredAt = paths.root.database.serverTime
        tell(.notice(.star(id, title: post.title, count: post.starCount)))
      }
    case .childRemoved: watched[id] = nil
    case .value: knowsPosts = true
    case .childMoved: return
    }
    publish()
  }

  private func watch(_ post: Post) {
    guard watched[post.id] == nil else { return }
    let query = paths.comments(on: post.id).queryOrderedByKey().queryLimited(toLast: Self.depth)
    let observation = Observation(query) { [weak self] snapshot in
      self?.take(snapshot.childSnapshots.compactMap(Comment.init), on: post.id)
    } cancelled: { [weak self] _ in
      self?.take([], on: post.id)
    }
    watched[post.id] = WatchedPost(post: post, observation: observation)
  }

  private func take(_ comments: [Comment], on id: PostID) {
    guard let old = watched[id] else { return }
    watched[id]?.comments = comments.filter { $0.uid != me.uid }
    watched[id]?.newest = max(old.newest ?? "", comments.last?.id ?? "")
    if let newest = old.newest {
      for comment in comments where newest < comment.id && comment.uid != me.uid {
        ring(NoticeEntry(.comment, of: comment, on: id, title: old.post.title))
      }
    }
    publish()
  }

  private func ring(_ entry: NoticeEntry) {
    guard let author = entry.author, rung.insert(entry.id).inserted else { return }
    switch entry.kind {
    case .comment: tell(.notice(.comment(entry.post, title: entry.title, by: author)))
    case .reply: tell(.notice(.reply(entry.post, title: entry.title, by: author)))
    case .mention: tell(.notice(.mention(entry.post, title: entry.title, by: author)))
    case .stars: return
    }
  }

  // MARK: Telling

  /// Reports all entries once everything is known, after the current burst of events.
  private func publish() {
    burst.end { [weak self] in self?.publishNow() }
  }

  private func publishNow() {
    guard !observations.isEmpty, knowsPosts, knowsSeen,
      watched.values.allSatisfy({ $0.newest != nil }),
      addressed.allSatisfy(\.isComplete)
    else { return }
    var entries: [String: NoticeEntry] = [:]
    for (id, post) in watched {
      for comment in post.comments where cleared < comment.id {
        entries[comment.id] = NoticeEntry(.comment, of: comment, on: id, title: post.post.title)
      }
      let stars = post.post.stars.subtracting([me.uid]).count
      guard stars > 0, cleared < id || Double(stars) > knownStars[id] ?? 0 else { continue }
      let entry = NoticeEntry(starsOf: post.post, by: stars, at: post.starredAt)
      entries[entry.id] = entry
    }
    // A reply that mentions the user is reported as a reply.
    for inbox in addressed.reversed() {
      for entry in inbox.entries { entries[entry.id] = entry }
    }
    let sorted = entries.values.sorted { ($0.order, $0.id) > ($1.order, $1.id) }
    guard sorted != told else { return }
    told = sorted
    tell(.notices(sorted))
  }
}

// Safety: all state is accessed only on the callback queue of the database.
/// Follows the entries of one location that lists what is addressed to the user, and their targets.
private final class AddressedNotices: @unchecked Sendable {
  private struct Target {
    let post: PostID
    let observation: Observation
    var entry: NoticeEntry?
    var title: String?
    var isKnown = false
    /// Whether the entry arrived while the location was being followed.
    let isNew: Bool
  }

  private let kind: BlogTrace.Kind
  private let paths: BlogPaths
  private let me: Author
  private let changed: (NoticeEntry?) -> Void
  private var observation: Observation?
  private var traces: [BlogTrace] = []
  private var cleared = ""
  /// The key of the newest entry so far; nil until the existing entries are known.
  private var newest: String?
  private var targets: [String: Target] = [:]

  init(
    _ kind: BlogTrace.Kind,
    at place: DatabaseReference,
    in paths: BlogPaths,
    me: Author,
    changed: @escaping (NoticeEntry?) -> Void
  ) {
    self.kind = kind
    self.paths = paths
    self.me = me
    self.changed = changed
    // What earlier versions wrote has no such child, and counts as older than what has one.
    let query = place.queryOrdered(byChild: "key").queryLimited(toLast: NoticeWatch.candidates)
    observation = Observation(query) { [weak self] in
      self?.take($0)
    } cancelled: { [weak self] _ in
      // Rules that do not know this location refuse the read; it then counts as empty.
      self?.newest = ""
      self?.changed(nil)
    }
  }

  /// Whether all existing entries and their targets have been read.
  var isComplete: Bool { newest != nil && targets.values.allSatisfy(\.isKnown) }

  /// The entries whose targets exist and are addressed to the user.
  var entries: [NoticeEntry] { targets.values.compactMap { $0.isKnown ? $0.entry : nil } }

  /// Leaves out the entries up to a key.
  func clear(upTo key: String) {
    guard cleared != key else { return }
    cleared = key
    if let newest { choose(knowing: newest) }
  }

  private func take(_ snapshot: DataSnapshot) {
    traces = BlogTrace.all(kind, in: snapshot.node).traces
    let last = newest
    newest = max(last ?? "", traces.map(\.key).max() ?? "")
    choose(knowing: last)
  }

  /// Follows the entries that are to be reported; those after the last known one are new.
  private func choose(knowing last: String?) {
    let chosen = traces.filter { cleared < $0.key }.newest(NoticeWatch.addressed)
    let found = Dictionary(chosen.map { ($0.key, $0.post) }) { $1 }
    targets = targets.filter { found[$0.key] == $0.value.post }
    for (key, post) in found where targets[key] == nil {
      follow(key, on: post, isNew: last.map { $0 < key } ?? false)
    }
    changed(nil)
  }

  private func follow(_ key: String, on post: PostID, isNew: Bool) {
    let isPost = key == post
    let place = isPost ? paths.post(post) : paths.comments(on: post).child(of: ChildKey(key))
    let observation = Observation(place) { [weak self] snapshot in
      self?.take(snapshot, of: key, isPost: isPost)
    } cancelled: { [weak self] _ in
      self?.targets[key]?.isKnown = true
      self?.changed(nil)
    }
    targets[key] = Target(post: post, observation: observation, isNew: isNew)
  }

  private func take(_ snapshot: DataSnapshot, of key: String, isPost: Bool) {
    guard let target = targets[key] else { return }
    let entry = isPost ? entry(ofPost: snapshot) : entry(ofComment: snapshot, on: target)
    targets[key]?.entry = entry
    if isPost || entry == nil || target.title != nil { return know(key) }
    // Read once: a title that may change later is no reason to follow the whole post.
    paths.post(target.post).child("title").getData { [weak self] _, title in
      let text = title?.value as? String ?? ""
      self?.targets[key]?.title = text
      self?.targets[key]?.entry?.title = text
      self?.know(key)
    }
  }

  private func know(_ key: String) {
    guard let target = targets[key] else { return }
    targets[key]?.isKnown = true
    changed(target.isNew && !target.isKnown ? target.entry : nil)
  }

  private func entry(ofPost snapshot: DataSnapshot) -> NoticeEntry? {
    guard let post = Post(snapshot), post.uid != me.uid, case .mention(let name) = kind,
      TextMarks(of: post.title, post.body).mentions.contains(name)
    else { return nil }
    return NoticeEntry(mentionIn: post)
  }

  private func entry(ofComment snapshot: DataSnapshot, on target: Target) -> NoticeEntry? {
    guard let comment = Comment(snapshot), comment.uid != me.uid else { return nil }
    let title = target.title ?? ""
    switch kind {
    case .tag: return nil
    case .reply:
      guard comment.parent != nil else { return nil }
      return NoticeEntry(.reply, of: comment, on: target.post, title: title)
    case .mention(let name):
      guard TextMarks(of: comment.text).mentions.contains(name) else { return nil }
      return NoticeEntry(.mention, of: comment, on: target.post, title: title)
    }
  }
}

/// Something that others have just done that concerns the user.
package enum Notice: Hashable, Sendable, Codable {
  case comment(PostID, title: String, by: Author)
  /// One of the user's posts has more stars than before.
  case star(PostID, title: String, count: Int)
  case reply(PostID, title: String, by: Author)
  case mention(PostID, title: String, by: Author)

  /// What happened, as a sentence with its period.
  package func sentence(name: (Author) -> String, title: (String) -> String) -> String {
    switch self {
    case .comment(_, let post, let author): "\(name(author)) commented on \"\(title(post))\"."
    case .star(_, let post, let count):
      "\"\(title(post))\" has \(count) \(count == 1 ? "star" : "stars") now."
    case .reply(_, let post, let author): "\(name(author)) answered you on \"\(title(post))\"."
    case .mention(_, let post, let author): "\(name(author)) named you in \"\(title(post))\"."
    }
  }

  package var post: PostID {
    switch self {
    case .comment(let post, _, _), .star(let post, _, _), .reply(let post, _, _),
      .mention(let post, _, _):
      post
    }
  }
}

extension NoticeEntry {
  /// What happened, as a sentence without a period; it has the title, which others have written.
  package func sentence(by name: String) -> String {
    switch kind {
    case .comment: "\(name) commented on \(title)"
    case .reply: "\(name) answered you on \(title)"
    case .mention where comment == nil: "\(name) named you in \(title)"
    case .mention: "\(name) named you on \(title)"
    case .stars: "\(stars) \(stars == 1 ? "star" : "stars") of others on \(title)"
    }
  }
}

/// An entry in the list of what others did that concerns the user.
package struct NoticeEntry: Hashable, Sendable, Identifiable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable {
    /// A comment on one of the user's posts.
    case comment
    /// A reply to one of the user's comments.
    case reply
    /// The user's name in a post or comment.
    case mention
    /// Stars on one of the user's posts.
    case stars
  }

  /// The longest excerpt, in characters.
  private static let textLimit = 300

  /// The key of the comment or post; for stars, "stars" and the key of the post.
  package let id: String
  package let kind: Kind
  package let post: PostID
  package internal(set) var title: String
  /// The comment that the entry leads to; nil if it leads to the post itself.
  package internal(set) var comment: String?
  /// The person who acted; nil for stars.
  package internal(set) var author: Author?
  /// The beginning of the comment or post.
  package internal(set) var text = ""
  /// How many others have starred the post.
  package internal(set) var stars = 0
  /// When it happened, in milliseconds since 1970; nil if unknown.
  package let at: Int64?
}

extension NoticeEntry {
  init(_ kind: Kind, of comment: Comment, on post: PostID, title: String) {
    self.init(
      id: comment.id,
      kind: kind,
      post: post,
      title: title,
      comment: comment.id,
      author: comment.writer,
      text: String(comment.text.prefix(Self.textLimit)),
      at: comment.createdAt
    )
  }

  init(mentionIn post: Post) {
    self.init(
      id: post.id,
      kind: .mention,
      post: post.id,
      title: post.title,
      author: post.writer,
      text: String(post.body.prefix(Self.textLimit)),
      at: post.createdAt
    )
  }

  init(starsOf post: Post, by count: Int, at time: Int64?) {
    self.init(
      id: "stars " + post.id,
      kind: .stars,
      post: post.id,
      title: post.title,
      text: String(post.body.prefix(Self.textLimit)),
      stars: count,
      at: time
    )
  }

  /// The key of the comment, or of the post if it leads to none.
  package var key: String { comment ?? post }

  /// The sort key: the time of the entry, or the time of the post if that is unknown.
  var order: Int64 { at ?? PushID.time(of: post) ?? 0 }
}
