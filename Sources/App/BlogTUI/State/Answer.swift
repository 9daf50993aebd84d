/// What can be answered to a question.
package enum Answer: Hashable, Sendable {
  /// Nothing changes.
  case cancel
  /// What was asked about disappears.
  case delete
  /// What was typed is kept for later.
  case keep
  /// What was typed is thrown away.
  case discard
  /// The program ends; what was typed is kept on disk.
  case quit

  /// Whether something is gone afterwards; such an answer never comes from one key alone.
  var isDestructive: Bool {
    switch self {
    case .delete, .discard: true
    case .cancel, .keep, .quit: false
    }
  }
}
