/// The limits on rules documents and on the cost of checking a request.
package enum RulesLimits {
  /// Maximum length of a rules document, in bytes of UTF-8.
  package static let sourceBytes = 1_024 * 1_024
  /// Maximum nesting depth of objects in a rules document.
  static let documentDepth = 64
  /// Maximum length of an expression, in characters.
  package static let expressionLength = 16_384
  /// Maximum nesting depth of an expression.
  package static let expressionDepth = 100
  /// Maximum number of states of a compiled regular expression.
  static let regexStates = 4_096
  /// Maximum nesting depth of groups in a regular expression.
  package static let regexDepth = 32
  /// Maximum number of steps of one request, counting evaluated expressions, visited nodes and
  /// compared text together.
  ///
  /// A step takes at most about 20 ns, whatever a rule does, so no request blocks the others for
  /// longer than some tens of milliseconds.
  package static let steps = 2_000_000
  /// The number of bytes of copied or compared text that count as one step.
  static let bytesPerStep = 8
  /// The cost of looking up a child.
  static let stepsPerKey = 8
  /// The cost of formatting a number.
  static let stepsPerNumber = 64
  /// Maximum number of rules that an explanation lists.
  static let listedEvaluations = 200
}
