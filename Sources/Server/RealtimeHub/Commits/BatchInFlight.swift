internal import RealtimeCore
internal import SecurityRules

/// What becomes durable when a batch that has been taken is.
struct BatchInFlight: Sendable {
  /// How many commits it has.
  let commits: Int
  let revision: Int64
  /// Up to where outputs may leave then.
  let step: Int64
  let root: Node
  let rules: RuleSet
  let ledger: [LedgerEntry]
  let scheduled: [ScheduledWrites]
}
