package import RealtimeCore

/// A reason why data cannot be imported.
package struct ImportError: Error, Sendable, CustomStringConvertible {
  /// What is wrong.
  package let reason: String
  /// Where in the data it is.
  package let path: Path

  init(_ reason: String, at path: Path) {
    self.reason = reason
    self.path = path
  }

  package var description: String { "\(reason) (at \(path))" }
}
