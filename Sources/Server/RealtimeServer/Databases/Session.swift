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
    /// Many of its messages wait for the disk.
    case unsettled
    /// It has much output to read.
    case congested
    /// Many of its messages wait for their turn.
    case turn
    /// Its user has written too much too quickly.
    case writeRate
    /// What it asks for would take more memory than there is.
    case memory
    /// The server is stopping.
    case leaving
  }

  /// A message of the client.
  ///
  /// The rare cases are indirect: every connection has room for several of these, and most are idle.
  enum Incoming {
    case text([UInt8])
    /// One that has been read, and how many bytes it had.
    indirect case decoded(Result<ClientMessage, MessageError>, length: Int)
    /// A message with the hash of the data that it compares.
    indirect case compared(ClientMessage, Node, hash: String, length: Int)
  }

  /// Something to be sent to the client; indirect for the same reason.
  enum Outgoing {
    /// A message of the hub, which is held back or left out while the client does not keep up.
    case message([UInt8])
    /// A message that was held back long enough.
    case kept([UInt8])
    /// What is yet to be encoded.
    indirect case composition(Composition, isKept: Bool)
    /// The goodbye.
    indirect case end(code: UInt16, reason: String)
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
  /// A request that waits for memory for its answer; later requests wait behind it.
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

/// What is held back from a client that does not keep up.
///
/// Changes are left out meanwhile. When it has caught up it is sent the answers that show data,
/// which are older than what follows; then the data of all its listens as they are now; then the
/// other answers, since what they acknowledge must have been seen before. The data may be so much that
/// it has to catch up again in between: listens are shown once more whose changes were left out then.
struct Backlog {
  /// Answers that show data.
  private(set) var readings: [Session.Outgoing] = []
  /// Everything else that is no change of data.
  private(set) var others: [Session.Outgoing] = []
  /// The listens whose data are still to be sent, the next one last.
  var listens: [ListenKey] = []
  /// Whether a change has been left out since these were found out.
  private var hasLeftOut = true

  /// Holds a message back, or leaves it out.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ message: [UInt8]) -> Bool {
    switch OutgoingKind(message) {
    case .change:
      hasLeftOut = true
      return false
    case .reading: readings.append(.kept(message))
    case .other: others.append(.kept(message))
    }
    return true
  }

  /// Holds a composition back; of a listen only the answer, as its data will follow anyway.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ composition: Composition) -> Bool {
    guard composition.isListen else {
      readings.append(.composition(composition, isKept: true))
      return true
    }
    hasLeftOut = true
    guard let answer = composition.acknowledgement else { return false }
    others.append(.kept(answer))
    return true
  }

  /// Takes the answers that show data.
  mutating func takeReadings() -> [Session.Outgoing] {
    defer { readings = [] }
    return readings
  }

  /// Begins to show all listens, if it has to be done once more.
  ///
  /// - Returns: Whether it has.
  mutating func showsAgain(_ all: () -> [ListenKey]) -> Bool {
    guard hasLeftOut else { return false }
    hasLeftOut = false
    listens = all().reversed()
    return true
  }
}

/// What kind of message a hub sends, as the order of its members shows, which is always the same.
enum OutgoingKind {
  /// A push of data, which newer data can take the place of.
  case change
  /// An answer that shows data.
  case reading
  /// An acknowledgement, a refusal, the end of a listen, and all others.
  case other

  init(_ message: [UInt8]) {
    if Self.changes.contains(where: message.starts) {
      self = .change
    } else if message.starts(with: Self.answer), !Self.ends.contains(where: message.hasSuffix),
      message.containsOK
    {
      self = .reading
    } else {
      self = .other
    }
  }

  private static let answer = Array(#"{"t":"d","d":{"r":"#.utf8)
  private static let changes = ["d", "m", "rm"].map {
    Array(#"{"t":"d","d":{"a":"\#($0)","#.utf8)
  }
  /// How answers end that are acknowledgements only.
  private static let ends = [#""d":""}}}"#, #""d":{}}}}"#, #""d":{"w":["no_index"]}}}}"#].map {
    Array($0.utf8)
  }
}

extension [UInt8] {
  fileprivate func starts(with prefix: [UInt8]) -> Bool {
    count >= prefix.count && self[..<prefix.count].elementsEqual(prefix)
  }

  fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
    count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
  }

  /// Whether an answer, after its number, tells of success.
  fileprivate var containsOK: Bool {
    let mark = Array(#""b":{"s":"ok""#.utf8)
    guard
      let comma = firstIndex(of: UInt8(ascii: "r")).flatMap({ self[$0...].firstIndex(of: 0x2C) })
    else { return false }
    return self[(comma + 1)...].starts(with: mark)
  }
}

/// Encodes messages for the wire, and encodes once what is sent to many peers in a row.
struct OutputEncoder {
  private var lastBytes: [UInt8] = []
  private var lastMessage: EncodedMessage?

  /// The message on the wire.
  ///
  /// - Complexity: O(1) for an array that shares its memory with the one before, else O(bytes).
  mutating func encode(_ bytes: [UInt8]) -> EncodedMessage {
    if let lastMessage, isLast(bytes) { return lastMessage }
    let message = EncodedMessage(bytes)
    lastBytes = bytes
    lastMessage = message
    return message
  }

  /// Takes over a message that somebody else has encoded, and which is sent next.
  mutating func learn(_ bytes: [UInt8], as message: EncodedMessage) {
    lastBytes = bytes
    lastMessage = message
  }

  /// Drops the cached encoding, which may be long.
  mutating func forget() {
    lastBytes = []
    lastMessage = nil
  }

  /// Whether an array is the last one, which is kept alive here, so that the address tells.
  private func isLast(_ bytes: [UInt8]) -> Bool {
    // Safety: the addresses are compared and never followed.
    bytes.withUnsafeBufferPointer { new in
      lastBytes.withUnsafeBufferPointer {
        $0.baseAddress == new.baseAddress && $0.count == new.count
      }
    }
  }
}
