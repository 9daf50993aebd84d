/// A reason why an expression has no value, which makes the whole rule false.
struct EvaluationError: Error {
  let message: String
  /// Where in the document, or nil when no place is to blame.
  let offset: Int?

  init(_ message: String, at offset: Int?) {
    self.message = message
    self.offset = offset
  }
}
