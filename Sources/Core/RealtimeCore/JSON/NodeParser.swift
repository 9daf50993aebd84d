/// Parses JSON text directly into nodes, with the same result as `Node(json:)`.
///
/// Values are packed as they are read, until an object that contains them turns out not to be
/// packable. The children of such an object are collected on two stacks, so that its map is built
/// from arrays of the right size without intermediate copies.
struct NodeParser: ~Copyable {
  /// A parsed value: packed at the end of `packed`, or a node.
  private enum Value {
    case packed
    case node(Node)
  }

  private var scanner: JSONScanner
  /// The values that were read last, and the objects that contain them.
  private var packed: PackedBuffer
  private var keys: [ChildKey] = []
  private var nodes: [Node] = []
  /// The special members of the objects that have any and are being read, the outermost first.
  private var specials: [SpecialMembers] = []
  /// The first value that is not valid data; reported only if the whole text is valid JSON.
  private var problem: NodeError?

  /// The size of the memory on the stack for packed values; most values that clients send fit.
  private static let usualBytes = PackedChildren.mostBytes / 2

  private init(_ scanner: JSONScanner, in memory: UnsafeMutableRawBufferPointer) {
    self.scanner = scanner
    packed = PackedBuffer(in: memory)
  }

  /// Parses a value as a node and advances the scanner past it.
  ///
  /// - Complexity: O(bytes); O(n log n) for children out of order
  static func parse(_ scanner: inout JSONScanner) throws(JSONError) -> Result<Node, NodeError> {
    try withUnsafeTemporaryAllocation(
      byteCount: usualBytes,
      alignment: 1
    ) { (memory) throws(JSONError) in
      var parser = NodeParser(scanner, in: memory)
      let node = try parser.node(depth: 0)
      scanner = parser.scanner
      return parser.problem.map { .failure($0) } ?? .success(node)
    }
  }

  private mutating func report(_ description: String) {
    problem = problem ?? NodeError(description: description)
  }

  /// Reports a key of which the node keeps no trace, so that nobody else will check it.
  private mutating func reportProblem(withKey text: String) {
    if let problem = Validation.problem(withKey: text) { report(problem) }
  }

  private mutating func node(depth: Int) throws(JSONError) -> Node {
    let start = packed.count
    switch try value(depth: depth) {
    case .packed: return takeNode(from: start)
    case .node(let node): return node
    }
  }

  /// Removes the packed value that extends from an offset to the end, and unpacks it.
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

  /// The next value if it is text without escapes, as most values are; else consumes nothing.
  @inline(__always)
  private mutating func textValue(depth: Int) -> Value? {
    guard scanner.current == UInt8(ascii: "\""), depth <= scanner.depthLimit else { return nil }
    return scanner.plainString().map { value(of: $0) }
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

  /// The members of an object so far.
  private struct Members {
    /// The offset of the object in `packed`.
    let start: Int
    /// The index of its first child on the stacks, where children go once it cannot be packed.
    let stackStart: Int
    /// The number of packed children; nil once the object cannot be packed.
    var packedCount: Int? = 0
    /// The last name, as bytes of the text.
    var lastName: UnsafeBufferPointer<UInt8>?
    /// Whether all keys so far are known to be ascending.
    var isAscending = true
    /// Whether the object has special members, which are the last on their stack.
    var hasSpecials = false

    /// Notes whether a name in the text sorts after the last one.
    @inline(__always)
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
        return try specialMember(String(decoding: name, as: UTF8.self), of: &members, depth: depth)
      }
      members.follow(name)
      packed.append(key: name)
      length = name.count
    } else {
      let name = try scanner.nameBytes()
      if name.first == UInt8(ascii: ".") {
        return try specialMember(String(decoding: name, as: UTF8.self), of: &members, depth: depth)
      }
      // The unescaped name is not kept for comparison, because sorting later costs less.
      members.isAscending = false
      name.withUnsafeBufferPointer { packed.append(key: $0) }
      length = name.count
    }
    let valueStart = packed.count
    let value: Value
    if let text = textValue(depth: depth) {
      value = text
    } else {
      value = try self.value(depth: depth)
    }
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
    if node.isEmpty { reportProblem(withKey: key.text) }
    packed.truncate(to: start)
    unpack(&members)
    keys.append(key)
    nodes.append(node)
  }

  /// Moves the packed children of an object that cannot be packed to the stacks.
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
    let special = members.hasSpecials ? specials.popLast() : nil
    if let special {
      let firstKey = keys.count > members.stackStart ? keys[members.stackStart] : nil
      if let problem = special.problem(beside: firstKey) { report(problem) }
    }
    let children = children(
      from: members.stackStart,
      isAscending: members.isAscending,
      priority: special?.priority
    )
    guard let special else { return .node(children) }
    if let deferred = special.deferred { return .node(.leaf(.deferred(deferred), priority: nil)) }
    if let value = special.value, !value.isEmpty {
      return .node(value.withPriority(special.priority))
    }
    return .node(children)
  }

  /// Sorts packed children; returns false if a key occurs twice.
  private mutating func sortPacked(from start: Int) -> Bool {
    let source = UnsafeRawBufferPointer(packed.bytes(from: start))
    guard let sorted = PackedChildren.sorted(source) else { return false }
    packed.truncate(to: start)
    sorted.withUnsafeBufferPointer { packed.append(contentsOf: $0) }
    return true
  }

  private mutating func specialMember(
    _ name: String,
    of members: inout Members,
    depth: Int
  ) throws(JSONError) {
    unpack(&members)
    if !members.hasSpecials { specials.append(SpecialMembers()) }
    members.hasSpecials = true
    let top = specials.count - 1
    switch name {
    case ".priority":
      let value = try scanner.value(depth: depth)
      do throws(NodeError) {
        specials[top].priority = try Node.priorityValue(value)
      } catch {
        report(error.description)
      }
    case ".value":
      let node = try node(depth: depth)
      if node.children != nil { report(".value must be a leaf") }
      specials[top].value = node
    case ".sv":
      let value = try scanner.value(depth: depth)
      if specials[top].deferred == nil { specials[top].deferred = DeferredValue(json: value) }
    default:
      reportProblem(withKey: name)
      _ = try scanner.value(depth: depth)
    }
  }

  /// Pops the children of one node from the stacks.
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
      (ownKeys, ownNodes) = Self.sorted(keys: ownKeys, nodes: ownNodes)
    }
    guard !ownKeys.isEmpty else { return .empty }
    return .children(
      NodeChildren(sortedKeys: ownKeys, nodes: ownNodes, priority: Priority(priority))
    )
  }

  /// Sorts by key and drops empty nodes; if a key occurs twice, the later child counts.
  private static func sorted(keys: [ChildKey], nodes: [Node]) -> ([ChildKey], [Node]) {
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
