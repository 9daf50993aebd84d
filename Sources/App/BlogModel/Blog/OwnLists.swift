internal import Dispatch
internal import RealtimeDatabase

/// What an account keeps for itself, the same on all its terminals.
package struct OwnLists: Hashable, Sendable, Codable {
  /// The people whom the user follows.
  package var following: Set<String>
  /// The people of whom the user wants to see nothing.
  package var muted: Set<String>
  /// The people who may not comment on the user's posts.
  package var blocked: Set<String>
  /// The posts that the user has marked.
  package var bookmarks: Set<PostID>

  /// Makes lists, which are empty unless something else is said.
  package init(
    following: Set<String> = [],
    muted: Set<String> = [],
    blocked: Set<String> = [],
    bookmarks: Set<PostID> = []
  ) {
    self.following = following
    self.muted = muted
    self.blocked = blocked
    self.bookmarks = bookmarks
  }
}

// Safety: all state is accessed only on `queue`, the callback queue of the database.
/// Watches what the account keeps for itself.
final class OwnListsWatch: @unchecked Sendable {
  /// How many muted or blocked people, or bookmarks, are reported.
  private static let limit: UInt = 1_000

  private let places: [(list: WritableKeyPath<OwnLists, Set<String>>, query: DatabaseQuery)]
  private let queue: DispatchQueue
  private let tell: @Sendable (BlogEvent) -> Void
  private var handles: [DatabaseHandle] = []
  private var lists = OwnLists()
  private var isPublishing = false

  init(
    _ paths: BlogPaths,
    of uid: String,
    queue: DispatchQueue,
    tell: @escaping @Sendable (BlogEvent) -> Void
  ) {
    func query(_ place: DatabaseReference, _ limit: UInt) -> DatabaseQuery {
      place.queryOrderedByKey().queryLimited(toLast: limit)
    }
    places = [
      (\.following, query(paths.following(by: uid), PeopleFeed.people)),
      (\.muted, query(paths.muted(by: uid), Self.limit)),
      (\.blocked, query(paths.blocked(by: uid), Self.limit)),
      (\.bookmarks, query(paths.bookmarks(of: uid), Self.limit)),
    ]
    self.queue = queue
    self.tell = tell
  }

  func start() {
    guard handles.isEmpty else { return }
    for (list, query) in places {
      handles.append(
        query.observe(.value) { [weak self] snapshot in
          self?.lists[keyPath: list] = Set(snapshot.childSnapshots.map(\.key))
          self?.publish()
        }
      )
    }
  }

  func stop() {
    for ((_, query), handle) in zip(places, handles) { query.removeObserver(withHandle: handle) }
    handles = []
  }

  /// Reports all lists after the current burst of events.
  private func publish() {
    guard !isPublishing else { return }
    isPublishing = true
    queue.async { [weak self] in
      guard let self else { return }
      isPublishing = false
      if !handles.isEmpty { tell(.ownLists(lists)) }
    }
  }
}
