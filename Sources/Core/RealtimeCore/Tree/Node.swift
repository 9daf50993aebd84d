/// The data at a location: nothing, a leaf, or children; a leaf or children may have a priority.
///
/// Nodes are persistent values: copies share structure, and an update copies only the nodes on its
/// path.
package enum Node: Sendable {
  case empty
  case leaf(LeafValue, priority: Priority?)
  case children(NodeChildren)

  package static func leaf(_ value: LeafValue) -> Node { .leaf(value, priority: nil) }
  package static func string(_ value: String) -> Node { .leaf(.string(value), priority: nil) }
  package static func integer(_ value: Int64) -> Node { .leaf(.integer(value), priority: nil) }
  package static func bool(_ value: Bool) -> Node { .leaf(.bool(value), priority: nil) }

  /// Makes a node from children in ascending key order; empty ones are left out.
  ///
  /// - Complexity: O(n)
  package init(sortedChildren entries: [(key: ChildKey, value: Node)], priority: LeafValue? = nil) {
    let hasEmpty = entries.contains { $0.value.isEmpty }
    let present = hasEmpty ? entries.filter { !$0.value.isEmpty } : entries
    self =
      present.isEmpty
      ? .empty : .children(NodeChildren(sorted: present, priority: Priority(priority)))
  }

  package var isEmpty: Bool {
    if case .empty = self { true } else { false }
  }

  package var leafValue: LeafValue? {
    if case .leaf(let value, _) = self { value } else { nil }
  }

  package var children: NodeChildren? {
    if case .children(let children) = self { children } else { nil }
  }

  /// Whether there are children that are not packed, because they are many or large.
  package var hasUnpackedChildren: Bool {
    if case .children(let children) = self { !children.isPacked } else { false }
  }

  package var childCount: Int { children?.count ?? 0 }

  package var priority: LeafValue? {
    switch self {
    case .empty: nil
    case .leaf(_, let priority): priority?.value
    case .children(let children): children.priority?.value
    }
  }

  var hasPriority: Bool {
    switch self {
    case .empty: false
    case .leaf(_, let priority): priority != nil
    case .children(let children): children.priority != nil
    }
  }

  /// The child with the given key, empty if absent; `.priority` gives the priority as a leaf.
  ///
  /// - Complexity: O(log children)
  package subscript(key: ChildKey) -> Node {
    if key.isPriority { return priority.map { .leaf($0) } ?? .empty }
    return children?.map[key] ?? .empty
  }

  /// The node at a path below this one, empty when there is none.
  ///
  /// - Complexity: O(depth · log children)
  package subscript(path: Path) -> Node {
    guard let last = path.keys.last else { return self }
    if last.isPriority {
      let node = self[Path(path.keys.dropLast())]
      return node.priority.map { .leaf($0) } ?? .empty
    }
    // Only the node at the end is copied. A priority has no children, and no child has its key.
    return withView { $0.descendant(at: path).node }
  }

  /// Whether the data at a path below this node equals other data; nothing is copied.
  ///
  /// - Complexity: O(depth · log children + size), as for `==`
  package func has(_ node: Node, at path: Path) -> Bool {
    if path.isPriority { return self[path] == node }
    return withView { $0.descendant(at: path).isSame(as: node) }
  }

  /// Visits the children of this node and of another one together, in key order; a child that one
  /// of the two lacks is empty there.
  ///
  /// - Complexity: O(children of both)
  package func forEachChild(beside other: Node, _ body: (ChildKey, Node, Node) -> Void) {
    var own = children?.map.makeIterator()
    var others = other.children?.map.makeIterator()
    var next = others?.next()
    while let (key, child) = own?.next() {
      while let lacking = next, lacking.key < key {
        body(lacking.key, .empty, lacking.value)
        next = others?.next()
      }
      if let same = next, same.key == key {
        body(key, child, same.value)
        next = others?.next()
      } else {
        body(key, child, .empty)
      }
    }
    while let lacking = next {
      body(lacking.key, .empty, lacking.value)
      next = others?.next()
    }
  }

  package func hasChild(_ key: ChildKey) -> Bool { !self[key].isEmpty }
}

/// A priority: a number, text or a deferred timestamp; null means none.
package final class Priority: Sendable {
  /// The value by which siblings are ordered.
  package let value: LeafValue

  package init(_ value: LeafValue) {
    self.value = value
  }

  package convenience init?(_ value: LeafValue?) {
    guard let value else { return nil }
    self.init(value)
  }
}

/// The children of a node, and the priority of the node itself.
package struct NodeChildren: Sendable {
  /// The children in key order; never empty, and no child is empty.
  package private(set) var map: ChildMap
  package var priority: Priority?
  /// The number of children with a priority; if it is zero, priority order is key order.
  package private(set) var prioritizedCount: Int

  package var count: Int { map.count }

  /// Whether the children are stored as packed bytes, because they are few and small.
  package var isPacked: Bool { priority == nil && map.isPacked }

  /// The number of bytes that packed children take; nil when they are not packed.
  package var packedBytes: Int? { packed?.bytes.count }

  /// The packed form of children and priority, or nil if there is none.
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

  init(_ key: ChildKey, node: Node, priority: Priority?) {
    self.init(sortedKeys: [key], nodes: [node], priority: priority)
  }

  /// Wraps packed children, none of which has a priority.
  init(_ packed: PackedChildren) {
    map = ChildMap(packed)
    prioritizedCount = 0
  }

  /// Sets a child; an empty node removes it, which may leave no children.
  mutating func set(_ key: ChildKey, to node: Node) {
    // A packed child has no priority, so it does not matter that it is not returned.
    let old = node.isEmpty ? map.remove(key) : map.set(key, to: node)
    if old?.hasPriority == true { prioritizedCount -= 1 }
    if node.hasPriority { prioritizedCount += 1 }
  }

  /// Exchanges a child and a node, which must not be empty; afterwards it may be.
  mutating func exchange(_ node: inout Node, at key: ChildKey) {
    let isPrioritized = node.hasPriority
    map.exchange(&node, at: key)
    if isPrioritized != node.hasPriority { prioritizedCount += isPrioritized ? 1 : -1 }
  }

  /// Exchanges the data below a child in place; false where ``Node/exchange(_:at:)`` does nothing.
  mutating func exchange(
    _ node: inout Node,
    below key: ChildKey,
    at path: ArraySlice<ChildKey>
  ) -> Bool {
    // A child keeps its priority when data below it are exchanged.
    map.exchange(&node, below: key, at: path)
  }

  /// Updates the data below a child in place.
  mutating func update(_ key: ChildKey, at path: ArraySlice<ChildKey>, to node: Node) {
    let change = map.modify(key) { child -> (before: Bool, after: Bool) in
      let before = child.hasPriority
      child.update(at: path, to: node)
      return (before, child.hasPriority)
    }
    guard let change else {
      var child = Node.empty
      child.update(at: path, to: node)
      if !child.isEmpty { set(key, to: child) }
      return
    }
    prioritizedCount += (change.after ? 1 : 0) - (change.before ? 1 : 0)
  }
}

extension Node: Equatable {
  /// Whether two nodes with children share the same storage; equal nodes need not share it.
  ///
  /// - Complexity: O(1)
  package func isSame(as other: Node) -> Bool {
    guard let left = children, let right = other.children else { return false }
    return left.priority === right.priority && left.map.isSame(as: right.map)
  }

  /// Compares values and priorities recursively.
  ///
  /// - Complexity: O(size), less where the two nodes share structure
  package static func == (left: Node, right: Node) -> Bool {
    // The two are matched one after the other, because matching a pair would first copy both.
    switch left {
    case .empty: return right.isEmpty
    case .leaf(let value, let priority):
      guard case .leaf(let other, let otherPriority) = right else { return false }
      return value == other && priority?.value == otherPriority?.value
    case .children(let children):
      guard case .children(let others) = right else { return false }
      return children.priority?.value == others.priority?.value && children.map == others.map
    }
  }
}

extension Node {
  /// The node with another priority; an empty node stays empty.
  package func withPriority(_ priority: LeafValue?) -> Node {
    switch self {
    case .empty: return .empty
    case .leaf(let value, _): return .leaf(value, priority: Priority(priority))
    case .children(var children):
      children.priority = Priority(priority)
      return .children(children)
    }
  }

  /// The node with a child set; an empty node removes the child.
  ///
  /// Setting a child on a leaf replaces the value and keeps the priority. Removing the last child
  /// leaves an empty node, without the priority.
  ///
  /// - Complexity: O(log children)
  package func setting(_ key: ChildKey, to node: Node) -> Node { setting(Path([key]), to: node) }

  /// The node with the data at a path replaced; a path that ends in `.priority` sets a priority.
  ///
  /// - Complexity: O(depth · log children)
  package func setting(_ path: Path, to node: Node) -> Node {
    var copy = self
    copy.update(at: path, to: node)
    return copy
  }

  /// Exchanges data in one descent, in place where it is not shared.
  ///
  /// - Parameters:
  ///   - node: The new data; afterwards the old data, empty if there was none.
  ///   - path: The path of the data.
  /// - Returns: Whether the data was exchanged. Nothing is changed if that would not be enough: the
  ///   new data is empty, a node above the path is missing or a leaf, or the path is empty or the
  ///   path of a priority.
  /// - Complexity: O(depth · log children)
  package mutating func exchange(_ node: inout Node, at path: Path) -> Bool {
    !node.isEmpty && !path.isPriority && exchange(&node, at: path.keys[...])
  }

  mutating func exchange(_ node: inout Node, at path: ArraySlice<ChildKey>) -> Bool {
    guard let key = path.first, case .children(var children) = self else { return false }
    // Cleared first, for the same reason as in `update`.
    self = .empty
    defer { self = .children(children) }
    if path.count > 1 { return children.exchange(&node, below: key, at: path.dropFirst()) }
    children.exchange(&node, at: key)
    return true
  }

  /// Replaces the data at a path, in place if it is not shared.
  ///
  /// - Complexity: O(depth · log children)
  package mutating func update(at path: Path, to node: Node) {
    update(at: path.keys[...], to: node)
  }

  /// Replaces the data at the remaining keys of a path.
  mutating func update(at path: ArraySlice<ChildKey>, to node: Node) {
    guard let key = path.first else {
      self = node
      return
    }
    if key.isPriority {
      self = withPriority(node.leafValue)
      return
    }
    switch self {
    case .empty, .leaf:
      let priority: Priority? = if case .leaf(_, let priority) = self { priority } else { nil }
      var child = Node.empty
      child.update(at: path.dropFirst(), to: node)
      if !child.isEmpty { self = .children(NodeChildren(key, node: child, priority: priority)) }
    case .children(var children):
      // Clearing it first leaves the map uniquely referenced, so that it changes in place.
      self = .empty
      if path.count == 1 {
        children.set(key, to: node)
      } else {
        children.update(key, at: path.dropFirst(), to: node)
      }
      if children.count > 0 { self = .children(children) }
    }
  }
}
