/// One rule of a document, ready to be evaluated.
final class Rule: Sendable {
  let kind: RuleKind
  /// The location of the rule, wildcards by name, such as `/posts/$post`.
  let path: String
  /// The expression as it was written.
  let source: String
  /// Where the expression starts in the document.
  let position: SourcePosition
  /// The expression as it is computed.
  let program: RuleProgram
  /// Whether the result depends on nothing but who asks for what.
  let isLasting: Bool
  /// Whether it may allow something to who has not signed in.
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
