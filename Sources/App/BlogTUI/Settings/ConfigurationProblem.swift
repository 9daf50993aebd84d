/// What is wrong with a line of a configuration file; the line has no effect.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible, Codable {
  /// The file, or where else the value comes from.
  package let source: String
  /// The line, counted from 1; nil where there are no lines.
  package let line: Int?
  /// What is wrong and what would be right.
  package let reason: String

  /// Makes a problem.
  package init(source: String, line: Int?, reason: String) {
    self.source = source
    self.line = line
    self.reason = reason
  }

  /// The place, as compilers write it, and the reason.
  package var description: String {
    line.map { "\(source):\($0): \(reason)" } ?? "\(source): \(reason)"
  }
}
