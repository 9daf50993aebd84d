/// Names one connection of a hub, never to be used again for another.
package struct PeerID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number of the connection.
  package let number: Int

  /// Makes an identifier of a number that no other connection of the hub has had.
  package init(_ number: Int) {
    self.number = number
  }

  package static func < (left: PeerID, right: PeerID) -> Bool { left.number < right.number }

  package var description: String { "peer \(number)" }
}
