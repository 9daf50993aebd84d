/// A reason why a text is not the URL of a database.
package struct DatabaseURLError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, and how it should look.
  package let description: String

  init(_ url: String, _ reason: String) {
    description = "\"\(url)\" is not the URL of a database: \(reason)"
  }
}
