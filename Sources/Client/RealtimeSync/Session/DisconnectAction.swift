import RealtimeCore

/// A change of what happens at the end of the connection, not answered yet.
struct DisconnectAction: Sendable {
  enum Kind: Sendable {
    case schedule(WriteOperation)
    case cancel
  }

  let token: RequestToken
  let path: Path
  let kind: Kind
}
