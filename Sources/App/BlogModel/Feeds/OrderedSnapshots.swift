internal import RealtimeCore
internal import RealtimeDatabase

/// Keeps the children that a query selects, in the query's order, from the events of one observer.
struct OrderedSnapshots<Element: Identifiable> where Element.ID == String {
  /// The elements in ascending order of the query.
  private(set) var elements: [Element] = []
  /// Whether the server has sent the contents of the query.
  private(set) var isLoaded = false
  private let index: Index
  /// The positions of the elements, strictly ascending.
  private var positions: [IndexEntry] = []
  private var known: [String: IndexEntry] = [:]

  init(by index: Index) {
    self.index = index
  }

  /// Whether there is something to show: elements, or the certainty that there are none.
  var isKnown: Bool { isLoaded || !elements.isEmpty }

  /// The index of the element with this key; nil if it is not selected.
  ///
  /// - Complexity: O(log n)
  func index(of key: String) -> Int? {
    guard let position = known[key] else { return nil }
    return count { $0 < position }
  }

  /// The element with this key; nil if it is not selected.
  ///
  /// - Complexity: O(log n)
  func element(_ key: String) -> Element? { index(of: key).map { elements[$0] } }

  /// The number of elements whose position satisfies a predicate that is true up to a point in the
  /// order.
  ///
  /// - Complexity: O(log n)
  func count(before isBefore: (IndexEntry) -> Bool) -> Int {
    positions.partitioningIndex { !isBefore($0) }
  }

  /// Takes an event.
  ///
  /// A child that cannot be read as an element is left out.
  ///
  /// - Complexity: O(log n) to find the position, O(n) to insert there
  mutating func take(
    _ event: DataEventType,
    of snapshot: DataSnapshot,
    as element: @autoclosure () -> Element?
  ) {
    switch event {
    case .value: isLoaded = true
    case .childRemoved: remove(snapshot.key)
    case .childAdded, .childMoved, .childChanged:
      remove(snapshot.key)
      if let element = element() { insert(element, at: position(of: snapshot)) }
    }
  }

  private func position(of snapshot: DataSnapshot) -> IndexEntry {
    index.entry(for: ChildKey(snapshot.key), node: snapshot.node)
  }

  private mutating func remove(_ key: String) {
    guard let place = index(of: key) else { return }
    known[key] = nil
    positions.remove(at: place)
    elements.remove(at: place)
  }

  private mutating func insert(_ element: Element, at position: IndexEntry) {
    // Most arrive in order.
    let isLast = positions.last.map { $0 < position } ?? true
    let place = isLast ? positions.count : count { $0 < position }
    known[element.id] = position
    positions.insert(position, at: place)
    elements.insert(element, at: place)
  }
}
