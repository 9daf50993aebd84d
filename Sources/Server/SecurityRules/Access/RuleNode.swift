internal import RealtimeCore

/// The rules of a location, and those below it.
final class RuleNode: Sendable {
  let read: Rule?
  let write: Rule?
  let validate: Rule?
  let indexes: [Index]
  let literals: RuleChildren
  /// The name of the wildcard with its dollar sign, and its rules.
  let wildcard: (name: String, node: RuleNode)?
  /// Whether there is a `.validate` anywhere below this location.
  let hasValidationBelow: Bool
  /// Whether there is one for the wildcard or below it, so that no child can be left out.
  let validatesAllChildren: Bool
  /// Whether who has not signed in may be able to write something at this location or below.
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

  /// Whether there is a `.validate` at this location or below.
  private var hasValidation: Bool { validate != nil || hasValidationBelow }

  /// The rules of a child: those of its own name, or else those of the wildcard.
  func child(_ key: LeafText) -> (node: RuleNode, isCaptured: Bool)? {
    if let literal = literals[key] { return (literal, false) }
    return wildcard.map { ($0.node, true) }
  }
}
