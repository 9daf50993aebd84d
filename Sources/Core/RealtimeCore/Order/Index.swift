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
    node.withView { value(of: $0) }
  }

  private func value(of node: NodeView) -> IndexValue {
    switch self {
    case .priority: node.priority.map { .leaf($0) } ?? .missing
    case .key: .missing
    case .value: IndexValue(node)
    case .child(let path):
      path.isPriority
        ? IndexValue(node.node[path]) : IndexValue(path.keys.reduce(node) { $0.child($1) })
    }
  }

  /// The position of a child in this order.
  package func entry(_ key: ChildKey, _ node: Node) -> IndexEntry {
    IndexEntry(value: value(of: node), key: key)
  }

  /// The position of the child of a key in this order, or nil when it is missing.
  func position(of key: ChildKey, in node: NodeView) -> IndexEntry? {
    let child = node.child(key)
    return child.isEmpty ? nil : IndexEntry(value: value(of: child), key: key)
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

  init(_ node: NodeView) {
    switch node.content {
    case .empty: self = .missing
    case .text(let text): self = .leaf(.string(text.string))
    case .leaf(let value): self = .leaf(value)
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
