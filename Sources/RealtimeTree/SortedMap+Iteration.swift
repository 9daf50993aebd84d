extension SortedMap: Sequence {
  /// Walks a map in ascending or descending order of its keys.
  public struct Iterator: IteratorProtocol {
    /// The node that the next entry is in, and its position; nil at the end.
    @usableFromInline var node: SortedMapNode<Key, Value>?
    @usableFromInline var index = 0
    /// The nodes above that have entries left, each with the position of its next one.
    @usableFromInline var above: [(node: SortedMapNode<Key, Value>, index: Int)] = []
    @usableFromInline let isForward: Bool

    /// Starts at the first key for which the predicate (true for a prefix of the keys) is false.
    @inlinable init(forward root: SortedMapNode<Key, Value>?, isBefore: (Key) -> Bool) {
      isForward = true
      var current = root
      while let node = current {
        let index = node.partition(isBefore)
        if index < node.keys.count { push(node, index) }
        current = node.isLeaf ? nil : node.children[index]
      }
    }

    /// Starts at the last key for which the predicate (true for a prefix of the keys) is true.
    @inlinable init(backward root: SortedMapNode<Key, Value>?, isWithin: (Key) -> Bool) {
      isForward = false
      var current = root
      while let node = current {
        let index = node.partition(isWithin)
        if index > 0 { push(node, index - 1) }
        current = node.isLeaf ? nil : node.children[index]
      }
    }

    /// Gives the next entry, or nil at the end.
    @inlinable public mutating func next() -> (key: Key, value: Value)? {
      guard let node else { return nil }
      let index = index
      let following = isForward ? index + 1 : index - 1
      if following >= 0, following < node.keys.count { self.index = following } else { pop() }
      if !node.isLeaf {
        if isForward { descendToFirst(node.children[index + 1]) }
        if !isForward { descendToLast(node.children[index]) }
      }
      return (node.keys[index], node.values[index])
    }

    @inlinable mutating func push(_ next: SortedMapNode<Key, Value>, _ position: Int) {
      if let node { above.append((node, index)) }
      node = next
      index = position
    }

    @inlinable mutating func pop() {
      let next = above.popLast()
      node = next?.node
      index = next?.index ?? 0
    }

    @inlinable mutating func descendToFirst(_ start: SortedMapNode<Key, Value>) {
      var node = start
      push(node, 0)
      while let child = node.children.first {
        node = child
        push(node, 0)
      }
    }

    @inlinable mutating func descendToLast(_ start: SortedMapNode<Key, Value>) {
      var node = start
      push(node, node.keys.count - 1)
      while let child = node.children.last {
        node = child
        push(node, node.keys.count - 1)
      }
    }
  }

  /// A walk over part of a map.
  public struct Entries: Sequence {
    @usableFromInline let iterator: Iterator

    @inlinable init(_ iterator: Iterator) {
      self.iterator = iterator
    }

    /// Starts the walk.
    @inlinable public func makeIterator() -> Iterator { iterator }
  }

  /// Starts at the lowest key.
  @inlinable public func makeIterator() -> Iterator {
    Iterator(forward: root) { _ in false }
  }

  /// The number of entries, which is exact.
  @inlinable public var underestimatedCount: Int { count }

  /// The entries in descending order.
  @inlinable public var descending: Entries {
    Entries(Iterator(backward: root) { _ in true })
  }

  /// The entries in ascending order from the first key that is not "before".
  ///
  /// - Parameter isBefore: True for a prefix of the keys, false for all after it.
  /// - Returns: The rest of the map in ascending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each entry.
  @inlinable public func ascending(after isBefore: (Key) -> Bool) -> Entries {
    Entries(Iterator(forward: root, isBefore: isBefore))
  }

  /// The entries in descending order from the last key that is "within".
  ///
  /// - Parameter isWithin: True for a prefix of the keys, false for all after it.
  /// - Returns: The start of the map in descending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each entry.
  @inlinable public func descending(within isWithin: (Key) -> Bool) -> Entries {
    Entries(Iterator(backward: root, isWithin: isWithin))
  }

  /// The entry before a key, whether or not the key itself is present.
  ///
  /// - Complexity: O(log n)
  @inlinable public func entry(before key: Key) -> (key: Key, value: Value)? {
    var iterator = Iterator(backward: root) { $0 < key }
    return iterator.next()
  }

  /// The entry after a key, whether or not the key itself is present.
  ///
  /// - Complexity: O(log n)
  @inlinable public func entry(after key: Key) -> (key: Key, value: Value)? {
    var iterator = Iterator(forward: root) { !(key < $0) }
    return iterator.next()
  }
}
