/// The bounds that keep rules, and requests checked by them, from costing too much.
package enum RulesLimits {
  /// Longest rules document, in bytes of UTF-8.
  package static let sourceBytes = 1_024 * 1_024
  /// Deepest nesting of objects in a rules document.
  package static let documentDepth = 64
  /// Longest expression, in characters.
  package static let expressionLength = 16_384
  /// Deepest nesting of an expression.
  package static let expressionDepth = 100
  /// Most states of a compiled regular expression.
  package static let regexStates = 4_096
  /// Deepest nesting of groups in a regular expression.
  package static let regexDepth = 32
  /// Most steps that one request may take: expressions, visited nodes and compared text together.
  ///
  /// What counts as a step takes about 20 ns at the most, whatever a rule does, so that nobody waits for
  /// one request for longer than some tens of milliseconds.
  package static let steps = 2_000_000
  /// Bytes of text that count as one step where text is copied or compared.
  static let bytesPerStep = 8
  /// What it counts to find the place that a key leads to.
  static let stepsPerKey = 8
  /// What it counts to write a number as text.
  static let stepsPerNumber = 64
  /// Most rules that an explanation lists.
  static let listedEvaluations = 200
}
