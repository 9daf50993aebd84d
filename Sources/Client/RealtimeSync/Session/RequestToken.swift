/// Names one request of the caller whose completion will be reported; never used twice.
package struct RequestToken: Hashable, Sendable {
  /// The number the caller chose.
  package let number: Int64

  /// Makes a name.
  package init(_ number: Int64) {
    self.number = number
  }
}
