internal import NIOCore
internal import RealtimeCore

/// The session that a client of a ``Replica`` has at the leader, for everything but reading.
///
/// The client's requests are sorted here. Writes go to the leader as they arrived. A read waits for
/// the leader's answers to everything sent before it, and for a mark; then it is put back into the
/// inbox and answered from the copy. In turn, the leader's answers wait for the reads before them:
/// a client that learns that its write is stored must have the data to show it. Confined to the
/// event loop.
final class ForwardedWriter: LeaderSession, LinkReceiver {
  /// A request that is answered from the copy.
  private struct Read {
    let message: ClientMessage
    let length: Int
    /// How many requests went to the leader before it.
    let position: Int
  }

  private let replica: Replica
  private weak var session: Session?
  private weak var core: DatabaseCore?
  private var exchange = 0
  /// The requests that the leader has not answered: how many were sent before each, and whether the
  /// rules decide about it.
  private var unanswered: [Int64: (position: Int, isDecided: Bool)] = [:]
  /// How many requests have been sent to the leader.
  private var sent = 0
  private var reads = CircularBuffer<Read>(initialCapacity: 1)
  /// The leader's answers that the client has not received, each with the number of requests that
  /// were sent to the leader before the one that it answers.
  private var answers = CircularBuffer<(position: Int, message: [UInt8])>(initialCapacity: 1)
  /// How many of the first reads the leader has confirmed.
  private var confirmed = 0
  /// Whether the copy has accepted the client's credential.
  private var isSignedIn = false

  init(of replica: Replica) {
    self.replica = replica
  }

  /// Starts the session over an exchange that has been opened for this receiver.
  func begin(over exchange: Int, isSignedIn: Bool = false) {
    self.exchange = exchange
    self.isSignedIn = isSignedIn
  }

  func serve(_ session: Session, of core: DatabaseCore) {
    self.session = session
    self.core = core
  }

  // MARK: From the client

  func take(_ message: ClientMessage, _ bytes: [UInt8]) -> Bool {
    guard case .request(let id, let request) = message else { return false }
    switch request {
    case .listen, .unlisten, .get: read(message, length: bytes.count)
    case .authenticate, .unauthenticate:
      send(id, bytes)
      read(message, length: bytes.count)
    case .write, .onDisconnect: send(id, bytes, isDecided: true)
    case .stats, .appCheck, .cancelOnDisconnect, .unknown: send(id, bytes)
    }
    return true
  }

  private func send(_ id: Int64, _ bytes: [UInt8], isDecided: Bool = false) {
    unanswered[id] = (sent, isDecided)
    sent += 1
    replica.link.sendMessage(bytes, exchange)
  }

  private func read(_ message: ClientMessage, length: Int) {
    reads.append(Read(message: message, length: length, position: sent))
    replica.whenCurrent { [weak self] isCurrent in
      guard isCurrent, let self else { return }
      confirmed += 1
      release()
    }
  }

  /// Forwards what need not wait any longer, in the order in which the client asked.
  private func release() {
    guard let session, let core else { return }
    while true {
      if let answer = answers.first, reads.first.map({ $0.position > answer.position }) ?? true {
        answers.removeFirst()
        core.pass(answer.message, to: session)
      } else if confirmed > 0, let read = reads.first,
        !unanswered.values.contains(where: { $0.position < read.position })
      {
        reads.removeFirst()
        confirmed -= 1
        core.putBack(read.message, length: read.length, of: session)
      } else {
        return
      }
    }
  }

  func answer(_ message: ClientMessage, length: Int) {
    guard let session, let core, case .request(_, let request) = message else { return }
    switch request {
    case .authenticate, .unauthenticate:
      // The leader has answered it.
      isSignedIn = core.signIn(session.peer, by: request)
    case .stats, .appCheck, .listen, .unlisten, .get, .write, .onDisconnect, .cancelOnDisconnect,
      .unknown:
      guard !core.holdsBack(message, of: session, length: length) else { return }
      core.admit(message, from: session, length: length)
    }
  }

  func end() {
    reads.removeAll()
    answers.removeAll()
    replica.link.end(exchange, mayReturn: replica.hasEnded)
  }

  // MARK: From the leader

  func receive(_ message: [UInt8]) {
    guard let session, let core else { return }
    var position = 0
    switch try? ServerMessage(decoding: message) {
    case .response(let id, let response):
      if let request = unanswered.removeValue(forKey: id) {
        position = request.position
        if request.isDecided, response.status == .ok { core.hub.noteAllowed(session.peer) }
      }
    case .push(.authenticationRevoked) where isSignedIn:
      // The copy ends the credential, too, and the listens with it.
      return
    case .push(.data), .push(.merge), .push(.rangeMerge):
      // It was under way when the client was taken over, and the copy has told it.
      return
    case .hello, .reset, .shutdown, .error, .pong, .push, nil: break
    }
    answers.append((position, message))
    release()
  }

  func setReading(_ isReading: Bool) {
    guard let session else { return }
    if isReading { core?.resume(session, for: .leader) } else { core?.pause(session, for: .leader) }
  }

  func ended(code: UInt16, reason: String) {
    // The session may end before what the leader tells the copy. The clients take along what they
    // have read there only if the copy ends first.
    if code == CloseCode.goingAway { replica.leaderChanged(reason) }
    guard let session else { return }
    core?.end(session, code: code, reason: reason)
  }
}
