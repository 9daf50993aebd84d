internal import RealtimeTree

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
    let below = literals.values + [wildcard?.node].compactMap(\.self)
    hasValidationBelow = below.contains { $0.validate != nil || $0.hasValidationBelow }
  }

  /// The rules of a child: those of its own name, or else those of the wildcard.
  func child(_ key: LeafText) -> (node: RuleNode, isCaptured: Bool)? {
    if let literal = literals[key] { return (literal, false) }
    return wildcard.map { ($0.node, true) }
  }
}
