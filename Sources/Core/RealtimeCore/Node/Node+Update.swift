extension Node {
  /// This node with another priority; an empty node has none.
  package func withPriority(_ priority: LeafValue?) -> Node {
    switch self {
    case .empty: return .empty
    case .leaf(let value, _): return .leaf(value, priority: Priority(priority))
    case .children(var children):
      children.priority = Priority(priority)
      return .children(children)
    }
  }

  /// This node with a child set, or removed by an empty node.
  ///
  /// A child set on a leaf turns it into children and keeps its priority; removing the last child
  /// leaves nothing, not even the priority.
  ///
  /// - Complexity: O(log children)
  package func setting(_ key: ChildKey, to node: Node) -> Node {
    var copy = self
    copy.update(at: Path([key]), to: node)
    return copy
  }

  /// This node with the data at a path replaced; a path that ends in `.priority` sets a priority.
  ///
  /// - Complexity: O(depth · log children)
  package func setting(_ path: Path, to node: Node) -> Node {
    var copy = self
    copy.update(at: path, to: node)
    return copy
  }

  /// Replaces the data at a path, in place where no one else holds it.
  ///
  /// - Complexity: O(depth · log children)
  package mutating func update(at path: Path, to node: Node) {
    update(at: path.keys[...], to: node)
  }

  /// The same, of a path that may be the rest of a longer one.
  mutating func update(at path: ArraySlice<ChildKey>, to node: Node) {
    guard let key = path.first else {
      self = node
      return
    }
    if key == .priority {
      self = withPriority(node.leafValue)
      return
    }
    switch self {
    case .empty:
      var child = Node.empty
      child.update(at: path.dropFirst(), to: node)
      if !child.isEmpty { self = .children(NodeChildren(key, child, priority: nil)) }
    case .leaf(_, let priority):
      var child = Node.empty
      child.update(at: path.dropFirst(), to: node)
      if !child.isEmpty { self = .children(NodeChildren(key, child, priority: priority)) }
    case .children(var children):
      // Given up first, so that the map below is referenced once and changes in place.
      self = .empty
      if path.count == 1 {
        children.set(key, node)
      } else {
        children.update(key, at: path.dropFirst(), to: node)
      }
      if children.count > 0 { self = .children(children) }
    }
  }
}
