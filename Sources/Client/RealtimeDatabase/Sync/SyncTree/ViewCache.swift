import RealtimeCore

/// The two versions of a view's data: the server's, and the one for which events were raised.
struct ViewCache: Sendable {
  var server: CacheNode
  var event: CacheNode
}

/// Data that a view knows, and how complete it is.
struct CacheNode: Sendable {
  /// The data, in the order of the view's query.
  var indexed: IndexedNode
  /// Whether all data that the view may show is known.
  var isComplete: Bool
  /// Whether children were left out because the query does not select them.
  var isFiltered: Bool

  var node: Node { indexed.node }

  /// The data without the query's order.
  var known: KnownData { KnownData(node: node, isComplete: isComplete, isFiltered: isFiltered) }

  /// Whether the child, or its absence, is known.
  func isComplete(for key: ChildKey) -> Bool { known.isComplete(for: key) }
}

/// Data that a view knows, without the order of the children.
///
/// Code that compares with the data before a change holds this and not a ``CacheNode``. Versions of
/// a node share everything except the changed path, whereas the order of a million children can be
/// changed in place only while no other reference to it exists.
struct KnownData: Sendable {
  let node: Node
  /// Whether all data that the view may show is known.
  let isComplete: Bool
  /// Whether children were left out because the query does not select them.
  let isFiltered: Bool

  /// Whether the child, or its absence, is known.
  func isComplete(for key: ChildKey) -> Bool {
    (isComplete && !isFiltered) || node.hasChild(key)
  }

  func isComplete(for path: Path) -> Bool {
    guard let key = path.first else { return isComplete && !isFiltered }
    return isComplete(for: key)
  }
}
