/// When a reading was made, as far as that is known.
struct Period: Sendable {
  /// What was acknowledged by then is in the reading; nil for everything.
  let start: Moment?
  /// What began after this is not in the reading; nil for nothing.
  let end: Moment?

  /// After everything.
  static let end = Period(start: nil, end: nil)

  /// Whether an operation must be in the reading.
  func hasSettled(_ operation: ClientOperation) -> Bool {
    guard let acknowledged = operation.acknowledged else { return false }
    return start.map { acknowledged <= $0 } ?? true
  }

  /// Whether an operation may be in the reading.
  func mayHaveBegun(_ operation: ClientOperation) -> Bool {
    if operation.isRefused { return false }
    return end.map { operation.invoked <= $0 } ?? true
  }
}
