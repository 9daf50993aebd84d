/// Builds a small node with children from its parts, without creating a value for each of them.
///
/// The caller begins the children of a node, names each child and adds its value, and ends the
/// children. A part that cannot be packed (see `PackedChildren`) is refused with false or nil; the
/// caller then builds the node another way. Keys must come in ascending order, which the builder
/// does not check (see ``ChildKey/precedes``).
package struct PackedNodeBuilder: ~Copyable {
  private var packed = PackedBuffer(capacity: PackedChildren.mostBytes)

  package init() {}

  /// Begins the children of a node: of the child that was named last, or of the node to be built.
  ///
  /// - Parameter count: The number of children that will follow, at least one.
  /// - Returns: The offset to pass to ``endChildren(from:)``; nil when there are too many children.
  package mutating func beginChildren(count: Int) -> Int? {
    guard count > 0, count <= PackedChildren.mostCount else { return nil }
    let start = packed.count
    packed.append(tag: .children)
    packed.append(packedLength: 0)
    packed.append(UInt8(count))
    return start
  }

  /// Ends children; returns false if they take too many bytes.
  package mutating func endChildren(from start: Int) -> Bool {
    let length = packed.count - start - 3
    guard length <= PackedChildren.mostBytes else { return false }
    packed[start + 1] = UInt8(truncatingIfNeeded: length)
    packed[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
    return true
  }

  /// Names the child whose value comes next, in valid UTF-8; returns false if the key is too long.
  package mutating func name(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let length = UInt8(exactly: key.count) else { return false }
    packed.append(length)
    packed.append(contentsOf: key)
    return true
  }

  package mutating func add(_ value: Bool) { packed.append(packed: value) }

  package mutating func add(_ value: Int64) { packed.append(packed: value) }

  /// Adds a leaf with a number that is not whole; returns false if the number is whole.
  package mutating func add(_ value: Double) -> Bool {
    guard Int64(exactly: value) == nil else { return false }
    packed.append(packed: value)
    return true
  }

  /// Adds a text leaf in valid UTF-8; returns false if the text is too long.
  package mutating func add(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count <= PackedChildren.mostBytes else { return false }
    packed.append(packed: text)
    return true
  }

  /// Returns the node, whose outermost children must have ended, and empties the builder.
  package mutating func takeNode() -> Node {
    let bytes = Array(packed.bytes(from: 3))
    packed.truncate(to: 0)
    return .children(NodeChildren(PackedChildren(bytes: bytes)))
  }

  package mutating func reset() { packed.truncate(to: 0) }
}
