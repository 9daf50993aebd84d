internal import RealtimeDatabase

/// A child of a list, which may be no post at all.
struct FeedEntry: Identifiable {
  let snapshot: DataSnapshot
  /// The post; nil when the child does not read as one.
  let post: Post?

  init(_ snapshot: DataSnapshot) {
    self.snapshot = snapshot
    post = Post(snapshot)
  }

  var id: String { snapshot.key }
}
