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
struct NodeParser: ~Copyable {
  /// What has been read: a value at the end of `packed`, or a node.
  private enum Value {
    case packed
    case node(Node)
  }

  private var scanner: JSONScanner
  /// The values that have been read last, and the objects that they are in.
  private var packed = PackedBuffer(capacity: PackedChildren.mostBytes / 2)
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
    let node = PackedValue(UnsafeRawBufferPointer(packed.bytes(from: start)), at: 0).node
    packed.truncate(to: start)
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
    if let text = scanner.unescapedString() { return value(of: text) }
    var text: [UInt8] = []
    try scanner.string(into: &text)
    return text.withUnsafeBufferPointer { value(of: $0) }
  }

  @inline(__always)
  private mutating func value(of text: UnsafeBufferPointer<UInt8>) -> Value {
    guard text.count <= PackedChildren.mostBytes else {
      return .node(.string(String(decoding: text, as: UTF8.self)))
    }
    packed.append(packed: text)
    return .packed
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
    /// The name that was read last, in the text.
    var lastName: UnsafeBufferPointer<UInt8>?
    /// Whether the keys are known to be in their order.
    var isAscending = true
    var special = SpecialMembers()

    /// Looks whether a name that lies in the text belongs behind the last one.
    mutating func follow(_ name: UnsafeBufferPointer<UInt8>) {
      if isAscending, let lastName { isAscending = ChildKey.precedes(lastName, name) }
      lastName = name
    }
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
    let length: Int
    if let name = try scanner.unescapedName() {
      if name.first == UInt8(ascii: ".") {
        return try specialMember(String(decoding: name, as: UTF8.self), &members, depth: depth)
      }
      members.follow(name)
      length = appendName(name)
    } else {
      let name = try scanner.nameBytes()
      if name.first == UInt8(ascii: ".") {
        return try specialMember(String(decoding: name, as: UTF8.self), &members, depth: depth)
      }
      // It cannot be looked at again; to sort costs less than to keep it.
      members.isAscending = false
      length = name.withUnsafeBufferPointer { appendName($0) }
    }
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
    let key = ChildKey(validUTF8: packed.bytes(from: start + 1))
    packed.truncate(to: start)
    unpack(&members)
    keys.append(key)
    nodes.append(node)
  }

  /// Writes a name down, of which the length may not fit, and gives that.
  @inline(__always)
  private mutating func appendName(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    packed.append(UInt8(truncatingIfNeeded: name.count))
    packed.append(contentsOf: name)
    return name.count
  }

  /// Puts the children of an object that cannot be packed on the stacks.
  private mutating func unpack(_ members: inout Members) {
    guard members.packedCount != nil else { return }
    members.packedCount = nil
    let source = UnsafeRawBufferPointer(packed.bytes(from: members.start + 3))
    let entries = PackedChildren.entries(of: source)
    packed.truncate(to: members.start)
    for entry in entries {
      keys.append(entry.key)
      nodes.append(entry.value)
    }
  }

  private mutating func finish(_ members: inout Members) -> Value {
    if let count = members.packedCount {
      packed[members.start + 3] = UInt8(count)
      if members.isAscending || sortPacked(from: members.start + 3) {
        let length = packed.count - members.start - 3
        packed[members.start + 1] = UInt8(truncatingIfNeeded: length)
        packed[members.start + 2] = UInt8(truncatingIfNeeded: length >> 8)
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
    let source = UnsafeRawBufferPointer(packed.bytes(from: start))
    guard let sorted = PackedChildren.sorted(source) else { return false }
    packed.truncate(to: start)
    sorted.withUnsafeBufferPointer { packed.append(contentsOf: $0) }
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
    _ members: inout Members,
    depth: Int
  ) throws(JSONError) {
    unpack(&members)
    switch name {
    case ".priority":
      let value = try scanner.value(depth: depth)
      do throws(NodeError) {
        members.special.priority = try Node.priorityValue(value)
      } catch {
        report(error.description)
      }
    case ".value":
      let node = try node(depth: depth)
      if node.children != nil { report(".value must be a leaf") }
      members.special.value = node
    case ".sv":
      let value = try scanner.value(depth: depth)
      if members.special.deferred == nil { members.special.deferred = DeferredValue(json: value) }
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
