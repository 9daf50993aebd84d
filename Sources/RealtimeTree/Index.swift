/// What children are ordered by.
package enum Index: Hashable, Sendable {
  /// By priority, the default.
  case priority
  /// By key alone.
  case key
  /// By the child's own value.
  case value
  /// By the value at a path below the child.
  case child(Path)

  /// What this index orders a node by.
  package func value(of node: Node) -> IndexValue {
    switch self {
    case .priority: node.priority.map { .leaf($0) } ?? .missing
    case .key: .missing
    case .value: IndexValue(node)
    case .child(let path): IndexValue(node[path])
    }
  }

  /// The position of a child in this order.
  package func entry(_ key: ChildKey, _ node: Node) -> IndexEntry {
    IndexEntry(value: value(of: node), key: key)
  }
}

/// A value as indexes order it: missing, then leaves in their order, then objects, which all tie.
package enum IndexValue: Hashable, Sendable, Comparable {
  /// Nothing there.
  case missing
  /// A leaf.
  case leaf(LeafValue)
  /// Children.
  case object

  /// The index value of a node.
  package init(_ node: Node) {
    switch node {
    case .empty: self = .missing
    case .leaf(let value, _): self = .leaf(value)
    case .children: self = .object
    }
  }

  package static func < (left: IndexValue, right: IndexValue) -> Bool {
    switch (left, right) {
    case (.leaf(let left), .leaf(let right)): left < right
    case (.missing, .missing), (.object, .object): false
    case (.missing, _), (.leaf, .object): true
    case (.leaf, .missing), (.object, _): false
    }
  }
}

/// The position of a child in an order: its index value, then its key.
package struct IndexEntry: Hashable, Sendable, Comparable {
  /// What the child is ordered by.
  package let value: IndexValue
  /// The key, which breaks ties.
  package let key: ChildKey

  /// Makes a position.
  package init(value: IndexValue, key: ChildKey) {
    self.value = value
    self.key = key
  }

  package static func < (left: IndexEntry, right: IndexEntry) -> Bool {
    // Children are mostly ordered by whole numbers, which need no look at the kinds of two values.
    if case .leaf(.integer(let leftNumber)) = left.value,
      case .leaf(.integer(let rightNumber)) = right.value
    {
      return leftNumber == rightNumber ? left.key < right.key : leftNumber < rightNumber
    }
    if left.value < right.value { return true }
    if right.value < left.value { return false }
    return left.key < right.key
  }
}
