internal import Dispatch
internal import RealtimeCore
internal import RealtimeDatabase

/// What a screen follows as a list.
protocol FeedSource: AnyObject {
  func start()
  func stop()
  /// Tells the list again.
  func publish()
  /// Learns where the reader is.
  func read(at post: PostID)
  /// Goes to the beginning of the list.
  func showHighest()
  /// A post of the list, as far as it is known.
  func post(_ id: PostID) -> Post?
}

extension FollowedFeed: FeedSource {}

// Safety: everything is touched only on `queue`, the callback queue of the database.
/// A list whose posts are in several places: those with a tag, or those of the people I follow.
///
/// One small query says which places there are, and one observer for each tells what is there. Both
/// numbers are bounded, so that the cost does not grow with the blog.
final class GatheredFeed: FeedSource, @unchecked Sendable {
  /// What says where the posts are.
  enum Gathering: Hashable {
    /// The posts with a tag.
    case tag(String)
    /// The newest posts of the people whom a person follows.
    case following(uid: String)
  }

  /// How many posts with a tag are shown.
  static let tagged: UInt = 100
  /// How many people can be followed.
  static let people: UInt = 100
  /// How many posts of each of them are shown.
  static let postsEach: UInt = 30

  private struct Place {
    let query: DatabaseQuery
    var handle: DatabaseHandle = 0
    var isKnown = false
    var posts: [PostID: (post: Post, isPending: Bool)] = [:]
  }

  private let gathering: Gathering
  private let paths: BlogPaths
  private let queue: DispatchQueue
  private let tell: @Sendable ([Post], FeedExtent) -> Void
  private let fail: @Sendable (any Error) -> Void
  private let index: DatabaseQuery
  private var handle: DatabaseHandle?
  private var isKnown = false
  private var places: [String: Place] = [:]
  private var isPublishing = false

  init(
    _ gathering: Gathering,
    _ paths: BlogPaths,
    queue: DispatchQueue,
    tell: @escaping @Sendable ([Post], FeedExtent) -> Void,
    fail: @escaping @Sendable (any Error) -> Void
  ) {
    self.gathering = gathering
    self.paths = paths
    self.queue = queue
    self.tell = tell
    self.fail = fail
    index =
      switch gathering {
      case .tag(let tag): paths.tag(tag).queryOrderedByKey().queryLimited(toLast: Self.tagged)
      case .following(let uid):
        paths.following(by: uid).queryOrderedByKey().queryLimited(toLast: Self.people)
      }
  }

  func start() {
    handle = index.observe(
      .value,
      with: { [weak self] snapshot in self?.take(snapshot.childSnapshots.map(\.key)) },
      withCancel: { [fail] error in fail(error) }
    )
  }

  func stop() {
    if let handle { index.removeObserver(withHandle: handle) }
    handle = nil
    for key in places.keys { forget(key) }
  }

  func read(at post: PostID) {}

  func showHighest() { publish() }

  func post(_ id: PostID) -> Post? { places.values.lazy.compactMap { $0.posts[id]?.post }.first }

  // MARK: Places

  private func take(_ keys: [String]) {
    isKnown = true
    let wanted = Set(keys)
    for key in places.keys where !wanted.contains(key) { forget(key) }
    for key in keys where places[key] == nil { watch(key) }
    publish()
  }

  private func watch(_ key: String) {
    let query: DatabaseQuery =
      switch gathering {
      case .tag: paths.post(key)
      case .following:
        paths.posts(of: key).queryOrderedByKey().queryLimited(toLast: Self.postsEach)
      }
    places[key] = Place(query: query)
    places[key]?.handle = query.observe(
      .value,
      with: { [weak self] snapshot in self?.take(snapshot, at: key) },
      withCancel: { [weak self] _ in self?.take(nil, at: key) }
    )
  }

  private func forget(_ key: String) {
    guard let place = places.removeValue(forKey: key) else { return }
    place.query.removeObserver(withHandle: place.handle)
  }

  private func take(_ snapshot: DataSnapshot?, at key: String) {
    guard places[key] != nil else { return }
    let found: [DataSnapshot] =
      switch gathering {
      case .tag: snapshot.map { [$0] } ?? []
      case .following: snapshot?.childSnapshots ?? []
      }
    var posts: [PostID: (post: Post, isPending: Bool)] = [:]
    for child in found {
      guard let post = Post(child), isWanted(post, at: key) else { continue }
      posts[post.id] = (post, child.metadata.hasPendingWrites)
    }
    places[key]?.posts = posts
    places[key]?.isKnown = true
    publish()
  }

  /// Whether a post is what its place says: an entry may be older than the post.
  private func isWanted(_ post: Post, at key: String) -> Bool {
    switch gathering {
    case .tag(let tag): TextMarks(of: post.title, post.body).tags.contains(tag)
    case .following: post.uid == key
    }
  }

  // MARK: Telling

  /// Tells the list once what happens at the same time has happened, and all places are known.
  func publish() {
    guard !isPublishing else { return }
    isPublishing = true
    queue.async { [weak self] in
      guard let self else { return }
      isPublishing = false
      guard handle != nil, isKnown, places.values.allSatisfy(\.isKnown) else { return }
      let all = places.values.flatMap(\.posts.values)
      let posts = all.map(\.post).sorted { $1.id.utf16.lexicographicallyPrecedes($0.id.utf16) }
      tell(posts, FeedExtent(pending: Set(all.filter(\.isPending).map(\.post.id))))
    }
  }
}
