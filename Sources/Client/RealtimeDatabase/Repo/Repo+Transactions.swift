import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeSync

/// Transactions, as any thread asks for them.
extension Repo {
  nonisolated func transaction(
    _ reference: DatabaseReference,
    localEvents: Bool,
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    _ completion: @escaping TransactionCompletion
  ) {
    // What was assigned but cannot be stored stops the transaction with its own error.
    let problem = NIOLockedValueBox<DatabaseError?>(nil)
    let finish: TransactionCompletion = { error, committed, snapshot in
      completion(error ?? problem.withLockedValue { $0 }, committed, snapshot)
    }
    request(.transaction(reference, finish)) { token in
      .transaction(token, path: reference.path, appliesLocally: localEvents) { node in
        switch block(MutableData(node)).verdict {
        case .abort: return .abort
        case .commit(let node, let found):
          let invalid = Validation.problem(withWritten: node, at: reference.path).map {
            DatabaseError(
              DatabaseError.Code.invalidData,
              path: reference.path.description,
              reason: $0
            )
          }
          guard let error = found ?? invalid else { return .commit(node) }
          problem.withLockedValue { $0 = error }
          return .abort
        }
      }
    }
  }
}
