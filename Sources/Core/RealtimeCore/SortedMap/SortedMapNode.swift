/// A node of a ``SortedMap``: up to 15 entries, and in an inner node one more child than entries.
///
/// A node below the root has at least 7 entries, except where ascending keys were inserted at the
/// end: there it has at least one, and is filled up like any other before an entry is removed.
///
/// Changing a shared map copies one node at each level and retains everything in it. Nodes with 31
/// entries would mean fewer levels, but half as many values again to copy.
///
// Safety: a node is changed only while exactly one map refers to it, which is checked with
// `isKnownUniquelyReferenced` on the way down, and a shared node is never written to again. No
// access can therefore overlap a change, so exclusivity need not be checked at run time.
@usableFromInline
final class SortedMapNode<Key: Comparable & Sendable, Value: Sendable>: @unchecked Sendable {
  @inlinable static var maximumCount: Int { 15 }
  @inlinable static var minimumCount: Int { 7 }

  @exclusivity(unchecked) @usableFromInline var keys: [Key]
  @exclusivity(unchecked) @usableFromInline var values: [Value]
  @exclusivity(unchecked) @usableFromInline var children: [SortedMapNode]
  /// The number of entries in this node and below it.
  @exclusivity(unchecked) @usableFromInline var count: Int
  /// Whether the array of values may be shared with another node.
  @exclusivity(unchecked) @usableFromInline var sharesValues = false

  @inlinable init(keys: [Key], values: [Value], children: [SortedMapNode], count: Int? = nil) {
    self.keys = keys
    self.values = values
    self.children = children
    self.count = count ?? children.reduce(keys.count) { $0 + $1.count }
  }

  @inlinable var isLeaf: Bool { children.isEmpty }
  @inlinable var isFull: Bool { keys.count == Self.maximumCount }

  /// Copies the node; keys and values stay shared until they change.
  ///
  /// On the way down to a change, a node's keys and values do not change, but one of its children
  /// always does. The array of children is therefore copied at once.
  @inlinable func copy() -> SortedMapNode {
    let copy = SortedMapNode(
      keys: keys,
      values: values,
      children: children.isEmpty ? [] : Self.copied(children),
      count: count
    )
    copy.sharesValues = true
    return copy
  }

  /// Copies elements into a new array.
  ///
  /// An array that is copied because it changes makes a function call for each element, and one
  /// that is created with room for elements searches the type of its memory each time.
  @inlinable static func copied<Element>(_ elements: [Element]) -> [Element] {
    elements.withUnsafeBufferPointer { source in
      var copy: [Element] = []
      copy.append(addingCapacity: source.count) { target in
        for element in source { target.append(element) }
      }
      return copy
    }
  }

  /// Makes sure that no other node shares this node's array of values.
  @inlinable func ownValues() {
    guard sharesValues else { return }
    values = Self.copied(values)
    sharesValues = false
  }

  /// The number of keys that satisfy a predicate, which must hold for a prefix of the keys.
  @inlinable func partition(_ isBefore: (Key) -> Bool) -> Int {
    // A buffer lends its elements, whereas an array would copy each key that is compared.
    keys.withUnsafeBufferPointer { keys in
      var low = 0
      var high = keys.count
      while low < high {
        let middle = (low + high) / 2
        if isBefore(keys[middle]) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// The index of a key, or the index at which to insert it.
  @inlinable func position(of key: Key) -> (index: Int, isHere: Bool) {
    // The buffer leaves its closure, since searching inside would retain the array at each level.
    let keys = keys.withUnsafeBufferPointer { $0 }
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low &+ high) >> 1
      if keys[middle] < key { low = middle &+ 1 } else { high = middle }
    }
    return (low, low < keys.count && !(key < keys[low]))
  }

  @inlinable func value(for key: Key) -> Value? {
    pointer(toValueOf: key)?.pointee
  }

  /// A pointer to the value for a key, valid until this node changes.
  @inlinable func pointer(toValueOf key: Key) -> UnsafePointer<Value>? {
    // Each node is retained by its parent, so no reference is counted on the way down.
    var node = Unmanaged.passUnretained(self)
    while true {
      let (index, isHere) = node._withUnsafeGuaranteedRef { $0.position(of: key) }
      if isHere { return node._withUnsafeGuaranteedRef { $0.pointer(toValueAt: index) } }
      guard let child = node._withUnsafeGuaranteedRef({ $0.lentChild(index) }) else { return nil }
      node = child
    }
  }

  @inline(__always)
  @inlinable func pointer(toValueAt index: Int) -> UnsafePointer<Value>? {
    values.withUnsafeBufferPointer { $0.baseAddress.map { $0 + index } }
  }

  /// A child, which this node retains; nil in a leaf.
  @inline(__always)
  @inlinable func lentChild(_ index: Int) -> Unmanaged<SortedMapNode>? {
    isLeaf ? nil : Unmanaged.passUnretained(children[index])
  }

  /// Pointers to the values for a key in this node and in another one, valid until either changes.
  ///
  /// Versions of a map mostly differ only in values. They then share their arrays of keys, so that
  /// one search serves both.
  @inlinable func pointers(
    toValuesOf key: Key,
    beside other: SortedMapNode
  ) -> (UnsafePointer<Value>?, UnsafePointer<Value>?) {
    var (node, beside) = (Unmanaged.passUnretained(self), Unmanaged.passUnretained(other))
    while true {
      let isShared = node._withUnsafeGuaranteedRef { node in
        beside._withUnsafeGuaranteedRef { node.sharesKeys(with: $0) }
      }
      guard isShared else {
        return (
          node._withUnsafeGuaranteedRef { $0.pointer(toValueOf: key) },
          beside._withUnsafeGuaranteedRef { $0.pointer(toValueOf: key) }
        )
      }
      let (index, isHere) = node._withUnsafeGuaranteedRef { $0.position(of: key) }
      if isHere {
        return (
          node._withUnsafeGuaranteedRef { $0.pointer(toValueAt: index) },
          beside._withUnsafeGuaranteedRef { $0.pointer(toValueAt: index) }
        )
      }
      guard let child = node._withUnsafeGuaranteedRef({ $0.lentChild(index) }),
        let other = beside._withUnsafeGuaranteedRef({ $0.lentChild(index) })
      else { return (nil, nil) }
      (node, beside) = (child, other)
    }
  }

  @inlinable func sharesKeys(with other: SortedMapNode) -> Bool {
    keys.withUnsafeBufferPointer { keys in
      other.keys.withUnsafeBufferPointer {
        keys.baseAddress == $0.baseAddress && keys.count == $0.count
      }
    } && isLeaf == other.isLeaf
  }

  /// The child at an index, copied if necessary so that it may be changed.
  @inlinable func uniqueChild(_ index: Int) -> SortedMapNode {
    if !isKnownUniquelyReferenced(&children[index]) { children[index] = children[index].copy() }
    return children[index]
  }

  // MARK: Changing a present entry

  /// Swaps the value for a key with another one; returns false if the key is missing.
  @inlinable func exchange(_ value: inout Value, for key: Key) -> Bool {
    let (index, isHere) = position(of: key)
    if isHere {
      ownValues()
      swap(&values[index], &value)
      return true
    }
    return isLeaf ? false : uniqueChild(index).exchange(&value, for: key)
  }

  @discardableResult
  @inlinable func modify<Result>(_ key: Key, with body: (inout Value) -> Result) -> Result? {
    let (index, isHere) = position(of: key)
    if isHere {
      ownValues()
      return body(&values[index])
    }
    return isLeaf ? nil : uniqueChild(index).modify(key, with: body)
  }

  // MARK: Inserting an absent key

  @inlinable func insert(_ value: Value, for key: Key) {
    count += 1
    var index = position(of: key).index
    guard !isLeaf else {
      keys.insert(key, at: index)
      values.insert(value, at: index)
      return
    }
    if children[index].isFull {
      splitChild(index, for: key)
      if keys[index] < key { index += 1 }
    }
    uniqueChild(index).insert(value, for: key)
  }

  /// Splits a full child in two, to make room for a key, and moves an entry between them up.
  ///
  /// That is the middle one, unless the key comes last of all: keys that arrive in ascending order
  /// would leave every node half empty. The right child then has fewer entries than others, but at
  /// least one.
  @inlinable func splitChild(_ index: Int, for key: Key) {
    let left = uniqueChild(index)
    let isLast = index == keys.count && left.keys[Self.maximumCount - 1] < key
    let middle = isLast ? Self.maximumCount - 2 : Self.maximumCount / 2
    let right = SortedMapNode(
      keys: Array(left.keys[(middle + 1)...]),
      values: Array(left.values[(middle + 1)...]),
      children: left.isLeaf ? [] : Array(left.children[(middle + 1)...])
    )
    keys.insert(left.keys[middle], at: index)
    values.insert(left.values[middle], at: index)
    children.insert(right, at: index + 1)
    left.keys.removeSubrange(middle...)
    left.values.removeSubrange(middle...)
    if !left.isLeaf { left.children.removeSubrange((middle + 1)...) }
    left.count -= right.count + 1
  }

  // MARK: Removing a present key

  @inlinable func remove(_ key: Key) {
    count -= 1
    let (index, isHere) = position(of: key)
    if isLeaf {
      guard isHere else { return }
      keys.remove(at: index)
      values.remove(at: index)
      return
    }
    if isHere {
      removeEntry(at: index, key: key)
    } else {
      let position = fillChild(index)
      uniqueChild(position).remove(key)
    }
  }

  @inlinable func removeEntry(at index: Int, key: Key) {
    if children[index].keys.count > Self.minimumCount {
      (keys[index], values[index]) = uniqueChild(index).removeLast()
    } else if children[index + 1].keys.count > Self.minimumCount {
      (keys[index], values[index]) = uniqueChild(index + 1).removeFirst()
    } else {
      mergeChildren(index)
      uniqueChild(index).remove(key)
    }
  }

  @inlinable func removeLast() -> (key: Key, value: Value) {
    count -= 1
    guard !isLeaf else { return (keys.removeLast(), values.removeLast()) }
    let position = fillChild(children.count - 1)
    return uniqueChild(position).removeLast()
  }

  @inlinable func removeFirst() -> (key: Key, value: Value) {
    count -= 1
    guard !isLeaf else { return (keys.removeFirst(), values.removeFirst()) }
    let position = fillChild(0)
    return uniqueChild(position).removeFirst()
  }

  /// Ensures that a child has more than the minimum of entries; returns its index afterwards.
  @inlinable func fillChild(_ index: Int) -> Int {
    guard children[index].keys.count <= Self.minimumCount else { return index }
    if index > 0, children[index - 1].keys.count > Self.minimumCount {
      borrowFromLeft(index)
      return index
    }
    if index < children.count - 1, children[index + 1].keys.count > Self.minimumCount {
      borrowFromRight(index)
      return index
    }
    let left = index < children.count - 1 ? index : index - 1
    mergeChildren(left)
    return left
  }

  @inlinable func borrowFromLeft(_ index: Int) {
    let child = uniqueChild(index)
    let sibling = uniqueChild(index - 1)
    child.keys.insert(keys[index - 1], at: 0)
    child.values.insert(values[index - 1], at: 0)
    keys[index - 1] = sibling.keys.removeLast()
    values[index - 1] = sibling.values.removeLast()
    var moved = 1
    if !sibling.isLeaf {
      let grandchild = sibling.children.removeLast()
      child.children.insert(grandchild, at: 0)
      moved += grandchild.count
    }
    child.count += moved
    sibling.count -= moved
  }

  @inlinable func borrowFromRight(_ index: Int) {
    let child = uniqueChild(index)
    let sibling = uniqueChild(index + 1)
    child.keys.append(keys[index])
    child.values.append(values[index])
    keys[index] = sibling.keys.removeFirst()
    values[index] = sibling.values.removeFirst()
    var moved = 1
    if !sibling.isLeaf {
      let grandchild = sibling.children.removeFirst()
      child.children.append(grandchild)
      moved += grandchild.count
    }
    child.count += moved
    sibling.count -= moved
  }

  /// Merges a child, the entry after it and the next child into one node.
  @inlinable func mergeChildren(_ index: Int) {
    let left = uniqueChild(index)
    let right = children.remove(at: index + 1)
    left.keys.append(keys.remove(at: index))
    left.values.append(values.remove(at: index))
    left.keys.append(contentsOf: right.keys)
    left.values.append(contentsOf: right.values)
    left.children.append(contentsOf: right.children)
    left.count += right.count + 1
  }

  // MARK: Building

  /// Builds a balanced tree from ascending entries; returns nil if there are none.
  @inlinable static func build(_ entries: ArraySlice<(key: Key, value: Value)>) -> SortedMapNode? {
    guard !entries.isEmpty else { return nil }
    var height = 0
    var capacity = maximumCount
    while capacity < entries.count {
      height += 1
      capacity = capacity * (maximumCount + 1) + maximumCount
    }
    return build(entries, height: height)
  }

  /// Builds a tree of an exact height, distributing the entries evenly among the children.
  @inlinable static func build(
    _ entries: ArraySlice<(key: Key, value: Value)>,
    height: Int
  ) -> SortedMapNode {
    guard height > 0 else {
      return SortedMapNode(keys: entries.map(\.key), values: entries.map(\.value), children: [])
    }
    var below = maximumCount
    for _ in 1..<height { below = below * (maximumCount + 1) + maximumCount }
    let childCount = (entries.count + 1 + below) / (below + 1)
    let node = SortedMapNode(keys: [], values: [], children: [])
    var start = entries.startIndex
    for position in 0..<childCount {
      let remaining = entries.endIndex - start
      let childrenLeft = childCount - position
      let size = (remaining - (childrenLeft - 1)) / childrenLeft
      node.children.append(build(entries[start..<(start + size)], height: height - 1))
      start += size
      if position < childCount - 1 {
        node.keys.append(entries[start].key)
        node.values.append(entries[start].value)
        start += 1
      }
    }
    node.count = entries.count
    return node
  }
}
