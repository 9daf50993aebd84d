internal import RealtimeTree

/// What becomes durable when the batch that is being stored is.
struct BatchInFlight: Sendable {
  let revision: Int64
  let root: Node
  let ledger: [LedgerEntry]
}
