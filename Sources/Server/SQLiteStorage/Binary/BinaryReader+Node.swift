import RealtimeCore
import RealtimeHub

extension BinaryReader {
  /// What a row of the node table holds.
  enum StoredNode {
    /// The whole subtree, a leaf or small.
    case packed(Node)
    /// Only the priority; the children are rows of their own.
    case branch(LeafValue)
  }

  /// Reads a row of the node table.
  mutating func storedNode() throws(Failure) -> StoredNode {
    let first = try byte()
    if first == NodeTag.empty.rawValue | NodeTag.priorityBit { return .branch(try leaf(byte())) }
    let node = try node(first, depth: 0)
    guard !node.isEmpty, isAtEnd else { throw Failure(reason: "it is no node") }
    return .packed(node)
  }

  mutating func commit() throws(Failure) -> Commit {
    let revision = try integer()
    let timestamp = try integer()
    var changes: [Change] = []
    for _ in 0..<(try count()) {
      var keys: [ChildKey] = []
      for _ in 0..<(try count()) { keys.append(ChildKey(try text())) }
      changes.append(Change(Path(keys), try node(try byte(), depth: 0)))
    }
    return Commit(revision: revision, timestamp: timestamp, changes: changes)
  }

  private mutating func node(_ first: UInt8, depth: Int) throws(Failure) -> Node {
    let tag = first & ~NodeTag.priorityBit
    let hasPriority = first & NodeTag.priorityBit != 0
    switch NodeTag(rawValue: tag) {
    case nil: throw Failure(reason: "it has an unknown kind of value")
    case .empty?:
      if hasPriority { throw Failure(reason: "a priority belongs to nothing") }
      return .empty
    case .no?, .yes?, .integer?, .double?, .string?:
      let value = try leaf(tag)
      return .leaf(value, priority: hasPriority ? Priority(try leaf(byte())) : nil)
    case .children?:
      guard depth < NodeTag.depthLimit else { throw Failure(reason: "it is nested too deeply") }
      let priority = hasPriority ? try leaf(byte()) : nil
      var children: [(key: ChildKey, value: Node)] = []
      for _ in 0..<(try count()) {
        let key = ChildKey(try text())
        if let last = children.last, !(last.key < key) {
          throw Failure(reason: "its keys are out of order")
        }
        children.append((key, try node(try byte(), depth: depth + 1)))
      }
      return Node(sortedChildren: children, priority: priority)
    }
  }

  private mutating func leaf(_ tag: UInt8) throws(Failure) -> LeafValue {
    switch NodeTag(rawValue: tag) {
    case .no?: return .bool(false)
    case .yes?: return .bool(true)
    case .integer?: return .integer(try integer())
    case .double?:
      let value = Double(bitPattern: try bits())
      guard value.isFinite else { throw Failure(reason: "a number is not finite") }
      return .double(value)
    case .string?: return .string(try text())
    case nil, .empty?, .children?: throw Failure(reason: "a leaf is missing")
    }
  }
}
