/// What a request may still cost.
struct StepBudget {
  private var remaining: Int

  init(_ steps: Int) {
    remaining = steps
  }

  /// Whether a request has cost more than it may.
  var isExhausted: Bool { remaining < 0 }

  mutating func spend(_ steps: Int) throws(EvaluationError) {
    if remaining >= 0 { remaining = steps > remaining ? -1 : remaining - steps }
    if remaining < 0 {
      throw EvaluationError("the request takes more steps than rules may", at: nil)
    }
  }

  /// Counts text that is copied or compared.
  mutating func spend(bytes: Int) throws(EvaluationError) {
    try spend(bytes / RulesLimits.bytesPerStep + 1)
  }
}
