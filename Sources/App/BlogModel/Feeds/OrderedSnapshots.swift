internal import RealtimeCore
internal import RealtimeDatabase

/// Keeps what a query selects in its order, from the events of one observer.
struct OrderedSnapshots<Element: Identifiable> where Element.ID == String {
  /// The elements in ascending order of the query.
  private(set) var elements: [Element] = []
  /// Whether the server has said what there is.
  private(set) var isLoaded = false
  /// What the query orders by.
  private let index: Index
  /// The positions of the elements, strictly ascending.
  private var positions: [IndexEntry] = []
  /// The positions by key.
  private var known: [String: IndexEntry] = [:]
  /// Whether something has changed since the elements were last taken.
  private var isDirty = false

  /// Makes an empty selection in that order.
  init(by index: Index = .priority) {
    self.index = index
  }

  /// Whether there is something to show: elements, or the certainty that there are none.
  var isKnown: Bool { isLoaded || !elements.isEmpty }

  /// The number of the element of that key; nil when it is not selected.
  ///
  /// - Complexity: O(log n)
  func index(of key: String) -> Int? {
    guard let position = known[key] else { return nil }
    return count { $0 < position }
  }

  /// The element of that key; nil when it is not selected.
  ///
  /// - Complexity: O(log n)
  func element(_ key: String) -> Element? { index(of: key).map { elements[$0] } }

  /// How many elements come before a place in the order, by whether a position does.
  ///
  /// - Complexity: O(log n)
  func count(before isBefore: (IndexEntry) -> Bool) -> Int {
    var range = 0..<positions.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        isBefore(positions[middle])
        ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// Takes an event, and tells whether it is the first since the elements were last taken.
  ///
  /// What does not read as an element is left out.
  ///
  /// - Complexity: O(log n) to find the place, O(n) to make room for it
  mutating func take(
    _ event: DataEventType,
    of snapshot: DataSnapshot,
    as element: @autoclosure () -> Element?
  ) -> Bool {
    switch event {
    case .value: isLoaded = true
    case .childRemoved: remove(snapshot.key)
    case .childAdded, .childMoved, .childChanged:
      remove(snapshot.key)
      if let element = element() { insert(element, at: position(of: snapshot)) }
    }
    defer { isDirty = true }
    return !isDirty
  }

  /// Notes that the elements are being taken.
  mutating func clean() {
    isDirty = false
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
    // Most come in order.
    let isLast = positions.last.map { $0 < position } ?? true
    let place = isLast ? positions.count : count { $0 < position }
    known[element.id] = position
    positions.insert(position, at: place)
    elements.insert(element, at: place)
  }
}
