/// Builds a small node of children from their parts, with no value for each of them in between.
///
/// The caller begins the children of a node, names each child and adds its value, and ends them. What
/// cannot be packed (see `PackedChildren`) is refused with false; the caller then builds the node of
/// its parts. Keys must come in ascending order, which is not checked here: see ``ChildKey/precedes``.
package struct PackedNodeBuilder: ~Copyable {
  private var packed = PackedBuffer(capacity: PackedChildren.mostBytes)

  /// Makes a builder that holds nothing.
  package init() {}

  /// Begins the children of a node, the value of the child that was named last or the whole.
  ///
  /// - Parameter count: How many children will follow, at least one.
  /// - Returns: Where they begin, for ``endChildren(from:)``; nil when there are too many.
  package mutating func beginChildren(count: Int) -> Int? {
    guard count > 0, count <= PackedChildren.mostCount else { return nil }
    let start = packed.count
    packed.append(tag: .children)
    packed.append(packedLength: 0)
    packed.append(UInt8(count))
    return start
  }

  /// Ends children, and says whether they are few enough bytes.
  package mutating func endChildren(from start: Int) -> Bool {
    let length = packed.count - start - 3
    guard length <= PackedChildren.mostBytes else { return false }
    packed[start + 1] = UInt8(truncatingIfNeeded: length)
    packed[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
    return true
  }

  /// Names the child whose value comes next, by valid UTF-8.
  package mutating func name(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let length = UInt8(exactly: key.count) else { return false }
    packed.append(length)
    packed.append(contentsOf: key)
    return true
  }

  /// Adds a leaf of true or false.
  package mutating func add(_ value: Bool) { packed.append(packed: value) }

  /// Adds a leaf of a whole number.
  package mutating func add(_ value: Int64) { packed.append(packed: value) }

  /// Adds a leaf of a number that is not whole.
  package mutating func add(_ value: Double) -> Bool {
    guard Int64(exactly: value) == nil else { return false }
    packed.append(packed: value)
    return true
  }

  /// Adds a leaf of valid UTF-8.
  package mutating func add(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count <= PackedChildren.mostBytes else { return false }
    packed.append(packed: text)
    return true
  }

  /// The node of the children that began at the start and have ended; the builder is empty then.
  package mutating func takeNode() -> Node {
    let bytes = Array(packed.bytes(from: 3))
    packed.truncate(to: 0)
    return .children(NodeChildren(PackedChildren(bytes: bytes)))
  }

  /// Forgets what was added.
  package mutating func reset() { packed.truncate(to: 0) }
}
