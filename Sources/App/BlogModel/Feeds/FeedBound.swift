internal import RealtimeCore
internal import RealtimeDatabase

/// An end of a part of a list: right before or right after where a post stood when it was found.
///
/// It stays where it is when the post goes or moves.
struct FeedBound {
  /// The post.
  let entry: FeedEntry
  /// Whether the post itself lies below the bound.
  let isAfter: Bool

  /// Whether a position lies below the bound.
  func isAbove(_ position: IndexEntry) -> Bool {
    isAfter ? !(entry.position < position) : position < entry.position
  }

  /// Whether a query can name the bound.
  ///
  /// Others may have written anything: a count that is an object has a place in the order, but no
  /// query can name it.
  var canBeNamed: Bool { !starCount.hasChildren() }

  /// The count of stars of the post.
  var starCount: DataSnapshot { entry.snapshot.childSnapshot(forPath: "starCount") }
}
