internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// One open connection of a database; confined to the server's event loop.
///
/// The client's messages wait in the inbox for their turn, and until answers to earlier ones have
/// been encoded. Output waits behind that encoding as well, so that the client receives everything
/// in the order of the hub.
final class Session: Schedulable {
  /// Why nothing more is read from a client for a while.
  struct Pauses: OptionSet {
    let rawValue: UInt8

    /// Many of its messages wait for the disk.
    static let unsettled = Pauses(rawValue: 1 << 0)
    /// It has much unread output.
    static let congested = Pauses(rawValue: 1 << 1)
    /// Many of its messages wait for their turn.
    static let turn = Pauses(rawValue: 1 << 2)
    /// Its user has written too much too fast.
    static let writeRate = Pauses(rawValue: 1 << 3)
    /// The answer to its request would take more memory than is left.
    static let memory = Pauses(rawValue: 1 << 4)
    /// The server is stopping.
    static let leaving = Pauses(rawValue: 1 << 5)
    /// The client has gone; the session ends once its remaining messages are handled.
    static let gone = Pauses(rawValue: 1 << 6)
    /// The leader of the database takes no more of its messages for now.
    static let leader = Pauses(rawValue: 1 << 7)
  }

  /// What the messages in the inbox wait for.
  enum Work: Equatable {
    case none
    /// A message of the client is being decoded, or the data that it compares is being hashed.
    case decoding
    /// A request waits for memory for its answer.
    indirect case heldBack(ClientMessage, length: Int)
  }

  /// A message from the client.
  ///
  /// The rare cases are indirect, and the inbox starts with room for one: most connections are idle.
  enum Incoming {
    case text([UInt8])
    /// A decoded message, and the bytes that it was.
    indirect case decoded(Result<ClientMessage, MessageError>, [UInt8])
    /// A request that is now answered from the copy of a database that another server leads.
    indirect case current(ClientMessage, length: Int)
    /// What the leader has answered, which must not overtake what is answered from the copy.
    indirect case answer([UInt8])
    /// Another server wants to answer what the client reads from now on.
    indirect case takeOver((SessionState?) -> Void, attemptsLeft: Int)
    /// A message with the data that it compares, and that data's hash.
    indirect case compared(ClientMessage, Node, hash: String, length: Int)
  }

  /// Output for the client, with indirect cases for the same reason.
  enum Outgoing {
    /// A message of the hub, which is held back or dropped while the client is behind.
    case message(HubMessage)
    /// A message that must not be held back again.
    case kept([UInt8])
    /// Output that is yet to be encoded.
    indirect case composition(Composition, isKept: Bool)
    /// The close of the connection.
    indirect case end(code: UInt16, reason: String)
  }

  struct Output {
    /// The output held back from a client that is behind; nil while it keeps up.
    var backlog: Backlog?
    /// Whether output for the client is being encoded.
    var isComposing = false
    /// Output that waits for an encoding to finish.
    var queue = CircularBuffer<Outgoing>(initialCapacity: 1)
    /// The bytes of the messages in ``queue``.
    var bytes = 0
  }

  struct Timers {
    /// Ends the pause of a client whose user has written too much.
    var write: Scheduled<Void>?
    /// Ends the connection unless the client has signed in by then.
    var signIn: Scheduled<Void>?

    func cancel() {
      write?.cancel()
      signIn?.cancel()
    }
  }

  let peer: PeerID
  let connection: any MessageConnection
  /// The session name that was sent to the client.
  let name: String
  /// When the connection was opened.
  let begin = NIODeadline.now()
  let account = SchedulerAccount()
  /// The client's session at the leader; nil if this server leads the database.
  let leader: (any LeaderSession)?
  /// Whether another server answers what the client reads.
  var readsElsewhere: Bool
  private weak var core: DatabaseCore?
  var isWaiting = false
  private(set) var lastMessage = NIODeadline.now()
  /// Messages from the client that have not been handled yet.
  var inbox = CircularBuffer<Incoming>(initialCapacity: 1)
  var work = Work.none
  var output = Output()
  /// What has been taken since the last batch was stored.
  var unsettled = (messages: 0, bytes: 0)
  /// Why nothing is read from the client; empty while it is read from.
  var pauses: Pauses = []
  var timers = Timers()

  init(
    _ peer: PeerID,
    of core: DatabaseCore,
    connection: any MessageConnection,
    named name: String,
    leader: (any LeaderSession)?,
    readsElsewhere: Bool
  ) {
    self.name = name
    self.leader = leader
    self.readsElsewhere = readsElsewhere
    self.peer = peer
    self.core = core
    self.connection = connection
  }

  var isGone: Bool { pauses.contains(.gone) }

  var isReady: Bool {
    !inbox.isEmpty && work == .none && !output.isComposing && output.backlog == nil
  }

  func takeTurn() {
    core?.takeNext(of: self)
  }

  func receive(_ incoming: Incoming) {
    lastMessage = .now()
    inbox.append(incoming)
  }

  /// Drops everything for a client that has gone.
  func leave() {
    pauses.insert(.gone)
    output.backlog = nil
    output.queue.removeAll()
    if work != .decoding { work = .none }
  }

  /// How many letters and digits a name has.
  static let nameLength = 32

  /// Makes a random, unguessable name.
  static func makeName() -> String { Randomness.name(nameLength) }
}

/// The session that a client of a copied database has at the leader, for everything but reading.
protocol LeaderSession: AnyObject {
  /// Begins to serve a client.
  func serve(_ session: Session, of core: DatabaseCore)

  /// Takes a message of the client, and its bytes; returns false if it is answered here at once.
  func take(_ message: ClientMessage, _ bytes: [UInt8]) -> Bool

  /// Answers a request of the client that the leader has confirmed to be answered from here.
  func answer(_ message: ClientMessage, length: Int)

  /// Tells the leader that the client has gone.
  func end()
}

/// The output held back from a client that is behind.
///
/// Meanwhile, changes are dropped. Once the client has caught up, it is sent the answers that show
/// data, which are older than what follows; then the current data of all its listens; then the
/// other answers, because it must see the changes that they acknowledge first. The data may be so
/// much that the client falls behind again in the middle: listens are shown again if changes were
/// dropped in that time.
struct Backlog {
  /// Answers that show data.
  private(set) var readings: [Session.Outgoing] = []
  /// All other messages that are not changes of data.
  private(set) var others: [Session.Outgoing] = []
  /// The listens whose data is still to be sent, the next one last.
  var listens: [ListenKey] = []
  /// Whether a change has been dropped since ``listens`` was determined.
  private var hasLeftOut = true

  /// Holds a message back, or drops it if it is a change.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ message: HubMessage) -> Bool {
    switch message.kind {
    case .change:
      hasLeftOut = true
      return false
    case .reading: readings.append(.kept(message.bytes))
    case .other: others.append(.kept(message.bytes))
    }
    return true
  }

  /// Holds a composition back; for a listen only the answer, because its data will follow anyway.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ composition: Composition) -> Bool {
    guard composition.isListen else {
      readings.append(.composition(composition, isKept: true))
      return true
    }
    hasLeftOut = true
    guard let answer = composition.acknowledgement else { return false }
    others.append(.kept(answer.bytes))
    return true
  }

  /// Takes the answers that show data.
  mutating func takeReadings() -> [Session.Outgoing] {
    defer { readings = [] }
    return readings
  }

  /// If a change was dropped since the last time, starts to show all listens and returns true.
  mutating func showsAgain(_ all: () -> [ListenKey]) -> Bool {
    guard hasLeftOut else { return false }
    hasLeftOut = false
    listens = all().reversed()
    return true
  }
}

/// Successive broadcasts to the same peers, as the writes of a batch bring them, with what goes to
/// single peers in between.
///
/// To look up a thousand connections takes as long as to send them a message, since none of them is
/// in the processor's cache. So each gets all messages of a run at once. Every peer still receives
/// its own messages in order.
struct BroadcastRun {
  /// The size up to which messages are sent at once, in bytes.
  private static let joinedBytes = 16 * 1_024
  /// The maximum number of peers that are kept apart.
  private static let mostApart = 8

  let peers: [PeerID]
  private(set) var messages: [HubMessage]
  /// The peers that receive something else in between.
  private(set) var apart: [PeerID] = []
  /// The outputs that belong to the run.
  let range: Range<Int>

  /// Finds the run that begins at an output; nil if there is none.
  ///
  /// - Complexity: O(outputs · peers) in the run
  init?(in outputs: [HubOutput], at start: Int) {
    guard case .broadcast(let peers, let first) = outputs[start] else { return nil }
    self.peers = peers
    messages = [first]
    var bytes = first.bytes.count
    var end = start + 1
    var apartSoFar = apart
    scan: for index in outputs.indices[end...] {
      switch outputs[index] {
      case .broadcast(let others, let message):
        bytes += message.bytes.count
        guard others == peers, bytes <= Self.joinedBytes else { break scan }
        messages.append(message)
        apart = apartSoFar
        end = index + 1
      case .send(let peer, _):
        guard peers.contains(peer), !apartSoFar.contains(peer) else { continue }
        guard apartSoFar.count < Self.mostApart else { break scan }
        apartSoFar.append(peer)
      case .deliver, .compose, .disconnect: break scan
      }
    }
    guard bytes <= Self.joinedBytes || messages.count > 1 else { return nil }
    range = start..<end
  }
}

/// Encodes messages for the wire; a message that goes to many peers in a row is encoded only once.
struct OutputEncoder {
  private var lastBytes: [UInt8] = []
  private var lastMessage: EncodedMessage?

  /// Encodes a message for the wire.
  ///
  /// - Complexity: O(1) if the array shares its memory with the previous one, else O(bytes).
  mutating func encode(_ bytes: [UInt8]) -> EncodedMessage {
    // The last array is kept alive here, so nothing else can have its address.
    if let lastMessage, bytes.isSame(as: lastBytes) { return lastMessage }
    let message = EncodedMessage(bytes)
    learn(bytes, as: message)
    return message
  }

  /// Remembers the encoding of the message that is sent next.
  mutating func learn(_ bytes: [UInt8], as message: EncodedMessage) {
    lastBytes = bytes
    lastMessage = message
  }

  /// Drops the cached encoding, which may be long.
  mutating func forget() {
    lastBytes = []
    lastMessage = nil
  }
}
