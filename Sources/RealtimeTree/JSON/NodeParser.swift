/// A reason why JSON text is no data for a tree.
package enum NodeParserError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is no JSON.
  case syntax(JSONError)
  /// The value is no data.
  case data(NodeError)

  package var description: String {
    switch self {
    case .syntax(let error): error.description
    case .data(let error): error.description
    }
  }
}

/// Reads JSON text straight into nodes; the result is that of `Node(json:)`.
///
/// A value is written down packed as it is read, until it turns out that an object around it cannot
/// be packed. The children of such an object lie on two stacks, so that each map is made of arrays
/// of the right size, and nothing in between is made at all.
struct NodeParser {
  /// What has been read: a value at the end of `packed`, or a node.
  private enum Value {
    case packed
    case node(Node)
  }

  private var scanner: JSONScanner
  /// The values that have been read last, and the objects that they are in.
  private var packed: [UInt8] = []
  private var keys: [ChildKey] = []
  private var nodes: [Node] = []
  /// The first thing that is JSON and no data; it counts only when all of the text is JSON.
  private var problem: NodeError?

  private init(_ scanner: JSONScanner) {
    self.scanner = scanner
  }

  /// Reads a value as a node, and leaves the scanner behind it.
  ///
  /// - Complexity: O(bytes), for children out of order O(n log n)
  static func parse(_ scanner: inout JSONScanner) throws(JSONError) -> Result<Node, NodeError> {
    var parser = NodeParser(scanner)
    parser.packed.reserveCapacity(PackedChildren.mostBytes / 2)
    let node = try parser.node(depth: 0)
    scanner = parser.scanner
    return parser.problem.map { .failure($0) } ?? .success(node)
  }

  private mutating func report(_ description: String) {
    problem = problem ?? NodeError(description: description)
  }

  private mutating func node(depth: Int) throws(JSONError) -> Node {
    let start = packed.count
    switch try value(depth: depth) {
    case .packed: return takeNode(from: start)
    case .node(let node): return node
    }
  }

  /// Takes the packed value that starts at a place off the end.
  private mutating func takeNode(from start: Int) -> Node {
    let node = packed.withUnsafeBytes { PackedValue($0, at: start).node }
    packed.removeLast(packed.count - start)
    return node
  }

  private mutating func value(depth: Int) throws(JSONError) -> Value {
    switch try scanner.start(depth: depth) {
    case .object: return try object(depth: depth)
    case .array: return .node(try array(depth: depth))
    case .string: return try string()
    case .yes: packed.append(packed: true)
    case .no: packed.append(packed: false)
    case .null: return .node(.empty)
    case .number:
      switch try scanner.number() {
      case .integer(let value): packed.append(packed: value)
      case .double(let value): packed.append(packed: value)
      }
    }
    return .packed
  }

  private mutating func string() throws(JSONError) -> Value {
    if let text = scanner.plainString() {
      guard text.count <= PackedChildren.mostBytes else {
        return .node(.string(String(decoding: text, as: UTF8.self)))
      }
      packed.append(tag: .string)
      packed.append(packedLength: text.count)
      packed.append(contentsOf: text)
      return .packed
    }
    let start = packed.count
    packed.append(tag: .string)
    packed.append(packedLength: 0)
    try scanner.string(into: &packed)
    let length = packed.count - start - 3
    if length <= PackedChildren.mostBytes {
      packed.setPackedLength(length, at: start + 1)
      return .packed
    }
    let text = String(decoding: packed[(start + 3)...], as: UTF8.self)
    packed.removeLast(packed.count - start)
    return .node(.string(text))
  }

  private mutating func array(depth: Int) throws(JSONError) -> Node {
    let start = keys.count
    var index = 0
    if scanner.endsAtOnce(UInt8(ascii: "]")) { return .empty }
    repeat {
      let node = try node(depth: depth + 1)
      if !node.isEmpty {
        keys.append(ChildKey(String(index)))
        nodes.append(node)
      }
      index += 1
    } while try scanner.continues(UInt8(ascii: "]"), in: "an array")
    return children(from: start, isAscending: true, priority: nil)
  }

  // MARK: Objects

  /// What has been read of an object.
  private struct Members {
    /// Where it starts in what is packed.
    let start: Int
    /// Where its children start on the stacks, as soon as it cannot be packed.
    let stackStart: Int
    /// How many children are packed; nil when it cannot be packed.
    var packedCount: Int? = 0
    var lastKey: SortableText?
    var isAscending = true
    var special = SpecialMembers()
  }

  private mutating func object(depth: Int) throws(JSONError) -> Value {
    if scanner.endsAtOnce(UInt8(ascii: "}")) { return .node(.empty) }
    var members = Members(start: packed.count, stackStart: keys.count)
    packed.append(tag: .children)
    packed.append(packedLength: 0)
    packed.append(0)
    repeat {
      try member(of: &members, depth: depth + 1)
    } while try scanner.continues(UInt8(ascii: "}"), in: "an object")
    return finish(&members)
  }

  private mutating func member(of members: inout Members, depth: Int) throws(JSONError) {
    let start = packed.count
    if let name = try scanner.plainName() {
      packed.append(UInt8(truncatingIfNeeded: name.count))
      packed.append(contentsOf: name)
    } else {
      packed.append(0)
      try scanner.name(into: &packed)
      packed[start] = UInt8(truncatingIfNeeded: packed.count - start - 1)
    }
    let length = packed.count - start - 1
    if length > 0, packed[start + 1] == UInt8(ascii: ".") {
      let name = String(decoding: packed[(start + 1)...], as: UTF8.self)
      packed.removeLast(length + 1)
      unpack(&members)
      return try specialMember(name, &members.special, depth: depth)
    }
    let text = key(at: start + 1) { SortableText($0) }
    // Of two keys with the same long start, it is left to the sorting which one comes first.
    if let last = members.lastKey, !(last < text) { members.isAscending = false }
    members.lastKey = text
    let valueStart = packed.count
    let value = try value(depth: depth)
    let node: Node
    switch value {
    case .packed:
      if let count = members.packedCount, count < PackedChildren.mostCount, length <= 255,
        packed.count - members.start - 3 <= PackedChildren.mostBytes
      {
        members.packedCount = count + 1
        return
      }
      node = takeNode(from: valueStart)
    case .node(let other): node = other
    }
    let key = key(at: start + 1) { ChildKey(validUTF8: $0) }
    packed.removeLast(length + 1)
    unpack(&members)
    keys.append(key)
    nodes.append(node)
  }

  /// Hands out the key that was read last.
  private func key<Key>(at start: Int, _ make: (UnsafeBufferPointer<UInt8>) -> Key) -> Key {
    packed.withUnsafeBufferPointer { make(UnsafeBufferPointer(rebasing: $0[start...])) }
  }

  /// Puts the children of an object that cannot be packed on the stacks.
  private mutating func unpack(_ members: inout Members) {
    guard members.packedCount != nil else { return }
    members.packedCount = nil
    let start = members.start + 3
    let entries = packed.withUnsafeBytes {
      PackedChildren.entries(of: UnsafeRawBufferPointer(rebasing: $0[start...]))
    }
    packed.removeLast(packed.count - members.start)
    for entry in entries {
      keys.append(entry.key)
      nodes.append(entry.value)
    }
  }

  private mutating func finish(_ members: inout Members) -> Value {
    if let count = members.packedCount {
      packed[members.start + 3] = UInt8(count)
      if members.isAscending || sortPacked(from: members.start + 3) {
        packed.setPackedLength(packed.count - members.start - 3, at: members.start + 1)
        return .packed
      }
      unpack(&members)
    }
    let special = members.special
    let children = children(
      from: members.stackStart,
      isAscending: members.isAscending,
      priority: special.priority
    )
    if let deferred = special.deferred { return .node(.leaf(.deferred(deferred), priority: nil)) }
    if let value = special.value, !value.isEmpty {
      return .node(value.withPriority(special.priority))
    }
    return .node(children)
  }

  /// Brings packed children into order, unless two of them have one key.
  private mutating func sortPacked(from start: Int) -> Bool {
    let sorted = packed.withUnsafeBytes {
      PackedChildren.sorted(UnsafeRawBufferPointer(rebasing: $0[start...]))
    }
    guard let sorted else { return false }
    packed.replaceSubrange(start..., with: sorted)
    return true
  }

  /// What names that begin with a dot said.
  private struct SpecialMembers {
    var priority: LeafValue?
    var value: Node?
    var deferred: DeferredValue?
  }

  private mutating func specialMember(
    _ name: String,
    _ special: inout SpecialMembers,
    depth: Int
  ) throws(JSONError) {
    switch name {
    case ".priority":
      let value = try scanner.value(depth: depth)
      do throws(NodeError) {
        special.priority = try Node.priorityValue(value)
      } catch {
        report(error.description)
      }
    case ".value":
      let node = try node(depth: depth)
      if node.children != nil { report(".value must be a leaf") }
      special.value = node
    case ".sv":
      let value = try scanner.value(depth: depth)
      if special.deferred == nil { special.deferred = DeferredValue(json: value) }
    default: _ = try scanner.value(depth: depth)
    }
  }

  /// Takes the children of one node off the stacks.
  private mutating func children(
    from start: Int,
    isAscending: Bool,
    priority: LeafValue?
  ) -> Node {
    var ownKeys = Array(keys[start...])
    var ownNodes = Array(nodes[start...])
    keys.removeSubrange(start...)
    nodes.removeSubrange(start...)
    if !isAscending || ownNodes.contains(where: \.isEmpty) {
      (ownKeys, ownNodes) = Self.sorted(ownKeys, ownNodes)
    }
    guard !ownKeys.isEmpty else { return .empty }
    return .children(
      NodeChildren(sortedKeys: ownKeys, nodes: ownNodes, priority: Priority(priority))
    )
  }

  /// Sorts by key, leaving out what is empty; of two children with one key, the later counts.
  private static func sorted(_ keys: [ChildKey], _ nodes: [Node]) -> ([ChildKey], [Node]) {
    let order = keys.indices.sorted { keys[$0] == keys[$1] ? $0 < $1 : keys[$0] < keys[$1] }
    var sortedKeys: [ChildKey] = []
    var sortedNodes: [Node] = []
    for (position, index) in order.enumerated() {
      let next = position + 1
      if next < order.count, keys[order[next]] == keys[index] { continue }
      if nodes[index].isEmpty { continue }
      sortedKeys.append(keys[index])
      sortedNodes.append(nodes[index])
    }
    return (sortedKeys, sortedNodes)
  }
}
