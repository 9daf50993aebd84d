import RealtimeCore

/// The two states of a view: what the server said, and what events were raised for.
struct ViewCache: Sendable {
  var server: CacheNode
  var event: CacheNode
}

/// Data that a view knows, and how much of the truth they are.
struct CacheNode: Sendable {
  /// The data, in the order of the view's query.
  var indexed: IndexedNode
  /// Whether nothing is missing of what the view may show.
  var isComplete: Bool
  /// Whether children were left out because the query does not select them.
  var isFiltered: Bool

  var node: Node { indexed.node }

  /// The data without their order.
  var known: KnownData { KnownData(node: node, isComplete: isComplete, isFiltered: isFiltered) }

  /// Whether the child is known, be it that it is known to be missing.
  func isComplete(for key: ChildKey) -> Bool { known.isComplete(for: key) }

  /// Whether the data at a path are known.
  func isComplete(for path: Path) -> Bool { known.isComplete(for: path) }
}

/// Data that a view knows, without the order of the children.
///
/// Whoever looks back at the data of before a change holds these and not a ``CacheNode``. Versions of a
/// node share all but the path of a change, whereas the order of a million children changes in place
/// only while nobody else holds it.
struct KnownData: Sendable {
  /// The data.
  let node: Node
  /// Whether nothing is missing of what the view may show.
  let isComplete: Bool
  /// Whether children were left out because the query does not select them.
  let isFiltered: Bool

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
