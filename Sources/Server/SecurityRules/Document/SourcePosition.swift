/// A place in a rules document.
package struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  package let line: Int
  /// The column in characters (Unicode scalars), counted from 1.
  package let column: Int

  /// Makes a place.
  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package var description: String { "\(line):\(column)" }
}
