/// Why a recording cannot be replayed.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  package let line: Int
  /// What is wrong with it.
  package let reason: String

  /// The line and the reason.
  package var description: String { "line \(line): \(reason)" }
}
