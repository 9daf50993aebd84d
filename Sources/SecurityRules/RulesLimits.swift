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
  package static let steps = 10_000_000
  /// Bytes of text that count as one step where text is copied or compared.
  static let bytesPerStep = 16
  /// Most rules that an explanation lists.
  static let listedEvaluations = 200
}
