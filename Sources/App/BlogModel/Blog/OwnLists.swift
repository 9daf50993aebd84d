internal import RealtimeDatabase

/// What an account keeps for itself, the same on all its terminals.
package struct OwnLists: Hashable, Sendable, Codable {
  package var following: Set<String> = []
  /// The people of whom the user wants to see nothing.
  package var muted: Set<String> = []
  /// The people who may not comment on the user's posts.
  package var blocked: Set<String> = []
  package var bookmarks: Set<PostID> = []
  package var searches: [SavedSearch] = []

  package static let empty = OwnLists()
}

package struct SavedSearch: Hashable, Sendable, Codable {
  package static let limit = 100
  package static let nameLimit = 50
  package static let textLimit = 200

  /// The key under which it is stored.
  package let slot: String
  package let name: String
  package let text: String

  /// The keys that there can be, of which the number of searches is bounded.
  package static let slots = (0..<limit).map { $0 < 10 ? "s0\($0)" : "s\($0)" }
}

extension SavedSearch {
  init?(_ snapshot: DataSnapshot) {
    guard let name = snapshot.text("name"), let text = snapshot.text("text") else { return nil }
    self.init(slot: snapshot.key, name: name, text: text)
  }
}

// Safety: all state is accessed only on the callback queue of the database.
final class OwnListsWatch: @unchecked Sendable {
  /// How many muted or blocked people, or bookmarks, are reported.
  private static let limit: UInt = 1_000

  private typealias Adopt = (inout OwnLists, DataSnapshot) -> Void

  private let places: [(adopt: Adopt, query: DatabaseQuery)]
  private let burst: Burst
  private let tell: @Sendable (BlogEvent) -> Void
  private var observations: [Observation] = []
  private var lists = OwnLists()

  init(
    _ paths: BlogPaths,
    of uid: String,
    tell: @escaping @Sendable (BlogEvent) -> Void
  ) {
    func query(_ place: DatabaseReference, _ limit: UInt) -> DatabaseQuery {
      place.queryOrderedByKey().queryLimited(toLast: limit)
    }
    func keys(_ list: WritableKeyPath<OwnLists, Set<String>>) -> Adopt {
      { $0[keyPath: list] = Set($1.childSnapshots.map(\.key)) }
    }
    places = [
      (keys(\.following), query(paths.following(by: uid), PeopleFeed.people)),
      (keys(\.muted), query(paths.muted(by: uid), Self.limit)),
      (keys(\.blocked), query(paths.blocked(by: uid), Self.limit)),
      (keys(\.bookmarks), query(paths.bookmarks(of: uid), Self.limit)),
      (
        { lists, snapshot in
          lists.searches = snapshot.childSnapshots.compactMap(SavedSearch.init)
            .sorted { ($0.name, $0.slot) < ($1.name, $1.slot) }
        }, query(paths.searches(of: uid), UInt(SavedSearch.limit))
      ),
    ]
    burst = Burst(on: paths.queue)
    self.tell = tell
  }

  func start() {
    guard observations.isEmpty else { return }
    observations = places.map { adopt, query in
      Observation(query) { [weak self] snapshot in
        guard let self else { return }
        adopt(&lists, snapshot)
        publish()
      }
    }
  }

  /// Watches anew, unless nothing is watched.
  func restart() {
    guard !observations.isEmpty else { return }
    stop()
    start()
  }

  func stop() { observations = [] }

  /// Reports all lists after the current burst of events.
  private func publish() {
    burst.end { [weak self] in
      guard let self, !observations.isEmpty else { return }
      tell(.ownLists(lists))
    }
  }
}
