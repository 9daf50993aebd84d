internal import RealtimeDatabase

/// A child of a list, which may be no post at all.
///
/// A class, since a list of some hundreds is put together again and again from its pages.
final class FeedEntry: Identifiable {
  let id: String
  let snapshot: DataSnapshot
  /// The post; nil when the child does not read as one.
  let post: Post?

  init(_ snapshot: DataSnapshot) {
    id = snapshot.key
    self.snapshot = snapshot
    post = Post(snapshot)
  }
}
