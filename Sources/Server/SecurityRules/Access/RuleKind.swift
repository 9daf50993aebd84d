/// What a rule decides.
package enum RuleKind: String, Hashable, Sendable {
  /// Whether data may be read.
  case read = ".read"
  /// Whether data may be written.
  case write = ".write"
  /// Whether data have the right form.
  case validate = ".validate"
}
