/// A reason why a text is no rules document, with the place.
package struct RulesError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line of the mistake, counted from 1.
  package let line: Int
  /// The column of the mistake in characters (Unicode scalars), counted from 1.
  package let column: Int
  /// What is wrong and what was expected.
  package let message: String

  /// The place and the message in one line.
  package var description: String { "line \(line), column \(column): \(message)" }
}
