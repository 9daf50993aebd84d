/// Names one attempt to connect; what the transport of an older attempt reports is ignored.
package struct ConnectionID: Hashable, Sendable {
  /// Counts the attempts of one engine, from 1.
  package let number: Int64

  /// Makes a name.
  package init(_ number: Int64) {
    self.number = number
  }
}
