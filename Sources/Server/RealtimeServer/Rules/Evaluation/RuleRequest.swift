internal import RealtimeCore

/// The request for which rules are evaluated: without references to count.
///
// Safety: as for `NodeView`; the caller also retains the subject and the query.
struct RuleRequest {
  let client: RuleClient
  /// The time in milliseconds since 1970.
  let now: Double
  /// All current data.
  let root: NodeView
  /// All data after the write; nil for a read.
  let newRoot: NodeView?
  /// The query of a read; nil for a write.
  var query: UnsafePointer<Query>?
}

/// A location on the path from the root to the rule being evaluated.
struct RuleFrame {
  /// The last key of the location; empty at the root.
  let key: LeafText
  /// The current data.
  let node: NodeView
  /// The data after the write; empty for a read.
  let newNode: NodeView
  /// The start of the table of the named children.
  var table = RuleFrame.noTableYet
  /// The named children that are present in the table, in the current and in the new data.
  var present = RuleNames.Mask(0)
  var newPresent = RuleNames.Mask(0)

  /// No table has been requested so far.
  static let noTableYet: Int32 = -1
  /// There is no table, since the data is not packed.
  static let hasNoTable: Int32 = -2
}

/// The steps that a request may still take.
struct StepBudget {
  private var remaining: Int

  init(_ steps: Int) {
    remaining = steps
  }

  /// Whether the request has exceeded its steps.
  var isExhausted: Bool { remaining < 0 }

  @inline(__always)
  mutating func spend(_ steps: Int) throws(EvaluationError) {
    guard steps <= remaining else { throw exhaust() }
    remaining -= steps
  }

  /// Spends steps and returns true, or leaves them and returns false if there are too few.
  @inline(__always)
  mutating func spendIfAble(_ steps: Int) -> Bool {
    guard steps <= remaining else { return false }
    remaining -= steps
    return true
  }

  /// Takes away all steps.
  @inline(never)
  mutating func exhaust() -> EvaluationError {
    remaining = -1
    return EvaluationError("the rules take too many steps for this request", at: nil)
  }

  /// Spends steps for copying or comparing text.
  mutating func spend(bytes: Int) throws(EvaluationError) {
    try spend(bytes / RulesLimits.bytesPerStep + 1)
  }
}

/// Why an expression has no value, which makes the whole rule false.
struct EvaluationError: Error {
  let message: String
  /// The offset in the document, or nil if no particular expression is to blame.
  let offset: Int?

  init(_ message: String, at offset: Int?) {
    self.message = message
    self.offset = offset
  }
}
