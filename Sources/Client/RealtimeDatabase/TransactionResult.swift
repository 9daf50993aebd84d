package import RealtimeCore

/// What the block of a transaction decides.
public struct TransactionResult: Sendable {
  package enum Verdict: Sendable {
    case commit(Node, problem: DatabaseError?)
    case abort
  }

  package let verdict: Verdict

  /// Stores the data, unless they have changed meanwhile: then the block runs again.
  public static func success(withValue value: MutableData) -> TransactionResult {
    TransactionResult(verdict: .commit(value.node, problem: value.problem))
  }

  /// Changes nothing.
  public static func abort() -> TransactionResult {
    TransactionResult(verdict: .abort)
  }
}
