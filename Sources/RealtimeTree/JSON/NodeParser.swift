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
/// Children that are being read lie on two stacks, so that each map is made of arrays of the right
/// size, and nothing in between is made at all.
struct NodeParser {
  private var scanner: JSONScanner
  private var keys: [ChildKey] = []
  private var nodes: [Node] = []
  /// The first thing that is JSON and no data; it counts only when all of the text is JSON.
  private var problem: NodeError?

  private init(_ scanner: JSONScanner) {
    self.scanner = scanner
  }

  /// Reads a whole text as one node.
  ///
  /// - Complexity: O(bytes), for children out of order O(n log n)
  static func parse(_ scanner: JSONScanner) throws(NodeParserError) -> Node {
    var parser = NodeParser(scanner)
    let node: Node
    do throws(JSONError) {
      node = try parser.node(depth: 0)
      try parser.scanner.finish()
    } catch {
      throw .syntax(error)
    }
    if let problem = parser.problem { throw .data(problem) }
    return node
  }

  private mutating func report(_ description: String) {
    problem = problem ?? NodeError(description: description)
  }

  private mutating func node(depth: Int) throws(JSONError) -> Node {
    switch try scanner.start(depth: depth) {
    case .object: return try object(depth: depth)
    case .array: return try array(depth: depth)
    case .string: return .leaf(.string(try scanner.string()), priority: nil)
    case .yes: return .leaf(.bool(true), priority: nil)
    case .no: return .leaf(.bool(false), priority: nil)
    case .null: return .empty
    case .number:
      switch try scanner.number() {
      case .integer(let value): return .leaf(.integer(value), priority: nil)
      case .double(let value): return .leaf(LeafValue(number: value), priority: nil)
      }
    }
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

  private mutating func object(depth: Int) throws(JSONError) -> Node {
    if scanner.endsAtOnce(UInt8(ascii: "}")) { return .empty }
    let start = keys.count
    var isAscending = true
    var special = SpecialMembers()
    repeat {
      let name = try scanner.name()
      if name.utf8.first == UInt8(ascii: ".") {
        try specialMember(name, &special, depth: depth + 1)
        continue
      }
      let key = ChildKey(name)
      let node = try node(depth: depth + 1)
      if keys.count > start, !(keys[keys.count - 1] < key) { isAscending = false }
      keys.append(key)
      nodes.append(node)
    } while try scanner.continues(UInt8(ascii: "}"), in: "an object")
    let children = children(from: start, isAscending: isAscending, priority: special.priority)
    if let deferred = special.deferred { return .leaf(.deferred(deferred), priority: nil) }
    if let value = special.value, !value.isEmpty { return value.withPriority(special.priority) }
    return children
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
