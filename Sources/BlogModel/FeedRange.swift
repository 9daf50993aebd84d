internal import RealtimeDatabase

/// A part of a list: which posts an observer is told of.
struct FeedRange {
  /// Which posts are left of more than there is room for.
  enum Limit: Hashable {
    /// The highest in the order of the list.
    case highest(Int)
    /// The lowest in the order of the list.
    case lowest(Int)
  }

  /// The lowest post of the part; nil where the list ends.
  var lower: DataSnapshot?
  /// The lowest post above the part; nil where the list begins.
  var upper: DataSnapshot?
  /// How many there may be; nil for all.
  var limit: Limit?

  /// The query for the part, of the whole list in its order.
  func query(in list: DatabaseQuery, isByStars: Bool) -> DatabaseQuery {
    var query = list
    if let lower {
      query =
        isByStars
        ? query.queryStarting(atValue: Self.starCount(lower), childKey: lower.key)
        : query.queryStarting(atValue: lower.key)
    }
    if let upper {
      query =
        isByStars
        ? query.queryEnding(beforeValue: Self.starCount(upper), childKey: upper.key)
        : query.queryEnding(beforeValue: upper.key)
    }
    switch limit {
    case .highest(let count): return query.queryLimited(toLast: UInt(count))
    case .lowest(let count): return query.queryLimited(toFirst: UInt(count))
    case nil: return query
    }
  }

  /// Whether a post can be the end of a part.
  ///
  /// Others may have written anything: a count that is an object has a place in the order, but no
  /// query can name it.
  static func canBound(_ post: DataSnapshot) -> Bool {
    !post.childSnapshot(forPath: "starCount").hasChildren()
  }

  private static func starCount(_ post: DataSnapshot) -> Any? {
    post.childSnapshot(forPath: "starCount").value
  }
}
