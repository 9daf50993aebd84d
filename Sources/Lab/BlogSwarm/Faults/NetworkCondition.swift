package import NIOCore

/// What a network does to the connections of one process of clients.
package enum NetworkCondition: Hashable, Sendable {
  /// It delivers.
  case sound
  /// It ends the connections and lets no new one through.
  case cut
  /// It delivers what clients send and loses what the server answers.
  case deaf
  /// It delivers after a delay, in both directions.
  case late(TimeAmount)
  /// It delivers so many bytes a second to clients, who seem to read slowly.
  case slow(bytesPerSecond: Int)
}
