/// Names one listener of the caller; never used twice in the life of an engine.
package struct ListenerID: Hashable, Sendable {
  /// The number the caller chose.
  package let number: Int64

  /// Makes a name.
  package init(_ number: Int64) {
    self.number = number
  }
}
