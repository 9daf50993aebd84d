/// Names that count until a time each, such as tickets that were used.
struct ExpiringNames<Time: Comparable> {
  private var ends: [String: Time] = [:]
  /// The number of names from which on those that have expired are looked for.
  private var limit = Self.smallestLimit
  private static var smallestLimit: Int { 64 }

  /// The number of names that are kept, some of which may have expired.
  var count: Int { ends.count }

  /// Whether a name counts.
  func contains(_ name: String, at time: Time) -> Bool {
    guard let end = ends[name] else { return false }
    return time < end
  }

  /// Adds a name, or extends its time, and returns whether it did not count before.
  ///
  /// - Complexity: O(1), amortized. No more than twice as many names are kept as counted at once,
  ///   or 64.
  @discardableResult
  mutating func insert(_ name: String, until end: Time, at time: Time) -> Bool {
    let isNew = !contains(name, at: time)
    ends[name] = end
    if ends.count > limit {
      ends = ends.filter { time < $0.value }
      limit = max(2 * ends.count, Self.smallestLimit)
    }
    return isNew
  }
}
