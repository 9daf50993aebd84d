internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport

/// One open connection of a database; confined to the server's event loop.
///
/// What the client says waits in the inbox for its turn, and until what it has asked for before has
/// been encoded. What it is to be sent waits behind that as well, so that it is told everything in the
/// order of the hub.
final class Session: TurnTaker {
  /// Why nothing more is read from a client for a while.
  enum Pause: Hashable {
    /// Much of what it has sent waits for the disk.
    case unsettled
    /// Much of what it is sent waits for it.
    case congested
    /// Much of what it has sent waits for its turn.
    case turn
    /// Its user has written too much too quickly.
    case writeRate
    /// What it asks for would take more memory than there is.
    case memory
    /// The server is stopping.
    case leaving
  }

  /// A message of the client.
  enum Incoming {
    case text([UInt8])
    /// One that has been read, and how many bytes it had.
    case decoded(Result<ClientMessage, MessageError>, length: Int)
    /// A message with the hash of the data that it compares.
    case compared(ClientMessage, Node, hash: String, length: Int)
  }

  /// Something to be sent to the client.
  enum Outgoing {
    /// A message of the hub, which is held back or left out while the client does not keep up.
    case message([UInt8])
    /// A message that was held back long enough.
    case kept([UInt8])
    /// What is yet to be encoded.
    case composition(Composition, isKept: Bool)
    /// The goodbye.
    case end(code: UInt16, reason: String)
  }

  let peer: PeerID
  let connection: ServerConnection
  /// The name that the client was told.
  let name: String
  /// When it was opened.
  let begin = NIODeadline.now()
  let account = CostAccount()
  var isWaiting = false
  private weak var core: DatabaseCore?
  /// What the client has said and nobody has looked at.
  var inbox = CircularBuffer<Incoming>()
  /// What is to be sent once something has been encoded.
  var outgoing = CircularBuffer<Outgoing>()
  /// The bytes of the messages among it.
  var outgoingBytes = 0
  /// Whether a message of the client is being decoded, or what it compares.
  var isDecoding = false
  /// Whether something for the client is being encoded.
  var isComposing = false
  /// Whether the client has gone, so that the session ends with what it has said.
  var isGone = false
  /// Messages taken since the last batch was stored.
  var unsettledMessages = 0
  /// The bytes of these messages.
  var unsettledBytes = 0
  /// The longest message that it may send.
  var messageBytes = 0
  /// A request whose answer there is no memory for; nothing follows it until it is taken.
  var heldBack: (message: ClientMessage, length: Int)?
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

  init(_ peer: PeerID, of core: DatabaseCore, connection: ServerConnection, name: String) {
    self.peer = peer
    self.core = core
    self.connection = connection
    self.name = name
  }

  var isReady: Bool {
    !inbox.isEmpty && !isDecoding && !isComposing && backlog == nil && heldBack == nil
  }

  func takeTurn() {
    core?.takeNext(of: self)
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
