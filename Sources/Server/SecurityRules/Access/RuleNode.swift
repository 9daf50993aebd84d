internal import RealtimeCore

/// The rules of a location and of the locations below it.
final class RuleNode: Sendable {
  let read: Rule?
  let write: Rule?
  let validate: Rule?
  let indexes: [Index]
  let literals: RuleChildren
  /// The name of the wildcard with its dollar sign, and its node.
  let wildcard: (name: String, node: RuleNode)?
  /// Whether there is a `.validate` anywhere below this location.
  let hasValidationBelow: Bool
  /// Whether the wildcard has a `.validate` at or below it, so that every child must be visited.
  let validatesAllChildren: Bool
  /// Whether clients that have not signed in may be able to write at or below this location.
  let mayLetNobodyWrite: Bool

  init(
    read: Rule? = nil,
    write: Rule? = nil,
    validate: Rule? = nil,
    indexes: [Index] = [],
    literals: [ChildKey: RuleNode] = [:],
    wildcard: (name: String, node: RuleNode)? = nil
  ) {
    self.read = read
    self.write = write
    self.validate = validate
    self.indexes = indexes
    self.literals = RuleChildren(literals)
    self.wildcard = wildcard
    validatesAllChildren = wildcard?.node.hasValidation == true
    hasValidationBelow = validatesAllChildren || literals.values.contains { $0.hasValidation }
    mayLetNobodyWrite =
      write?.mayHoldForNobody == true || wildcard?.node.mayLetNobodyWrite == true
      || literals.values.contains { $0.mayLetNobodyWrite }
  }

  /// Whether there is a `.validate` at or below this location.
  private var hasValidation: Bool { validate != nil || hasValidationBelow }

  /// The rules of a child: those of its name, or else those of the wildcard.
  func child(_ key: LeafText) -> (node: RuleNode, isCaptured: Bool)? {
    if let literal = literals[key] { return (literal, false) }
    return wildcard.map { ($0.node, true) }
  }
}

/// The rules of named children, in key order.
///
// Safety: `texts` retains the bytes that `names` borrow.
struct RuleChildren: @unchecked Sendable, Sequence {
  /// Up to this many keys, a linear search is faster than a binary one.
  private static let few = 8

  private let keys: [ChildKey]
  /// The keys as text.
  private let names: Lent<LeafText>
  private let texts: [Lent<UInt8>]
  private let nodes: [RuleNode]

  init(_ children: [ChildKey: RuleNode]) {
    let sorted = children.sorted { $0.key < $1.key }
    keys = sorted.map(\.key)
    texts = keys.map { key in key.withUTF8 { Lent($0) } }
    names = Lent(texts.map { LeafText($0.elements) })
    nodes = sorted.map(\.value)
  }

  /// The number of children.
  var count: Int { keys.count }

  /// The rules of a child, or nil.
  ///
  /// - Complexity: O(log children)
  subscript(name: LeafText) -> RuleNode? {
    if keys.count <= Self.few {
      let names = names.elements
      for index in names.indices where names[index] == name { return nodes[index] }
      return nil
    }
    let key = ChildKey(name)
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? nodes[low] : nil
  }

  /// Iterates in key order; the names are borrowed from the rules.
  func makeIterator() -> Zip2Sequence<UnsafeBufferPointer<LeafText>, [RuleNode]>.Iterator {
    zip(names.elements, nodes).makeIterator()
  }
}

/// A compiled rule.
final class Rule: Sendable {
  let kind: RuleKind
  /// The location of the rule, wildcards by name, such as `/posts/$post`.
  let path: String
  /// The expression as it was written.
  let source: String
  /// Where the expression starts in the document.
  let position: SourcePosition
  /// The compiled expression.
  let program: RuleProgram
  /// Whether the result depends only on the client and the request.
  let isLasting: Bool
  /// Whether it may hold for clients that have not signed in.
  let mayHoldForNobody: Bool

  init(
    kind: RuleKind,
    path: String,
    source: String,
    position: SourcePosition,
    expression: Expression
  ) {
    self.kind = kind
    self.path = path
    self.source = source
    self.position = position
    program = RuleProgram(expression)
    isLasting = !expression.dependsOnDataOrTime
    mayHoldForNobody = expression.mayHoldForNobody
  }
}
