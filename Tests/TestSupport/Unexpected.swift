/// What a test has found instead of what it needs to go on, in words.
package struct Unexpected: Error, CustomStringConvertible {
  package let description: String

  /// Says what is wrong.
  package init(_ description: String) { self.description = description }
}
