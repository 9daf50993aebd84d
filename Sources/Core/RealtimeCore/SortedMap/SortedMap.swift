/// A persistent ordered map: copies share structure, and a change copies only the path it touches.
///
/// It is a B-tree with up to 15 entries in each node. Nodes that no other map shares are changed in
/// place, so a sole owner never pays for copies, and keeping an old version costs only a few nodes.
///
/// It is public, although no product exposes it, because the compiler specialises inlinable code
/// across modules only if it is public (with `package`, an update of 500 paths took 1.7 times the
/// instructions).
///
/// The algorithm is that of the B-tree chapter in Cormen et al., with proactive splits and merges.
public struct SortedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var root: SortedMapNode<Key, Value>?

  /// Makes an empty map.
  @inlinable public init() {}

  /// Makes a map from entries that are already in ascending order without duplicates.
  ///
  /// It is a programmer error to pass entries out of order.
  ///
  /// - Complexity: O(n)
  @inlinable public init(sorted entries: [(key: Key, value: Value)]) {
    assert(zip(entries, entries.dropFirst()).allSatisfy { $0.key < $1.key }, "entries out of order")
    root = SortedMapNode.build(entries[...])
  }

  /// Makes a map from ascending keys without duplicates, and their values.
  ///
  /// It is a programmer error to pass keys out of order, or a different number of values.
  ///
  /// - Complexity: O(n); a small map uses the arrays as they are
  @inlinable init(sortedKeys keys: [Key], values: [Value]) {
    assert(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "keys out of order")
    assert(keys.count == values.count, "every key has a value")
    if keys.count > SortedMapNode<Key, Value>.maximumCount {
      root = SortedMapNode.build(Array(zip(keys, values).map { (key: $0, value: $1) })[...])
    } else if !keys.isEmpty {
      root = SortedMapNode(keys: keys, values: values, children: [])
    }
  }

  /// The number of entries.
  @inlinable public var count: Int { root?.count ?? 0 }

  /// Whether there are no entries.
  @inlinable public var isEmpty: Bool { root == nil }

  /// The value for a key; setting nil removes the entry.
  ///
  /// - Complexity: O(log n)
  @inlinable public subscript(key: Key) -> Value? {
    get { root?.value(for: key) }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// The entry with the lowest key.
  ///
  /// - Complexity: O(log n)
  @inlinable public var first: (key: Key, value: Value)? {
    guard var node = root else { return nil }
    while let child = node.children.first { node = child }
    return (node.keys[0], node.values[0])
  }

  /// The entry with the highest key.
  ///
  /// - Complexity: O(log n)
  @inlinable public var last: (key: Key, value: Value)? {
    guard var node = root else { return nil }
    while let child = node.children.last { node = child }
    let index = node.keys.count - 1
    return (node.keys[index], node.values[index])
  }

  /// All keys in ascending order, if they are few; nil otherwise.
  ///
  /// - Complexity: O(1)
  @inlinable public var fewKeys: [Key]? {
    guard let root else { return [] }
    return root.isLeaf ? root.keys : nil
  }

  /// The keys that satisfy a predicate, in ascending order.
  ///
  /// - Complexity: O(n)
  @inlinable public func keys(where isWanted: (Key) -> Bool) -> [Key] {
    guard let root else { return [] }
    // Fast path: a small map is one node, whose keys are an array.
    if root.isLeaf { return root.keys.filter(isWanted) }
    return compactMap { isWanted($0.key) ? $0.key : nil }
  }

  /// Stores a value and returns the one it replaces.
  ///
  /// - Complexity: O(log n)
  @discardableResult
  @inlinable public mutating func updateValue(
    _ value: consuming Value,
    forKey key: Key
  ) -> Value? {
    // If the key is new, the insertion then finds the root unique and does not copy it again.
    makeRootUnique()
    if root?.exchange(&value, for: key) == true { return value }
    insert(value, forKey: key)
    return nil
  }

  /// Swaps the value for a key with another one; returns false if the key is missing.
  ///
  /// - Complexity: O(log n)
  @inlinable mutating func exchange(_ value: inout Value, forKey key: Key) -> Bool {
    makeRootUnique()
    return root?.exchange(&value, for: key) == true
  }

  /// Removes an entry and returns its value, or nil if there is none.
  ///
  /// - Complexity: O(log n)
  @discardableResult
  @inlinable public mutating func removeValue(forKey key: Key) -> Value? {
    guard let existing = self[key] else { return nil }
    remove(present: key)
    return existing
  }

  /// Removes an entry that is known to be present.
  ///
  /// - Complexity: O(log n)
  @inlinable mutating func remove(present key: Key) {
    makeRootUnique()
    guard let node = root else { return }
    node.remove(key)
    if node.keys.isEmpty { root = node.children.first }
  }

  /// Changes the value for a key in place; a value that is not shared is not copied.
  ///
  /// Returns nil, without calling the closure, when the key is missing.
  ///
  /// - Complexity: O(log n)
  @inlinable public mutating func modify<Result>(
    _ key: Key,
    with body: (inout Value) -> Result
  ) -> Result? {
    makeRootUnique()
    return root?.modify(key, with: body)
  }

  /// Inserts a value for a key that must be absent.
  ///
  /// - Complexity: O(log n)
  @inlinable public mutating func insert(_ value: Value, forKey key: Key) {
    guard root != nil else {
      root = SortedMapNode(keys: [key], values: [value], children: [])
      return
    }
    makeRootUnique()
    if let node = root, node.isFull {
      let top = SortedMapNode<Key, Value>(keys: [], values: [], children: [node])
      top.splitChild(0, for: key)
      root = top
    }
    root?.insert(value, for: key)
  }

  @inlinable mutating func makeRootUnique() {
    if root != nil, !isKnownUniquelyReferenced(&root) { root = root?.copy() }
  }
}

extension SortedMap: Equatable where Value: Equatable {
  /// Whether both maps share the same storage.
  ///
  /// - Complexity: O(1)
  func isSame(as other: Self) -> Bool { root === other.root }

  /// Compares entry by entry; takes constant time if both share the same storage.
  ///
  /// - Complexity: O(n)
  @inlinable public static func == (left: SortedMap, right: SortedMap) -> Bool {
    if left.root === right.root { return true }
    guard left.count == right.count else { return false }
    return zip(left, right).allSatisfy { $0.key == $1.key && $0.value == $1.value }
  }
}

extension SortedMap: Sequence {
  /// Iterates over a map in ascending or descending key order.
  ///
  /// State: `node` and `index` locate the next entry, and `node` is nil at the end. `parents` are
  /// the nodes above, each with the index of the entry that follows once the nodes below are done.
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

    /// Returns the next entry, or nil at the end.
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

    /// Continues with the nearest parent that has entries left, or ends the iteration.
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

  /// A sequence of some or all entries of a map.
  public typealias Entries = IteratorSequence<Iterator>

  /// Returns an iterator that starts at the lowest key.
  @inlinable public func makeIterator() -> Iterator {
    Iterator(forward: root) { _ in false }
  }

  /// The exact number of entries.
  @inlinable public var underestimatedCount: Int { count }

  /// The entries in ascending order from the first key that is not "before".
  ///
  /// - Parameter isBefore: Returns true for a prefix of the keys, and false for all keys after it.
  /// - Returns: The entries after the prefix, in ascending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each entry
  @inlinable public func ascending(after isBefore: (Key) -> Bool) -> Entries {
    Entries(Iterator(forward: root, isBefore: isBefore))
  }

  /// The entries in descending order from the last key that is "within".
  ///
  /// - Parameter isWithin: Returns true for a prefix of the keys, and false for all keys after it.
  /// - Returns: The entries in the prefix, in descending order.
  /// - Complexity: O(log n) to start, O(1) amortised for each entry
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
}
