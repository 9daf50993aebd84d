package import NIOCore

package struct TransportLimits: Sendable {
  /// The longest WebSocket frame that is read, in bytes.
  package var frameBytes: Int
  /// The longest message that is read, in bytes.
  package var messageBytes: Int
  package var messageFrames: Int
  /// How long a message may take from its first to its last frame.
  package var reassembly: TimeAmount = .seconds(30)
  /// The waiting output at which the connection counts as congested, in bytes.
  package var congestionBytes = 8 * 1_024 * 1_024
  /// The most output that may wait for the other end to read, in bytes.
  package var pendingBytes = 64 * 1_024 * 1_024
  /// How long the other end may read nothing while output is waiting for it.
  package var stall: TimeAmount = .seconds(10)
  /// How long a connection may take to open.
  package var handshake: TimeAmount
  /// The longest header of a handshake, in bytes, over all lines.
  package var headerBytes = 8 * 1_024
  /// The most lines in the header of a handshake.
  package var headerLines = 64
  /// The longest body of a plain HTTP request, in bytes.
  package var bodyBytes = 16 * 1_024 * 1_024
  /// How long a plain HTTP request may take to arrive.
  package var request: TimeAmount = .seconds(30)
  /// How long a connection may wait for its next plain HTTP request.
  package var keepAlive: TimeAmount = .seconds(60)
  /// How long a long-polling client may make no request.
  package var silence: TimeAmount = .seconds(60)
  /// The most simultaneous connections of a listener, including those that have not finished their
  /// handshake.
  package var connections = 4_096
  /// The most simultaneous connections of a listener from one IPv4 address, or from the IPv6
  /// addresses with the same first 64 bits.
  package var connectionsPerAddress = Int.max

  /// The limits of a client: it accepts as much as a server may send.
  package static let client = TransportLimits(
    frameBytes: 256 * 1_024 * 1_024,
    messageBytes: 256 * 1_024 * 1_024,
    messageFrames: 16_384,
    handshake: .seconds(30)
  )

  /// The limits of a server: it accepts as much as one write may contain.
  package static let server = TransportLimits(
    frameBytes: 64 * 1_024,
    messageBytes: 16 * 1_024 * 1_024,
    messageFrames: 1_024,
    handshake: .seconds(10)
  )
}

/// A value that all connections share, so that none of them needs a copy.
@dynamicMemberLookup
final class Shared<Value: Sendable>: Sendable {
  private let value: Value

  init(_ value: Value) {
    self.value = value
  }

  subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}
