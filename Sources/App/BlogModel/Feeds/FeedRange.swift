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

  /// Where the part begins; nil where the list does.
  var lower: FeedBound?
  /// Where the part ends; nil where the list does.
  var upper: FeedBound?
  /// How many there may be; nil for all.
  var limit: Limit?

  /// The query for the part, of the whole list in its order.
  func query(in list: DatabaseQuery, isByStars: Bool) -> DatabaseQuery {
    var query = list
    if let lower {
      let (value, key) = Self.place(of: lower, isByStars: isByStars)
      query =
        lower.isAfter
        ? query.queryStarting(afterValue: value, childKey: key)
        : query.queryStarting(atValue: value, childKey: key)
    }
    if let upper {
      let (value, key) = Self.place(of: upper, isByStars: isByStars)
      query =
        upper.isAfter
        ? query.queryEnding(atValue: value, childKey: key)
        : query.queryEnding(beforeValue: value, childKey: key)
    }
    switch limit {
    case .highest(let count): return query.queryLimited(toLast: UInt(count))
    case .lowest(let count): return query.queryLimited(toFirst: UInt(count))
    case nil: return query
    }
  }

  private static func place(of bound: FeedBound, isByStars: Bool) -> (value: Any?, key: String?) {
    isByStars ? (bound.starCount.value, bound.entry.id) : (bound.entry.id, nil)
  }
}
