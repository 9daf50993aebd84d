extension Node {
  /// How many bytes the node takes up, by the measure that official clients share.
  ///
  /// - Complexity: O(size)
  package var estimatedSize: Int {
    switch self {
    case .empty: return 4
    case .leaf(let value, let priority):
      return value.estimatedSize + (priority.map { 24 + $0.value.estimatedSize } ?? 0)
    case .children(let children):
      var size = 1
      for (key, child) in children.map { size += key.text.utf16.count + 4 + child.estimatedSize }
      if let priority = children.priority {
        size += ChildKey.priority.text.utf16.count + 4 + priority.value.estimatedSize
      }
      return size
    }
  }

  /// Whether a compound hash leaves a priority out, so that it does not tell all differences.
  ///
  /// Official clients write the priority of a node with children only before a child whose key comes
  /// after `.priority`; where all keys are integers or push ids, there is none.
  ///
  /// - Complexity: O(nodes with children)
  package var hasHiddenPriority: Bool {
    guard let children else { return false }
    if children.priority != nil, let last = children.map.last, last.key < .priority { return true }
    return children.map.contains { $0.value.hasHiddenPriority }
  }

  /// Visits the leaves in path order, priorities of nodes with children among them unless hidden.
  ///
  /// - Parameters:
  ///   - keys: The path of this node; extended while leaves are visited.
  ///   - body: Takes the path of a leaf and the leaf.
  /// - Complexity: O(size)
  func forEachLeaf(at keys: inout [ChildKey], _ body: ([ChildKey], Node) -> Void) {
    switch self {
    case .empty: return
    case .leaf: body(keys, self)
    case .children(let children):
      var priority = children.priority
      for (key, child) in children.map {
        if let value = priority?.value, ChildKey.priority < key {
          priority = nil
          body(keys + [.priority], .leaf(value))
        }
        keys.append(key)
        child.forEachLeaf(at: &keys, body)
        keys.removeLast()
      }
    }
  }
}

extension LeafValue {
  fileprivate var estimatedSize: Int {
    switch self {
    case .bool: 4
    case .integer, .double: 8
    case .string(let text): 2 + text.utf16.count
    case .deferred(let value): value.json.text.utf16.count
    }
  }
}
