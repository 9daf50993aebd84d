package import RealtimeCore

/// The first byte of a stored node; a set top bit means that a priority follows.
enum NodeTag: UInt8 {
  case empty, no, yes, integer, double, string, children

  static let priorityBit: UInt8 = 0x80
  /// More levels than data accepted by the server can have, but few enough for any stack.
  static let depthLimit = 256
}

extension BinaryWriter {
  /// Writes a node exactly, distinguishing integers from doubles.
  ///
  /// - Throws: A ``StoreError`` for data that no store can hold: unresolved server values, or keys
  ///   with a slash.
  package mutating func write(_ node: Node) throws(StoreError) {
    try node.withView { (view) throws(StoreError) in try write(view, depth: 0) }
  }

  private mutating func write(_ node: NodeView, depth: Int) throws(StoreError) {
    let priority = node.hasPriority ? node.priority : nil
    let flag = priority == nil ? 0 : NodeTag.priorityBit
    switch node.content {
    case .empty: write(byte: NodeTag.empty.rawValue)
    case .text(let text):
      write(byte: NodeTag.string.rawValue | flag)
      write(text: text.utf8)
      if let priority { try write(priority) }
    case .leaf(let value):
      try write(value, flag: flag)
      if let priority { try write(priority) }
    case .children:
      guard depth < NodeTag.depthLimit else {
        throw StoreError(
          .failed,
          description: "data nested deeper than \(NodeTag.depthLimit) levels"
        )
      }
      write(byte: NodeTag.children.rawValue | flag)
      if let priority { try write(priority) }
      write(count: node.childCount)
      var failure: StoreError?
      node.forEachChild { key, child in
        do throws(StoreError) {
          if let error = write(key: key) { throw error }
          try write(child, depth: depth + 1)
        } catch {
          failure = error
        }
        return failure == nil
      }
      if let failure { throw failure }
    }
  }

  /// Writes the priority of a node whose children are stored in separate rows.
  package mutating func write(branchPriority: LeafValue) throws(StoreError) {
    write(byte: NodeTag.empty.rawValue | NodeTag.priorityBit)
    try write(branchPriority)
  }

  /// Writes a commit; throws for data that no store can hold.
  package mutating func write(_ commit: Commit) throws(StoreError) {
    write(integer: commit.revision)
    write(integer: commit.timestamp)
    write(count: commit.changes.count)
    for change in commit.changes {
      write(count: change.path.count)
      for key in change.path.keys {
        if let error = key.withUTF8({ write(key: LeafText($0)) }) { throw error }
      }
      try write(change.node)
    }
  }

  /// Writes a key, and returns what is wrong with it when it cannot be stored.
  private mutating func write(key: LeafText) -> StoreError? {
    write(text: key.utf8)
    for byte in key.utf8 where byte == UInt8(ascii: "/") {
      return StoreError(
        .failed,
        description: "the key \"\(key.string)\" contains a slash and cannot be stored"
      )
    }
    return nil
  }

  private mutating func write(_ leaf: LeafValue, flag: UInt8 = 0) throws(StoreError) {
    switch leaf {
    case .bool(let value): write(byte: (value ? NodeTag.yes : NodeTag.no).rawValue | flag)
    case .integer(let value):
      write(byte: NodeTag.integer.rawValue | flag)
      write(integer: value)
    case .double(let value):
      write(byte: NodeTag.double.rawValue | flag)
      write(bits: value.bitPattern)
    case .string(let value):
      write(byte: NodeTag.string.rawValue | flag)
      write(text: value)
    case .deferred:
      throw StoreError(.failed, description: "an unresolved server value cannot be stored")
    }
  }
}

extension BinaryReader {
  /// The content of a row of the node table.
  package enum StoredNode {
    /// The whole subtree: a leaf or a small map.
    case packed(Node)
    /// Only the priority; the children have rows of their own.
    case branch(LeafValue)
  }

  /// Reads a row of the node table, or throws why the bytes cannot be one.
  ///
  /// The builder, whose previous content is discarded, avoids creating a value and a key for each
  /// child of a small node: a million leaves load in a third of the time.
  mutating func storedNode(
    with builder: inout PackedNodeBuilder
  ) throws(Failure) -> StoredNode {
    let start = position
    let first = try byte()
    if first == NodeTag.empty.rawValue | NodeTag.priorityBit { return .branch(try leaf(byte())) }
    builder.reset()
    if first == NodeTag.children.rawValue, try packChildren(into: &builder, depth: 0), isAtEnd {
      return .packed(builder.takeNode())
    }
    // It is decoded again piece by piece: it is large or has priorities, or the error must name the
    // damage.
    position = start + 1
    let node = try node(first, depth: 0)
    guard !node.isEmpty, isAtEnd else { throw Failure(reason: "it is not a node") }
    return .packed(node)
  }

  package mutating func commit() throws(Failure) -> Commit {
    let revision = try integer()
    let timestamp = try integer()
    var changes: [Change] = []
    for _ in 0..<(try count()) {
      var keys: [ChildKey] = []
      for _ in 0..<(try count()) { keys.append(ChildKey(try text())) }
      changes.append(Change(Path(keys), to: try node(try byte(), depth: 0)))
    }
    return Commit(revision: revision, timestamp: timestamp, changes: changes)
  }

  private mutating func node(_ first: UInt8, depth: Int) throws(Failure) -> Node {
    let tag = first & ~NodeTag.priorityBit
    let hasPriority = first & NodeTag.priorityBit != 0
    switch NodeTag(rawValue: tag) {
    case nil: throw Failure(reason: "it has an unknown kind of value")
    case .empty?:
      if hasPriority { throw Failure(reason: "a priority has no node") }
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

  /// Reads children up to the first that cannot be packed, and returns false if there is one.
  private mutating func packChildren(
    into builder: inout PackedNodeBuilder,
    depth: Int
  ) throws(Failure) -> Bool {
    guard depth < NodeTag.depthLimit else { return false }
    let count = try count()
    guard let start = builder.beginChildren(count: count) else { return false }
    var last = 0..<0
    for number in 0..<count {
      let key = try textRange()
      if number > 0, !precedes(last, key) { throw Failure(reason: "its keys are out of order") }
      last = key
      guard withText(key, { builder.name($0) }), try packValue(into: &builder, depth: depth) else {
        return false
      }
    }
    return builder.endChildren(from: start)
  }

  private mutating func packValue(
    into builder: inout PackedNodeBuilder,
    depth: Int
  ) throws(Failure) -> Bool {
    switch NodeTag(rawValue: try byte()) {
    case .no?: builder.add(false)
    case .yes?: builder.add(true)
    case .integer?: builder.add(try integer())
    case .double?: return builder.add(try double())
    case .string?:
      let text = try textRange()
      return withText(text) { builder.add($0) }
    case .children?: return try packChildren(into: &builder, depth: depth + 1)
    // It has a priority, or is damaged.
    case .empty?, nil: return false
    }
    return true
  }

  private mutating func double() throws(Failure) -> Double {
    let value = Double(bitPattern: try bits())
    guard value.isFinite else { throw Failure(reason: "a number is not finite") }
    return value
  }

  private mutating func leaf(_ tag: UInt8) throws(Failure) -> LeafValue {
    switch NodeTag(rawValue: tag) {
    case .no?: return .bool(false)
    case .yes?: return .bool(true)
    case .integer?: return .integer(try integer())
    case .double?: return .double(try double())
    case .string?: return .string(try text())
    case nil, .empty?, .children?: throw Failure(reason: "a leaf is missing")
    }
  }
}
