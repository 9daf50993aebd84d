internal import RealtimeCore

/// Why a text is not a rules document, and where.
package struct RulesError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line of the mistake, counted from 1.
  package let line: Int
  /// The column of the mistake in characters (Unicode scalars), counted from 1.
  package let column: Int
  /// What is wrong and what was expected.
  package let message: String

  package var description: String { "line \(line), column \(column): \(message)" }
}

/// A mistake in a rules document, at an offset in characters from its start.
struct RuleProblem: Error {
  let offset: Int
  let message: String

  init(_ message: String, at offset: Int) {
    self.offset = offset
    self.message = message
  }
}

package struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
  package let line: Int
  package let column: Int

  package var description: String { "\(line):\(column)" }
}

/// The starts of the lines of a rules document, which turn offsets into lines and columns.
struct SourceMap: Sendable {
  private let lineStarts: [Int]

  init(_ source: [Unicode.Scalar]) {
    var starts = [0]
    for (offset, scalar) in source.enumerated() where scalar == "\n" { starts.append(offset + 1) }
    lineStarts = starts
  }

  /// The position of the character at an offset.
  func position(of offset: Int) -> SourcePosition {
    let line = lineStarts.partitioningIndex { $0 > offset }
    return SourcePosition(line: line, column: offset - lineStarts[line - 1] + 1)
  }

  func error(_ problem: RuleProblem) -> RulesError {
    let position = position(of: problem.offset)
    return RulesError(line: position.line, column: position.column, message: problem.message)
  }
}
