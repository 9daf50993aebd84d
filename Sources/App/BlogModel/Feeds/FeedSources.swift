internal import Dispatch
internal import RealtimeCore
internal import RealtimeDatabase

/// A source of the posts of a list that a screen follows, for as long as somebody keeps it.
protocol FeedSource: AnyObject {
  func publish()
  /// Records the reader's position.
  func read(at post: PostID)
  /// Goes to the beginning of the list.
  func showHighest()
  /// A post of the list, if it is loaded.
  func post(_ id: PostID) -> Post?
}

extension FollowedFeed: FeedSource {
  func post(_ id: PostID) -> Post? { entry(id)?.post }
}

// Safety: all state is accessed only on `queue`.
/// Reports once after a burst of events, however many of them ask for it.
final class Burst: @unchecked Sendable {
  private let queue: DispatchQueue
  private var isWaiting = false

  init(on queue: DispatchQueue) {
    self.queue = queue
  }

  /// Calls a closure after the current burst, unless one is waiting already.
  func end(_ report: @escaping @Sendable () -> Void) {
    guard !isWaiting else { return }
    isWaiting = true
    queue.async { [self] in
      isWaiting = false
      report()
    }
  }
}

// Safety: all state is accessed only on `queue`, the callback queue of the database.
/// The posts that an index names, such as those with a tag: the index is loaded in pages like any
/// list, with one observer for each post that those pages name.
///
/// The number of observed posts depends on how much of the list is kept, not on its length.
final class IndexedFeed: FeedSource, @unchecked Sendable {
  /// How much of the index is kept; each entry costs an observer.
  private static let bounds = FollowedFeed.Bounds(pageLimit: 4)

  private struct Entry {
    let observation: Observation
    var isKnown = false
    var post: Post?
    var isPending = false
  }

  private let feed: FeedKind
  private let paths: BlogPaths
  private let burst: Burst
  private let tell: @Sendable ([Post], FeedExtent) -> Void
  private var index: FollowedFeed?
  /// The keys that the index reported, newest first, and the loaded extent of the index.
  private var told: (keys: [PostID], extent: FeedExtent)?
  private var entries: [PostID: Entry] = [:]

  init(
    _ feed: FeedKind,
    of uid: String,
    in paths: BlogPaths,
    tell: @escaping @Sendable ([Post], FeedExtent) -> Void,
    fail: @escaping @Sendable (any Error) -> Void
  ) {
    self.feed = feed
    self.paths = paths
    burst = Burst(on: paths.queue)
    self.tell = tell
    index = FollowedFeed(
      paths.list(feed, of: uid),
      isIndex: true,
      bounds: Self.bounds,
      tell: { [weak self] entries, extent in self?.take(entries.map(\.id), extent: extent) },
      fail: fail
    )
  }

  func read(at post: PostID) { index?.read(at: post) }

  func showHighest() { index?.showHighest() }

  func post(_ id: PostID) -> Post? { entries[id]?.post }

  // MARK: Places

  private func take(_ keys: [PostID], extent: FeedExtent) {
    told = (keys, extent)
    let wanted = Set(keys)
    entries = entries.filter { wanted.contains($0.key) }
    for key in keys where entries[key] == nil { watch(key) }
    publish()
  }

  private func watch(_ key: PostID) {
    let observation = Observation(paths.post(key)) { [weak self] snapshot in
      self?.take(snapshot, at: key)
    } cancelled: { [weak self] _ in
      self?.take(nil, at: key)
    }
    entries[key] = Entry(observation: observation)
  }

  private func take(_ snapshot: DataSnapshot?, at key: PostID) {
    guard entries[key] != nil else { return }
    entries[key]?.post = snapshot.flatMap(Post.init).flatMap { feed.has($0) ? $0 : nil }
    entries[key]?.isPending = snapshot?.metadata.hasPendingWrites == true
    entries[key]?.isKnown = true
    publish()
  }

  // MARK: Telling

  /// Reports the list after the current burst of events, once all posts are known.
  func publish() {
    burst.end { [weak self] in
      guard let self, let told, entries.values.allSatisfy(\.isKnown) else { return }
      let pending = entries.filter { $0.value.isPending && $0.value.post != nil }.map(\.key)
      let extent = FeedExtent(
        hasOlder: told.extent.hasOlder,
        hasNewer: told.extent.hasNewer,
        pending: Set(pending)
      )
      tell(told.keys.compactMap { self.entries[$0]?.post }, extent)
    }
  }
}

// Safety: all state is accessed only on `queue`, the callback queue of the database.
/// The posts of the people a person follows: one list for each of them, merged.
///
/// Each list is loaded in pages around the reader. The merged list ends where the first unfinished
/// list ends, because posts may be missing below that point. The number of people and the number of
/// loaded posts for each are both bounded, so the cost does not grow with the blog.
final class PeopleFeed: FeedSource, @unchecked Sendable {
  /// How many people can be followed.
  static let people: UInt = 100
  /// How much of each person's list is kept.
  private static let bounds = FollowedFeed.Bounds(
    pageLength: 30,
    longestPage: 75,
    pageLimit: 6,
    margin: 20
  )

  private struct Person {
    let feed: FollowedFeed
    /// The last entries it reported, newest first; nil until it has reported.
    var entries: [FeedEntry]?
    var extent = FeedExtent()
  }

  private let paths: BlogPaths
  private let burst: Burst
  private let tell: @Sendable ([Post], FeedExtent) -> Void
  private var observation: Observation?
  private var isKnown = false
  private var persons: [String: Person] = [:]

  init(
    followedBy uid: String,
    _ paths: BlogPaths,
    tell: @escaping @Sendable ([Post], FeedExtent) -> Void,
    fail: @escaping @Sendable (any Error) -> Void
  ) {
    self.paths = paths
    burst = Burst(on: paths.queue)
    self.tell = tell
    let index = paths.following(by: uid).queryOrderedByKey().queryLimited(toLast: Self.people)
    observation = Observation(index) { [weak self] snapshot in
      self?.take(snapshot.childSnapshots.map(\.key))
    } cancelled: { error in
      fail(error)
    }
  }

  func read(at post: PostID) {
    for person in persons.values { person.feed.read(near: post) }
  }

  func showHighest() {
    for person in persons.values { person.feed.showHighest() }
    publish()
  }

  func post(_ id: PostID) -> Post? { persons.values.lazy.compactMap { $0.feed.post(id) }.first }

  // MARK: People

  private func take(_ uids: [String]) {
    isKnown = true
    let wanted = Set(uids)
    persons = persons.filter { wanted.contains($0.key) }
    for uid in uids where persons[uid] == nil { watch(uid) }
    publish()
  }

  private func watch(_ uid: String) {
    let feed = FollowedFeed(
      paths.posts(of: uid).queryOrderedByKey(),
      bounds: Self.bounds,
      tell: { [weak self] entries, extent in self?.take(entries, extent: extent, of: uid) },
      // A person whose posts may not be read counts as having none.
      fail: { [weak self] _ in self?.take([], extent: FeedExtent(), of: uid) }
    )
    persons[uid] = Person(feed: feed)
  }

  private func take(_ entries: [FeedEntry], extent: FeedExtent, of uid: String) {
    guard persons[uid] != nil else { return }
    persons[uid]?.entries = entries
    persons[uid]?.extent = extent
    publish()
  }

  // MARK: Telling

  /// Reports the list after the current burst of events, once all people's lists are known.
  func publish() {
    burst.end { [weak self] in
      guard let self, isKnown, persons.values.allSatisfy({ $0.entries != nil })
      else { return }
      let (posts, extent) = merged
      tell(posts, extent)
    }
  }

  /// Everything known without gaps, newest first.
  private var merged: (posts: [Post], extent: FeedExtent) {
    var lowest: IndexEntry?
    var highest: IndexEntry?
    for person in persons.values {
      guard let first = person.entries?.first, let last = person.entries?.last else { continue }
      if person.extent.hasOlder { lowest = max(lowest ?? last.position, last.position) }
      if person.extent.hasNewer { highest = min(highest ?? first.position, first.position) }
    }
    var shown: [FeedEntry] = []
    for (uid, person) in persons {
      for entry in person.entries ?? [] where entry.post?.uid == uid {
        if let lowest, entry.position < lowest { continue }
        if let highest, highest < entry.position { continue }
        shown.append(entry)
      }
    }
    shown.sort { $1.position < $0.position }
    let extent = FeedExtent(
      hasOlder: persons.values.contains { $0.extent.hasOlder },
      hasNewer: persons.values.contains { $0.extent.hasNewer },
      pending: Set(shown.filter(\.isPending).map(\.id))
    )
    return (shown.compactMap(\.post), extent)
  }
}
