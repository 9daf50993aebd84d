/// A mistake in a rules document, at a character counted from its start.
struct RuleProblem: Error {
  let offset: Int
  let message: String

  init(_ message: String, at offset: Int) {
    self.offset = offset
    self.message = message
  }
}
