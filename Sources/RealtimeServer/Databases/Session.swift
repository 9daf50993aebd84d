internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

/// One open connection of a database; confined to the server's event loop.
final class Session {
  /// Why nothing more is read from a client for a while.
  enum Pause: Hashable {
    /// Much of what it has sent waits for the disk.
    case unsettled
    /// Much of what it is sent waits for it.
    case congested
    /// Its user has written too much too quickly.
    case writeRate
    /// The server is stopping.
    case leaving
  }

  let peer: PeerID
  let connection: ServerConnection
  /// The name that the client was told.
  let name: String
  /// Messages taken since the last batch was stored.
  var unsettledMessages = 0
  /// Why it has to wait; empty when it is read from.
  var pauses: Set<Pause> = []
  /// What is held back from a client that does not keep up; nil while it does.
  var backlog: Backlog?
  /// Ends the wait of one whose user has written too much.
  var writeWait: Scheduled<Void>?
  /// Ends the connection unless it has signed in by then.
  var signInDeadline: Scheduled<Void>?
  /// The signed-in user that the connection counts for.
  var user: String?

  init(_ peer: PeerID, connection: ServerConnection, name: String) {
    self.peer = peer
    self.connection = connection
    self.name = name
  }

  /// A new name: 32 letters and digits that nobody can guess.
  static func makeName() -> String {
    var generator = SystemRandomNumberGenerator()
    return String(
      (0..<32).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] }
    )
  }

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  )
}
