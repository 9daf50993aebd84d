internal import RealtimeCore
internal import RealtimeDatabase

/// A child of a list, which may be no post at all.
///
/// A class, since a list of some hundreds is put together again and again from its pages.
final class FeedEntry: Identifiable {
  let id: String
  let snapshot: DataSnapshot
  /// Where the child stands in the list.
  let position: IndexEntry
  /// The post; nil when the child does not read as one.
  let post: Post?

  init(_ snapshot: DataSnapshot, by index: Index) {
    id = snapshot.key
    self.snapshot = snapshot
    position = index.entry(for: ChildKey(snapshot.key), node: snapshot.node)
    post = Post(snapshot)
  }

  /// Whether writes of mine in the child were not acknowledged when it came.
  var isPending: Bool { snapshot.metadata.hasPendingWrites }

  /// Whether both show the same.
  func looksLike(_ other: FeedEntry) -> Bool {
    self === other || (id == other.id && isPending == other.isPending && post == other.post)
  }
}
