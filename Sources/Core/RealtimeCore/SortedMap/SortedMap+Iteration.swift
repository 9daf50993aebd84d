extension SortedMap: Sequence {
  /// Walks a map in ascending or descending order of its keys.
  ///
  /// State: `node` and `index` are the next entry, or `node` is nil at the end; `parents` are the
  /// nodes above, each with the position of the entry that comes when the nodes below it are done.
  public struct Iterator: IteratorProtocol {
    @usableFromInline var node: SortedMapNode<Key, Value>?
    @usableFromInline var index = 0
    @usableFromInline var parents: [(node: SortedMapNode<Key, Value>, index: Int)] = []
    @usableFromInline let isForward: Bool

    /// Starts at the first key for which the predicate (true for a prefix of the keys) is false.
    @inlinable init(forward root: SortedMapNode<Key, Value>?, isBefore: (Key) -> Bool) {
      isForward = true
      guard var current = root else { return }
      while true {
        index = current.partition(isBefore)
        if current.isLeaf { break }
        if index < current.keys.count { parents.append((current, index)) }
        current = current.children[index]
      }
      node = current
      if index == current.keys.count { ascend() }
    }

    /// Starts at the last key for which the predicate (true for a prefix of the keys) is true.
    @inlinable init(backward root: SortedMapNode<Key, Value>?, isWithin: (Key) -> Bool) {
      isForward = false
      guard var current = root else { return }
      while true {
        index = current.partition(isWithin) - 1
        if current.isLeaf { break }
        if index >= 0 { parents.append((current, index)) }
        current = current.children[index + 1]
      }
      node = current
      if index < 0 { ascend() }
    }

    /// Gives the next entry, or nil at the end.
    @inlinable public mutating func next() -> (key: Key, value: Value)? {
      guard let here = node else { return nil }
      let entry = (key: here.keys[index], value: here.values[index])
      if isForward {
        if !here.isLeaf {
          if index + 1 < here.keys.count { parents.append((here, index + 1)) }
          descendToFirst(here.children[index + 1])
        } else if index + 1 < here.keys.count {
          index += 1
        } else {
          ascend()
        }
      } else {
        if !here.isLeaf {
          if index > 0 { parents.append((here, index - 1)) }
          descendToLast(here.children[index])
        } else if index > 0 {
          index -= 1
        } else {
          ascend()
        }
      }
      return entry
    }

    /// Goes on with the node above whose turn it is, or to the end.
    @inlinable mutating func ascend() {
      let parent = parents.popLast()
      node = parent?.node
      index = parent?.index ?? 0
    }

    @inlinable mutating func descendToFirst(_ start: SortedMapNode<Key, Value>) {
      var current = start
      while let child = current.children.first {
        parents.append((current, 0))
        current = child
      }
      node = current
      index = 0
    }

    @inlinable mutating func descendToLast(_ start: SortedMapNode<Key, Value>) {
      var current = start
      while let child = current.children.last {
        parents.append((current, current.keys.count - 1))
        current = child
      }
      node = current
      index = current.keys.count - 1
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
