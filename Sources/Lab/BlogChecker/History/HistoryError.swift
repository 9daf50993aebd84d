/// Why a history cannot be read or written.
package struct HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong and where.
  package let description: String

  /// Makes an error.
  package init(_ description: String) {
    self.description = description
  }
}
