internal import RealtimeTree
internal import SecurityRules

/// What becomes durable when the batch that is being stored is.
struct BatchInFlight: Sendable {
  let revision: Int64
  /// Up to where outputs may leave then.
  let step: Int64
  let root: Node
  let rules: RuleSet
  let ledger: [LedgerEntry]
  let scheduled: [ScheduledWrites]
}
