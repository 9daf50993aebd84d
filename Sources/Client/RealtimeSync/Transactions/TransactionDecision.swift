package import RealtimeCore

/// What the update function of a transaction decides about the data it was given.
package enum TransactionDecision: Sendable {
  /// Write these data with just the priorities that they have.
  case commit(Node)
  /// Write nothing.
  case abort
}

/// Computes the new data of a transaction from the present ones; runs as often as the data change.
///
/// It runs inside the engine, so it must be quick and must not call back into it.
package typealias TransactionUpdate = @Sendable (Node) -> TransactionDecision
