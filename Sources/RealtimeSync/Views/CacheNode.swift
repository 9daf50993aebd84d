import RealtimeTree

/// Data that a view knows, and how much of the truth they are.
struct CacheNode: Sendable {
  /// The data, in the order of the view's query.
  var indexed: IndexedNode
  /// Whether nothing is missing of what the view may show.
  var isComplete: Bool
  /// Whether children were left out because the query does not select them.
  var isFiltered: Bool

  var node: Node { indexed.node }

  /// Whether the child is known, be it that it is known to be missing.
  func isComplete(for key: ChildKey) -> Bool {
    (isComplete && !isFiltered) || node.hasChild(key)
  }

  /// Whether the data at a path are known.
  func isComplete(for path: Path) -> Bool {
    guard let key = path.first else { return isComplete && !isFiltered }
    return isComplete(for: key)
  }
}
