internal import RealtimeCore

/// What rules are asked about, the same for all of them.
struct RuleRequest {
  /// Who asks.
  let subject: RuleSubject
  /// The time in milliseconds since 1970.
  let now: Double
  /// All data as they are.
  let root: NodeView
  /// All data as they would be; nil for a read.
  let newRoot: NodeView?
  /// What is read; nil for a write.
  let query: Query?
}
