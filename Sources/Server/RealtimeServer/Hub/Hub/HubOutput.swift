package import RealtimeCore

/// An action that the owner of a hub must carry out, in the order in which the hub returns them.
package enum HubOutput: Sendable, Equatable {
  case send(PeerID, HubMessage)
  /// Send several peers the same message. The owner skips peers that have closed in the meantime.
  case broadcast([PeerID], HubMessage)
  /// Hand a message to a peer that lives in the server. Pushes of changes still come as bytes.
  ///
  /// Indirect, since it is rare and large and must not enlarge the other cases.
  indirect case deliver(PeerID, ServerMessage)
  /// Encode a large amount of data for a peer, and send the messages at this point in the order.
  ///
  /// Indirect, since it is rare as well.
  indirect case compose(PeerID, Composition)
  /// Send a peer what has been produced for it so far, then close its connection.
  ///
  /// The hub ignores further messages from the peer and waits for ``TreeHub/close(_:at:)``.
  case disconnect(PeerID, DisconnectReason)
}

/// Why a hub ends a connection.
package enum DisconnectReason: Sendable, Equatable, CustomStringConvertible {
  /// The data the peer was about to see could not be stored. On reconnection it sees what is
  /// stored.
  case storageFailed(String)

  package var description: String {
    switch self {
    case .storageFailed(let reason): "the data could not be stored: \(reason)"
    }
  }
}

/// What the owner of a hub must attend to after a call.
package struct HubAgenda: Sendable {
  /// Whether anything waits to be stored.
  package let hasPendingCommits: Bool
  /// When the next credential expires, in milliseconds since 1970, or nil when none does.
  package let nextDeadline: Int64?
  /// The path of a request that was refused because the rules took too many steps, reported once.
  package let exhaustedPath: Path?
}
