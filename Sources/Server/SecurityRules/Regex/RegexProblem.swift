/// A mistake in a regular expression, at a character counted from the start of the pattern.
struct RegexProblem: Error {
  let message: String
  let index: Int
}
