/// Children by key: a sorted map, or packed bytes if they are few and small.
package struct ChildMap: Sendable {
  fileprivate enum Storage: Sendable {
    case tree(SortedMap<ChildKey, Node>)
    case packed(PackedChildren)
  }

  private var storage: Storage

  init(_ packed: PackedChildren) {
    storage = .packed(packed)
  }

  /// Makes a map from ascending keys and their nodes, none of which may be empty.
  ///
  /// - Complexity: O(n)
  init(sortedKeys keys: [ChildKey], nodes: [Node]) {
    if let packed = PackedChildren(keys: keys, nodes: nodes) {
      storage = .packed(packed)
    } else {
      storage = .tree(SortedMap(sortedKeys: keys, values: nodes))
    }
  }

  /// Makes a map from children in ascending key order, none of which may be empty.
  ///
  /// - Complexity: O(n)
  init(sorted entries: [(key: ChildKey, value: Node)]) {
    if entries.count <= PackedChildren.mostCount,
      let packed = PackedChildren(
        keys: entries.lazy.map(\.key),
        nodes: entries.lazy.map(\.value)
      )
    {
      storage = .packed(packed)
    } else {
      storage = .tree(SortedMap(sorted: entries))
    }
  }

  var isPacked: Bool {
    if case .packed = storage { true } else { false }
  }

  /// The packed form, or nil if the children are in a sorted map.
  var packed: PackedChildren? {
    if case .packed(let packed) = storage { packed } else { nil }
  }

  /// The children as a sorted map.
  ///
  /// - Complexity: O(size) if they are packed
  private var tree: SortedMap<ChildKey, Node> {
    switch storage {
    case .tree(let map): map
    case .packed(let packed): SortedMap(sorted: packed.entries)
    }
  }

  package var count: Int {
    switch storage {
    case .tree(let map): map.count
    case .packed(let packed): packed.count
    }
  }

  /// The child with the given key, or nil.
  ///
  /// - Complexity: O(log n)
  package subscript(key: ChildKey) -> Node? {
    switch storage {
    case .tree(let map): map[key]
    case .packed(let packed): packed[key]
    }
  }

  /// The root of the sorted map, valid while the map is retained; nil if the children are packed.
  var root: Unmanaged<SortedMapNode<ChildKey, Node>>? {
    switch storage {
    case .tree(let map): map.root.map { Unmanaged.passUnretained($0) }
    case .packed: nil
    }
  }

  /// The child with the lowest key.
  ///
  /// - Complexity: O(log n)
  package var first: (key: ChildKey, value: Node)? {
    switch storage {
    case .tree(let map): map.first
    case .packed(let packed): packed.entries.first
    }
  }

  /// The child with the highest key.
  ///
  /// - Complexity: O(log n)
  package var last: (key: ChildKey, value: Node)? {
    switch storage {
    case .tree(let map): map.last
    case .packed(let packed): packed.entries.last
    }
  }

  // MARK: Changing

  /// Sets a child, which must not be empty; returns the child it replaces unless that was packed.
  ///
  /// - Complexity: O(log n)
  @discardableResult
  mutating func set(_ key: ChildKey, to node: Node) -> Node? {
    switch storage {
    case .tree(var map):
      // Clearing the storage first leaves the map uniquely referenced, so that it changes in place.
      storage = .tree(SortedMap())
      let old = map.updateValue(node, forKey: key)
      storage = .tree(map)
      return old
    case .packed(let packed):
      if let changed = packed.setting(key, to: node) {
        storage = .packed(changed)
      } else {
        var map = tree
        map.updateValue(node, forKey: key)
        storage = .tree(map)
      }
      return nil
    }
  }

  /// Removes a child if it is present, and returns it unless it was packed.
  ///
  /// - Complexity: O(log n)
  @discardableResult
  mutating func remove(_ key: ChildKey) -> Node? {
    switch storage {
    case .tree(var map):
      storage = .tree(SortedMap())
      let old = map.removeValue(forKey: key)
      storage = .tree(map)
      return old
    case .packed(let packed):
      storage = .packed(packed.removing(key))
      return nil
    }
  }

  /// Changes a child, in place if the map is sorted; a child that becomes empty is removed.
  ///
  /// Returns nil, without calling the closure, when the key is missing.
  ///
  /// - Complexity: O(log n)
  mutating func modify<Result>(
    _ key: ChildKey,
    with body: (inout Node) -> Result
  ) -> Result? {
    switch storage {
    case .tree(var map):
      storage = .tree(SortedMap())
      var isEmpty = false
      let result = map.modify(key) { node in
        defer { isEmpty = node.isEmpty }
        return body(&node)
      }
      if isEmpty { map.removeValue(forKey: key) }
      storage = .tree(map)
      return result
    case .packed(let packed):
      guard var node = packed[key] else { return nil }
      let result = body(&node)
      if node.isEmpty { remove(key) } else { set(key, to: node) }
      return result
    }
  }

  /// Exchanges a child and a node, which must not be empty; afterwards it may be.
  ///
  /// - Complexity: O(log n)
  mutating func exchange(_ node: inout Node, at key: ChildKey) {
    switch storage {
    case .tree(var map):
      storage = .tree(SortedMap())
      if !map.exchange(&node, forKey: key) {
        map.updateValue(node, forKey: key)
        node = .empty
      }
      storage = .tree(map)
    case .packed(let packed):
      let old = packed[key] ?? .empty
      set(key, to: node)
      node = old
    }
  }

  /// Exchanges the data below a child, as ``Node/exchange(_:at:)`` does.
  ///
  /// - Complexity: O(depth · log n)
  mutating func exchange(
    _ node: inout Node,
    below key: ChildKey,
    at path: ArraySlice<ChildKey>
  ) -> Bool {
    switch storage {
    case .tree(var map):
      storage = .tree(SortedMap())
      let isExchanged = map.modify(key) { $0.exchange(&node, at: path) }
      storage = .tree(map)
      return isExchanged ?? false
    case .packed(let packed):
      guard var child = packed[key], child.exchange(&node, at: path) else { return false }
      set(key, to: child)
      return true
    }
  }

  // MARK: Order

  /// The children in ascending order from the first key that is not "before".
  ///
  /// - Parameter isBefore: Returns true for a prefix of the keys, and false for all keys after it.
  /// - Returns: The children after the prefix, in ascending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each child
  package func ascending(
    after isBefore: (ChildKey) -> Bool
  ) -> SortedMap<ChildKey, Node>.Entries {
    tree.ascending(after: isBefore)
  }

  /// The children in descending order from the last key that is "within".
  ///
  /// - Parameter isWithin: Returns true for a prefix of the keys, and false for all keys after it.
  /// - Returns: The children in the prefix, in descending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each child
  package func descending(
    within isWithin: (ChildKey) -> Bool
  ) -> SortedMap<ChildKey, Node>.Entries {
    tree.descending(within: isWithin)
  }

  /// The child before a key, whether or not the key itself is present.
  ///
  /// - Complexity: O(log n)
  package func entry(before key: ChildKey) -> (key: ChildKey, value: Node)? {
    tree.entry(before: key)
  }
}

extension ChildMap: Sequence {
  package struct Iterator: IteratorProtocol {
    private var tree: SortedMap<ChildKey, Node>.Iterator?
    private var packed: PackedChildren?
    /// The offset of the next packed child.
    private var offset = 1

    fileprivate init(_ storage: Storage) {
      switch storage {
      case .tree(let map): tree = map.makeIterator()
      case .packed(let packed): self.packed = packed
      }
    }

    package mutating func next() -> (key: ChildKey, value: Node)? {
      guard let packed, offset < packed.bytes.count else { return tree?.next() }
      let entry = packed.bytes.withUnsafeBytes { source in
        let entry = PackedEntry(source, at: offset)
        return (key: entry.childKey, value: entry.node, end: entry.end)
      }
      offset = entry.end
      return (entry.key, entry.value)
    }
  }

  package func makeIterator() -> Iterator { Iterator(storage) }

  /// The exact number of children.
  package var underestimatedCount: Int { count }
}

extension ChildMap: Equatable {
  /// Whether both share the same storage, or both are packed and equal.
  ///
  /// - Complexity: O(1), because packed children are limited in size
  func isSame(as other: ChildMap) -> Bool {
    switch storage {
    case .tree(let map):
      if case .tree(let others) = other.storage { map.isSame(as: others) } else { false }
    case .packed(let packed):
      if case .packed(let others) = other.storage { packed == others } else { false }
    }
  }

  /// Compares child by child; takes constant time if both share the same storage.
  ///
  /// - Complexity: O(size)
  package static func == (left: ChildMap, right: ChildMap) -> Bool {
    switch left.storage {
    case .tree(let map):
      if case .tree(let others) = right.storage { return map == others }
    case .packed(let packed):
      if case .packed(let others) = right.storage { return packed == others }
    }
    return left.count == right.count && zip(left, right).allSatisfy { $0 == $1 }
  }
}
