internal import RealtimeCore

/// The rules of a location and of the locations below it.
final class RuleNode: Sendable {
  let read: Rule?
  let write: Rule?
  let validate: Rule?
  let indexes: [Index]
  private let literals: [ChildKey: RuleNode]
  /// The name of the wildcard with its dollar sign, and its node.
  let wildcard: (name: String, node: RuleNode)?
  /// Whether there is a `.validate` anywhere below this location.
  private let hasValidationBelow: Bool
  /// Whether clients that have not signed in may be able to write at or below this location.
  let mayLetNobodyWrite: Bool
  private let lent: Lent<RulePlan>
  /// What the plan borrows.
  private let lenders: [any AnyObject & Sendable]

  init(
    read: Rule? = nil,
    write: Rule? = nil,
    validate: Rule? = nil,
    indexes: [Index] = [],
    literals: [ChildKey: RuleNode] = [:],
    wildcard: (name: String, node: RuleNode)? = nil,
    names: RuleNames = .none
  ) {
    self.read = read
    self.write = write
    self.validate = validate
    self.indexes = indexes
    self.literals = literals
    self.wildcard = wildcard
    let validatesAllChildren = wildcard?.node.hasValidation == true
    hasValidationBelow = validatesAllChildren || literals.values.contains { $0.hasValidation }
    mayLetNobodyWrite =
      write?.mayHoldForNobody == true || wildcard?.node.mayLetNobodyWrite == true
      || literals.values.contains { $0.mayLetNobodyWrite }
    let sorted = literals.sorted { $0.key < $1.key }
    let keys = Lent(sorted.map(\.key))
    let texts = sorted.map { child in child.key.withUTF8 { Lent($0) } }
    let children = Lent(
      zip(texts, sorted).map {
        RulePlan.Child(
          name: LeafText($0.elements),
          plan: $1.value.plan,
          nameIndex: names[$1.key.text].map { Int($0) }
        )
      }
    )
    lent = Lent([
      RulePlan(
        read: read.map { RulePlan.Entry($0) },
        write: write.map { RulePlan.Entry($0) },
        validate: validate.map { RulePlan.Entry($0) },
        keepable: validate?.program.borrowed.pointee.keepable ?? [],
        children: children.elements,
        keys: keys.elements,
        names: names.texts,
        ruledNames: children.elements.reduce(0) { $0 | $1.mask },
        wildcard: wildcard?.node.plan,
        hasValidationBelow: hasValidationBelow,
        validatesAllChildren: validatesAllChildren
      )
    ])
    lenders = [names, keys, children] + texts
  }

  /// The rules in the form that evaluation uses, valid as long as the node is retained.
  var plan: UnsafePointer<RulePlan> { lent.pointer }

  private var hasValidation: Bool { validate != nil || hasValidationBelow }

  /// The rules of a child: those for its name, or else those of the wildcard.
  func child(_ key: ChildKey) -> RuleNode? { literals[key] ?? wildcard?.node }
}

/// The rules of a location in the form that evaluation uses: without references to count.
///
// Safety: a plan is used only while the rules, and with them everything it borrows, are retained.
struct RulePlan {
  struct Entry {
    let program: UnsafePointer<RuleProgram.Code>
    let rule: Unmanaged<Rule>

    init(_ rule: Rule) {
      program = rule.program.borrowed
      self.rule = Unmanaged.passUnretained(rule)
    }
  }

  struct Child {
    let name: LeafText
    let plan: UnsafePointer<RulePlan>
    /// The position of the child among the names of the location; nil if there are no names.
    let nameIndex: Int?
    /// The bit of that position.
    let mask: RuleNames.Mask

    init(name: LeafText, plan: UnsafePointer<RulePlan>, nameIndex: Int?) {
      self.name = name
      self.plan = plan
      self.nameIndex = nameIndex
      mask = nameIndex.map { 1 << $0 } ?? 0
    }
  }

  /// Up to this many children, a linear search is faster than a binary one.
  private static let few = 64

  let read: Entry?
  let write: Entry?
  let validate: Entry?
  /// The kinds of leaves for which `validate` certainly holds if they are unchanged.
  let keepable: LeafKinds
  /// The named children, in key order.
  let children: UnsafeBufferPointer<Child>
  fileprivate let keys: UnsafeBufferPointer<ChildKey>
  /// The children that are looked up together.
  let names: UnsafeBufferPointer<LeafText>
  /// Those of the names that have rules.
  let ruledNames: RuleNames.Mask
  fileprivate let wildcard: UnsafePointer<RulePlan>?
  let hasValidationBelow: Bool
  /// Whether the wildcard has a `.validate` at or below it, so that every child must be visited.
  let validatesAllChildren: Bool

  /// The rules of a child, if there are any: those for its name, or else those of the wildcard.
  ///
  /// The child at the guessed index is tried first. On success, the guess becomes the index of the
  /// next child, so that looking up children in key order is fast.
  ///
  /// - Complexity: O(log children)
  func child(_ key: LeafText, guess: inout Int) -> UnsafePointer<RulePlan>? {
    if guess < children.count, children[guess].name.hasSameBytes(as: key) {
      guess += 1
      return children[guess - 1].plan
    }
    if children.count <= Self.few {
      for index in children.indices where children[index].name.hasSameBytes(as: key) {
        guess = index + 1
        return children[index].plan
      }
      return wildcard
    }
    let wanted = ChildKey(key)
    let index = keys.partitioningIndex { !($0 < wanted) }
    guard index < children.count, keys[index] == wanted else { return wildcard }
    guess = index + 1
    return children[index].plan
  }
}

extension LeafText {
  /// Compares short texts, which are rarely equal, without a function call.
  @inline(__always)
  fileprivate func hasSameBytes(as other: LeafText) -> Bool {
    let count = utf8.count
    guard count == other.utf8.count else { return false }
    var index = 0
    while index < count, utf8[index] == other.utf8[index] { index += 1 }
    return index == count
  }
}

final class Rule: Sendable {
  let kind: RuleKind
  let path: String
  /// The wildcards in the path, and the frames whose keys they match.
  let captures: [(name: String, frame: Int)]
  /// The expression as it was written.
  let source: String
  /// The start of the expression in the document.
  let position: SourcePosition
  let program: RuleProgram
  /// Whether the result depends only on the client and the request.
  let isLasting: Bool
  /// Whether it may hold for clients that have not signed in.
  let mayHoldForNobody: Bool

  init(
    kind: RuleKind,
    path: [String],
    source: String,
    position: SourcePosition,
    expression: Expression,
    names: RuleNames = .none
  ) {
    self.kind = kind
    self.path = "/" + path.joined(separator: "/")
    captures = path.indices.filter { path[$0].utf8.first == UInt8(ascii: "$") }
      .map { (name: path[$0], frame: $0 + 1) }
    self.source = source
    self.position = position
    program = RuleProgram(expression, at: path, names: names)
    isLasting = !expression.dependsOnDataOrTime
    mayHoldForNobody = expression.mayHoldForNobody
  }
}
