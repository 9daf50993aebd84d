/// The data at a location: nothing, a leaf, or children; a leaf and children may carry a priority.
///
/// A value: copies share structure, and an update copies only the nodes on its path.
package enum Node: Sendable {
  /// No data.
  case empty
  /// A value without children.
  case leaf(LeafValue, priority: Priority?)
  /// At least one child.
  case children(NodeChildren)

  /// Makes a leaf without priority.
  package static func leaf(_ value: LeafValue) -> Node { .leaf(value, priority: nil) }
  /// Makes a leaf of text.
  package static func string(_ value: String) -> Node { .leaf(.string(value), priority: nil) }
  /// Makes a leaf of a whole number.
  package static func integer(_ value: Int64) -> Node { .leaf(.integer(value), priority: nil) }
  /// Makes a leaf of true or false.
  package static func bool(_ value: Bool) -> Node { .leaf(.bool(value), priority: nil) }

  /// Makes a node of children in ascending order of their keys, leaving out empty ones.
  ///
  /// - Complexity: O(n)
  package init(sortedChildren entries: [(key: ChildKey, value: Node)], priority: LeafValue? = nil) {
    let hasEmpty = entries.contains { $0.value.isEmpty }
    let present = hasEmpty ? entries.filter { !$0.value.isEmpty } : entries
    self =
      present.isEmpty
      ? .empty : .children(NodeChildren(sorted: present, priority: Priority(priority)))
  }

  /// Whether there is no data.
  package var isEmpty: Bool {
    if case .empty = self { true } else { false }
  }

  /// The value of a leaf, or nil.
  package var leafValue: LeafValue? {
    if case .leaf(let value, _) = self { value } else { nil }
  }

  /// The children, or nil when there are none.
  package var children: NodeChildren? {
    if case .children(let children) = self { children } else { nil }
  }

  /// The number of children.
  package var childCount: Int { children?.count ?? 0 }

  /// The priority, or nil.
  package var priority: LeafValue? {
    switch self {
    case .empty: nil
    case .leaf(_, let priority): priority?.value
    case .children(let children): children.priority?.value
    }
  }

  /// The child of a key, empty when there is none; the pseudo key gives the priority as a leaf.
  ///
  /// - Complexity: O(log children)
  package subscript(key: ChildKey) -> Node {
    if key == .priority { return priority.map { .leaf($0) } ?? .empty }
    return children?.map[key] ?? .empty
  }

  /// The node at a path below this one, empty when there is none.
  ///
  /// - Complexity: O(depth · log children)
  package subscript(path: Path) -> Node {
    var node = self
    for key in path.keys {
      node = node[key]
      if node.isEmpty { break }
    }
    return node
  }

  /// Whether a child is present.
  package func hasChild(_ key: ChildKey) -> Bool { !self[key].isEmpty }
}

/// A priority: null is no priority, so it holds a number or text (or a deferred timestamp).
package final class Priority: Sendable {
  /// The value children are ordered by.
  package let value: LeafValue

  /// Wraps a priority.
  package init(_ value: LeafValue) {
    self.value = value
  }

  /// Wraps a priority, or gives nil for none.
  package convenience init?(_ value: LeafValue?) {
    guard let value else { return nil }
    self.init(value)
  }
}

/// The children of a node by key, with the priority of the node.
package struct NodeChildren: Sendable {
  /// The children in key order; never empty, and no child is empty.
  package private(set) var map: ChildMap
  /// The priority of the node these are the children of.
  package var priority: Priority?
  /// How many children have a priority: with none, priority order is key order.
  package private(set) var prioritizedCount: Int

  /// The number of children.
  package var count: Int { map.count }

  /// Whether these are few and small, with all that is below them.
  package var isPacked: Bool { packed != nil }

  /// All that there is in a packed form, or nil when it has none.
  var packed: PackedChildren? { priority == nil ? map.packed : nil }

  init(sorted entries: [(key: ChildKey, value: Node)], priority: Priority?) {
    map = ChildMap(sorted: entries)
    self.priority = priority
    prioritizedCount = map.packed == nil ? entries.count { $0.value.priority != nil } : 0
  }

  init(sortedKeys keys: [ChildKey], nodes: [Node], priority: Priority?) {
    map = ChildMap(sortedKeys: keys, nodes: nodes)
    self.priority = priority
    prioritizedCount = map.packed == nil ? nodes.count { $0.priority != nil } : 0
  }

  init(_ key: ChildKey, _ node: Node, priority: Priority?) {
    self.init(sortedKeys: [key], nodes: [node], priority: priority)
  }

  /// Takes over children that are packed, of which none has a priority.
  init(_ packed: PackedChildren) {
    map = ChildMap(packed)
    prioritizedCount = 0
  }

  /// Sets a child, or removes it by an empty node, which may leave no children.
  mutating func set(_ key: ChildKey, _ node: Node) {
    // What is packed has no priority.
    let old = node.isEmpty ? map.remove(key) : map.set(key, to: node)
    if old?.priority != nil { prioritizedCount -= 1 }
    if node.priority != nil { prioritizedCount += 1 }
  }

  /// Updates the data below a child in place.
  mutating func update(_ key: ChildKey, at path: ArraySlice<ChildKey>, to node: Node) {
    let change = map.modify(key) { child -> (before: Bool, after: Bool) in
      let before = child.priority != nil
      child.update(at: path, to: node)
      return (before, child.priority != nil)
    }
    guard let change else {
      var child = Node.empty
      child.update(at: path, to: node)
      if !child.isEmpty { set(key, child) }
      return
    }
    prioritizedCount += (change.after ? 1 : 0) - (change.before ? 1 : 0)
  }
}

extension Node: Equatable {
  /// Whether two nodes with children share all that they have; equal nodes need not.
  ///
  /// - Complexity: O(1)
  package func isSame(as other: Node) -> Bool {
    guard let left = children, let right = other.children else { return false }
    return left.priority === right.priority && left.map.isSame(as: right.map)
  }

  /// Compares values and priorities, all the way down.
  ///
  /// - Complexity: O(size), less where the two share structure.
  package static func == (left: Node, right: Node) -> Bool {
    switch (left, right) {
    case (.empty, .empty): true
    case (.leaf(let left, let leftPriority), .leaf(let right, let rightPriority)):
      left == right && leftPriority?.value == rightPriority?.value
    case (.children(let left), .children(let right)):
      left.priority?.value == right.priority?.value && left.map == right.map
    case (.empty, _), (.leaf, _), (.children, _): false
    }
  }
}
