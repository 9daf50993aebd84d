internal import RealtimeDatabase

// Safety: all state is accessed only on the callback queue of the database.
/// Watches the list of people the user follows.
final class FollowWatch: @unchecked Sendable {
  private let people: DatabaseQuery
  private let tell: @Sendable (BlogEvent) -> Void
  private var handle: DatabaseHandle?

  init(_ place: DatabaseReference, tell: @escaping @Sendable (BlogEvent) -> Void) {
    people = place.queryOrderedByKey().queryLimited(toLast: PeopleFeed.people)
    self.tell = tell
  }

  func start() {
    guard handle == nil else { return }
    handle = people.observe(.value) { [tell] snapshot in
      tell(.following(Set(snapshot.childSnapshots.map(\.key))))
    }
  }

  func stop() {
    if let handle { people.removeObserver(withHandle: handle) }
    handle = nil
  }
}
