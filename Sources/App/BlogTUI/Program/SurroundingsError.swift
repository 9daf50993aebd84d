/// Why something outside of the program was not done.
package struct SurroundingsError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nothing of the kind can be done here.
  package static let unavailable = SurroundingsError("That is not possible here.")

  /// What went wrong, why, and what to do.
  package let description: String

  /// Makes an error.
  package init(_ description: String) {
    self.description = description
  }
}
