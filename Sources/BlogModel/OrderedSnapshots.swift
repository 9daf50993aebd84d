internal import RealtimeDatabase

/// Keeps what a query selects in its order, from the events of one observer.
struct OrderedSnapshots<Element: Identifiable> where Element.ID == String {
  /// The elements in ascending order of the query.
  private(set) var elements: [Element] = []
  /// Whether the server has said what there is.
  private(set) var isLoaded = false
  /// The keys of the elements.
  private var keys: Set<String> = []
  /// Whether something has changed since the elements were last taken.
  private var isDirty = false

  /// Whether there is something to show: elements, or the certainty that there are none.
  var isKnown: Bool { isLoaded || !elements.isEmpty }

  /// Takes an event, and tells whether it is the first since the elements were last taken.
  mutating func take(
    _ event: DataEventType,
    _ snapshot: DataSnapshot,
    _ previousKey: String?,
    _ element: Element?
  ) -> Bool {
    if event == .value {
      isLoaded = true
    } else {
      apply(event, key: snapshot.key, previousKey: previousKey, element)
    }
    defer { isDirty = true }
    return !isDirty
  }

  /// Notes that the elements are being taken.
  mutating func clean() {
    isDirty = false
  }

  /// Takes one child event; what does not read as an element is left out.
  ///
  /// - Complexity: O(n) for an n of at most a few hundred, O(1) for what is added at the end.
  mutating func apply(
    _ event: DataEventType,
    key: String,
    previousKey: String?,
    _ element: Element?
  ) {
    switch event {
    case .value: return
    case .childRemoved: remove(key)
    case .childChanged:
      guard let index = elements.firstIndex(where: { $0.id == key }) else {
        insert(element, after: previousKey)
        return
      }
      if let element { elements[index] = element } else { remove(key) }
    case .childAdded, .childMoved:
      remove(key)
      insert(element, after: previousKey)
    }
  }

  private mutating func remove(_ key: String) {
    guard keys.remove(key) != nil else { return }
    elements.removeAll { $0.id == key }
  }

  private mutating func insert(_ element: Element?, after previousKey: String?) {
    guard let element else { return }
    keys.insert(element.id)
    elements.insert(element, at: place(after: previousKey))
  }

  /// Where an element goes; most come in order.
  private func place(after previousKey: String?) -> Int {
    guard let previousKey else { return 0 }
    if elements.last?.id == previousKey { return elements.count }
    return elements.firstIndex { $0.id == previousKey }.map { $0 + 1 } ?? 0
  }
}
