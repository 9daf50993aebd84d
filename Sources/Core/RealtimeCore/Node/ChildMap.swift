/// Children by key: a sorted map, or the bytes of a few small ones.
package struct ChildMap: Sendable {
  fileprivate enum Storage: Sendable {
    case tree(SortedMap<ChildKey, Node>)
    case packed(PackedChildren)
  }

  private var storage: Storage

  /// Takes over children that are packed.
  init(_ packed: PackedChildren) {
    storage = .packed(packed)
  }

  /// Makes a map of keys that are in ascending order, and their nodes, none of which is empty.
  ///
  /// - Complexity: O(n)
  init(sortedKeys keys: [ChildKey], nodes: [Node]) {
    if let packed = PackedChildren(keys: keys, nodes: nodes) {
      storage = .packed(packed)
    } else {
      storage = .tree(SortedMap(sortedKeys: keys, values: nodes))
    }
  }

  /// Makes a map of children in ascending order of their keys, none of which is empty.
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

  /// The packed children, or nil when they are not packed.
  var packed: PackedChildren? {
    if case .packed(let packed) = storage { packed } else { nil }
  }

  /// The children as a sorted map.
  ///
  /// - Complexity: O(size) where they are packed
  private var tree: SortedMap<ChildKey, Node> {
    switch storage {
    case .tree(let map): map
    case .packed(let packed): SortedMap(sorted: packed.entries)
    }
  }

  /// The number of children.
  package var count: Int {
    switch storage {
    case .tree(let map): map.count
    case .packed(let packed): packed.count
    }
  }

  /// Whether there is no child.
  package var isEmpty: Bool { count == 0 }

  /// The child of a key, or nil.
  ///
  /// - Complexity: O(log n)
  package subscript(key: ChildKey) -> Node? {
    switch storage {
    case .tree(let map): map[key]
    case .packed(let packed): packed[key]
    }
  }

  /// Where the child of a key is, to be used while somebody holds the map; nil when it is packed.
  ///
  /// - Complexity: O(log n)
  func place(of key: ChildKey) -> UnsafePointer<Node>? {
    switch storage {
    case .tree(let map): map.place(of: key)
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

  /// Sets a child that is not empty, and returns the one that it replaces unless that was packed.
  ///
  /// - Complexity: O(log n)
  @discardableResult
  mutating func set(_ key: ChildKey, to node: Node) -> Node? {
    switch storage {
    case .tree(var map):
      // Given up first, so that the map is referenced once and changes in place.
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

  /// Removes a child, if it is there, and returns it unless it was packed.
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

  /// Changes a present child, in place where it lies in a sorted map; the result may be empty.
  ///
  /// Returns nil, without calling the closure, when the key is missing.
  ///
  /// - Complexity: O(log n)
  mutating func modify<Result>(
    _ key: ChildKey,
    _ body: (inout Node) -> Result
  ) -> Result? {
    switch storage {
    case .tree(var map):
      storage = .tree(SortedMap())
      let result = map.modify(key) { node in (body(&node), node.isEmpty) }
      if result?.1 == true { map.removeValue(forKey: key) }
      storage = .tree(map)
      return result?.0
    case .packed(let packed):
      guard var node = packed[key] else { return nil }
      let result = body(&node)
      if node.isEmpty { remove(key) } else { set(key, to: node) }
      return result
    }
  }

  // MARK: Order

  /// The children in descending order.
  package var descending: SortedMap<ChildKey, Node>.Entries { tree.descending }

  /// The children in ascending order from the first key that is not "before".
  ///
  /// - Parameter isBefore: True for a prefix of the keys, false for all after it.
  /// - Returns: The rest of the children in ascending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each child.
  package func ascending(
    after isBefore: (ChildKey) -> Bool
  ) -> SortedMap<ChildKey, Node>.Entries {
    tree.ascending(after: isBefore)
  }

  /// The children in descending order from the last key that is "within".
  ///
  /// - Parameter isWithin: True for a prefix of the keys, false for all after it.
  /// - Returns: The start of the children in descending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each child.
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
  /// Walks children in ascending order of their keys.
  package struct Iterator: IteratorProtocol {
    private var tree: SortedMap<ChildKey, Node>.Iterator?
    private var packed: PackedChildren?
    /// Where the next of the packed children is.
    private var position = 1

    fileprivate init(_ storage: Storage) {
      switch storage {
      case .tree(let map): tree = map.makeIterator()
      case .packed(let packed): self.packed = packed
      }
    }

    /// Gives the next child, or nil at the end.
    package mutating func next() -> (key: ChildKey, value: Node)? {
      guard let packed, position < packed.bytes.count else { return tree?.next() }
      let entry = packed.bytes.withUnsafeBytes { source in
        let entry = PackedEntry(source, at: position)
        return (key: entry.childKey, value: entry.node, end: entry.end)
      }
      position = entry.end
      return (entry.key, entry.value)
    }
  }

  /// Starts at the lowest key.
  package func makeIterator() -> Iterator { Iterator(storage) }

  /// The number of children, which is exact.
  package var underestimatedCount: Int { count }
}

extension ChildMap: Equatable {
  /// Whether two maps share all that they have, or are small and equal.
  ///
  /// - Complexity: O(1)
  func isSame(as other: ChildMap) -> Bool {
    switch (storage, other.storage) {
    case (.tree(let left), .tree(let right)): left.isSame(as: right)
    case (.packed(let left), .packed(let right)): left == right
    case (.tree, .packed), (.packed, .tree): false
    }
  }

  /// Compares child by child; maps that share their structure are told equal at once.
  ///
  /// - Complexity: O(size)
  package static func == (left: ChildMap, right: ChildMap) -> Bool {
    switch (left.storage, right.storage) {
    case (.tree(let left), .tree(let right)): left == right
    case (.packed(let left), .packed(let right)): left == right
    case (.tree, .packed), (.packed, .tree):
      left.count == right.count && zip(left, right).allSatisfy { $0 == $1 }
    }
  }
}
