import RealtimeHub
import RealtimeProtocol
import RealtimeTree

/// The first byte of a stored node; the top bit says that a priority follows.
enum NodeTag: UInt8 {
  case empty, no, yes, integer, double, string, children

  static let priorityBit: UInt8 = 0x80
  /// More levels than data can have that the server accepts, few enough for any stack.
  static let depthLimit = 256
}

extension BinaryWriter {
  /// Writes a node exactly, whole numbers apart from doubles.
  ///
  /// - Throws: A ``StoreError`` for what no store can hold: undecided values, keys with a slash.
  mutating func write(_ node: Node, depth: Int = 0) throws(StoreError) {
    let flag = node.priority == nil ? 0 : NodeTag.priorityBit
    switch node {
    case .empty: write(byte: NodeTag.empty.rawValue)
    case .leaf(let value, let priority):
      try write(value, flag: flag)
      if let priority { try write(priority.value) }
    case .children(let children):
      guard depth < NodeTag.depthLimit else {
        throw StoreError(.failed, "data nested deeper than \(NodeTag.depthLimit) levels")
      }
      write(byte: NodeTag.children.rawValue | flag)
      if let priority = children.priority { try write(priority.value) }
      write(count: children.count)
      for (key, child) in children.map {
        try write(key: key)
        try write(child, depth: depth + 1)
      }
    }
  }

  /// Writes the priority of a node whose children are stored elsewhere.
  mutating func write(branchPriority: LeafValue) throws(StoreError) {
    write(byte: NodeTag.empty.rawValue | NodeTag.priorityBit)
    try write(branchPriority)
  }

  mutating func write(_ commit: Commit) throws(StoreError) {
    write(integer: commit.revision)
    write(integer: commit.timestamp)
    write(count: commit.changes.count)
    for change in commit.changes {
      write(count: change.path.count)
      for key in change.path.keys { try write(key: key) }
      try write(change.node)
    }
  }

  private mutating func write(key: ChildKey) throws(StoreError) {
    if key.text.utf8.contains(UInt8(ascii: "/")) {
      throw StoreError(.failed, "the key \"\(key)\" has a slash and cannot be stored")
    }
    write(text: key.text)
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
      throw StoreError(.failed, "a value that the server has not decided cannot be stored")
    }
  }
}
