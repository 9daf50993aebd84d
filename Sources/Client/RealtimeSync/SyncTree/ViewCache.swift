import RealtimeCore

/// The two versions of a view's data: what the server said, and what events were raised for.
struct ViewCache: Sendable {
  var server: CacheNode
  var event: CacheNode
}

/// Data that a view knows, and how complete they are.
struct CacheNode: Sendable {
  /// The data, in the order of the view's query.
  var indexed: IndexedNode
  /// Whether everything is known that the view may show.
  var isComplete: Bool
  /// Whether children were left out because the query does not select them.
  var isFiltered: Bool

  var node: Node { indexed.node }

  /// The data without their order.
  var known: KnownData { KnownData(node: node, isComplete: isComplete, isFiltered: isFiltered) }

  /// Whether it is known what the child is, or that there is none.
  func isComplete(for key: ChildKey) -> Bool { known.isComplete(for: key) }

  /// Whether the data at a path are known.
  func isComplete(for path: Path) -> Bool { known.isComplete(for: path) }
}

/// Data that a view knows, without the order of the children.
///
/// Code that compares with the data before a change holds these and not a ``CacheNode``. Versions of a
/// node share everything but the changed path, whereas the order of a million children can be changed
/// in place only while nobody else holds it.
struct KnownData: Sendable {
  /// The data.
  let node: Node
  /// Whether everything is known that the view may show.
  let isComplete: Bool
  /// Whether children were left out because the query does not select them.
  let isFiltered: Bool

  /// Whether it is known what the child is, or that there is none.
  func isComplete(for key: ChildKey) -> Bool {
    (isComplete && !isFiltered) || node.hasChild(key)
  }

  /// Whether the data at a path are known.
  func isComplete(for path: Path) -> Bool {
    guard let key = path.first else { return isComplete && !isFiltered }
    return isComplete(for: key)
  }
}
