package import RealtimeCore

/// What a hub wants done, in this order.
package enum HubOutput: Sendable, Equatable {
  /// Send one whole message, JSON in UTF-8, to a peer; peers that get the same share the bytes.
  case send(PeerID, [UInt8])
  /// Send several peers the same message; the owner passes over those that are closed by then.
  case broadcast([PeerID], [UInt8])
  /// Hand a message to a peer that lives in the server; pushes of changes come as bytes, though.
  ///
  /// It is rare and large, and must not make the others large.
  indirect case deliver(PeerID, ServerMessage)
  /// Encode what a peer is told of much data, and send it the messages in the place that this has.
  ///
  /// It is rare, as a message handed over is.
  indirect case compose(PeerID, Composition)
  /// Send a peer what has been produced for it so far, then close its connection.
  ///
  /// The hub ignores what the peer still says, and waits for the call of ``TreeHub/close(_:at:)``.
  case disconnect(PeerID, DisconnectReason)
}

/// Why a hub ends a connection.
package enum DisconnectReason: Sendable, Equatable, CustomStringConvertible {
  /// What the peer was to see could not be stored; when it comes back it sees what is stored.
  case storageFailed(String)

  package var description: String {
    switch self {
    case .storageFailed(let reason): "the data could not be stored: \(reason)"
    }
  }
}

/// What the owner of a hub has to see to after a call.
package struct HubAgenda: Sendable {
  /// Whether anything waits to be stored.
  package let hasPendingCommits: Bool
  /// When the next credential ends, in milliseconds since 1970, or nil when none does.
  package let nextDeadline: Int64?
}
