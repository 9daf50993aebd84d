internal import RealtimeDatabase

/// The comments that a query selects, in the order of their keys, from the events of one observer.
struct OrderedComments {
  /// The comments, oldest first.
  private(set) var elements: [Comment] = []
  /// Whether the server has sent the contents of the query.
  private(set) var isLoaded = false
  /// Whether anything has changed since the comments were last read.
  private var isDirty = false

  /// Whether there is something to show: comments, or the certainty that there are none.
  var isKnown: Bool { isLoaded || !elements.isEmpty }

  /// The comment with this key; nil if it is not selected.
  ///
  /// - Complexity: O(log n)
  func comment(_ id: String) -> Comment? {
    let key = Comment.Key(id)
    let index = index(of: key)
    return index < elements.count && elements[index].key == key ? elements[index] : nil
  }

  /// Takes an event, and returns whether it is the first since the comments were last read.
  ///
  /// A child that cannot be read as a comment is left out.
  ///
  /// - Complexity: O(log n) to find the position, O(n) to insert there
  mutating func take(_ event: DataEventType, of snapshot: DataSnapshot) -> Bool {
    if event == .value {
      isLoaded = true
    } else {
      let key = Comment.Key(snapshot.key)
      let index = index(of: key)
      if index < elements.count, elements[index].key == key { elements.remove(at: index) }
      if event != .childRemoved, let comment = Comment(snapshot) {
        elements.insert(comment, at: index)
      }
    }
    defer { isDirty = true }
    return !isDirty
  }

  /// Marks the comments as read.
  mutating func clean() {
    isDirty = false
  }

  /// The index of the first comment whose key is not before this one.
  private func index(of key: Comment.Key) -> Int {
    guard let last = elements.last, key <= last.key else { return elements.count }
    return elements.partitioningIndex { $0.key >= key }
  }
}
