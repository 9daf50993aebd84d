internal import RealtimeCore
internal import RealtimeDatabase

/// Keeps the children that a query selects, in the query's order, from the events of one observer.
struct OrderedEntries {
  /// The entries, at strictly ascending positions in the order of the query.
  private(set) var elements: [FeedEntry] = []
  /// Whether the server has sent the contents of the query.
  private(set) var isLoaded = false
  private var positions: [String: IndexEntry] = [:]

  /// Whether there is something to show: entries, or the certainty that there are none.
  var isKnown: Bool { isLoaded || !elements.isEmpty }

  /// The index of the entry with this key; nil if it is not selected.
  ///
  /// - Complexity: O(log n)
  func index(of key: String) -> Int? {
    guard let position = positions[key] else { return nil }
    return count { $0 < position }
  }

  /// The entry with this key; nil if it is not selected.
  ///
  /// - Complexity: O(log n)
  func element(_ key: String) -> FeedEntry? { index(of: key).map { elements[$0] } }

  /// The number of entries whose position satisfies a predicate that is true up to a point in the
  /// order.
  ///
  /// - Complexity: O(log n)
  func count(before isBefore: (IndexEntry) -> Bool) -> Int {
    elements.partitioningIndex { !isBefore($0.position) }
  }

  /// Takes an event.
  ///
  /// - Complexity: O(log n) to find the position, O(n) to insert there
  mutating func take(_ event: DataEventType, of snapshot: DataSnapshot, by index: Index) {
    switch event {
    case .value: isLoaded = true
    case .childRemoved: remove(snapshot.key)
    case .childAdded, .childMoved, .childChanged:
      remove(snapshot.key)
      insert(FeedEntry(snapshot, by: index))
    }
  }

  private mutating func remove(_ key: String) {
    guard let place = index(of: key) else { return }
    positions[key] = nil
    elements.remove(at: place)
  }

  private mutating func insert(_ entry: FeedEntry) {
    // Most arrive in order.
    let isLast = elements.last.map { $0.position < entry.position } ?? true
    let place = isLast ? elements.count : count { $0 < entry.position }
    positions[entry.id] = entry.position
    elements.insert(entry, at: place)
  }
}
