import RealtimeCore
import RealtimeServer

/// Every request is answered once, every message can be decoded, and data stays valid.
///
/// The input has one administrator's message per line; a line that starts with "2 " is from a
/// second client, who is bound by the rules. "! RULES" puts rules in force, "-" ends a connection,
/// and "=" stores what is pending.
enum SessionCheck {
  private struct Session {
    var hub = TreeHub(stored: StoredTree())
    var stored = Node.empty
    /// The open connection of each of the two clients.
    var peers = [PeerID(1), PeerID(2)]
    var asked: [PeerID: [Int64]] = [:]
    var answered: [PeerID: [Int64]] = [:]
  }

  private static let lineLimit = 64

  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    var session = Session()
    session.hub.open(session.peers[0], as: .administrator)
    session.hub.open(session.peers[1])
    for (position, line) in input.split(separator: 0x0A).prefix(lineLimit).enumerated() {
      try take(line, at: 1_700_000_000_000 + Int64(position), &session)
    }
    for _ in 0..<3 { try store(&session) }
    for peer in session.peers {
      let asked = session.asked[peer, default: []].sorted()
      let answered = session.answered[peer, default: []].sorted()
      try demand(asked == answered, "asked \(asked), answered \(answered)")
    }
    try demand(!session.hub.hasPendingCommits, "something is never stored")
    try demand(session.hub.snapshot == session.stored, "what is stored is not what is shown")
    try demand(
      Validation.problem(with: session.stored, at: .root) == nil,
      "data that is not valid is stored"
    )
  }

  private static func take(
    _ line: ArraySlice<UInt8>,
    at time: Int64,
    _ session: inout Session
  ) throws(BrokenProperty) {
    let isSecond = line.starts(with: "2 ".utf8)
    let client = isSecond ? 1 : 0
    let line = isSecond ? line.dropFirst(2) : line
    let peer = session.peers[client]
    if line.elementsEqual("=".utf8) {
      try store(&session)
    } else if line.starts(with: "! ".utf8) {
      let source = String(decoding: line.dropFirst(2), as: UTF8.self)
      session.asked[peer, default: []].append(0)
      try receive(
        session.hub.setRules(source: source, by: peer, request: 0, at: time),
        &session
      )
    } else if line.elementsEqual("-".utf8) {
      try receive(session.hub.close(peer, at: time), &session)
      // The responses that a connection was still waiting for are dropped.
      session.peers[client] = PeerID(peer.number + 2)
      session.hub.open(session.peers[client], as: isSecond ? .anonymous : .administrator)
    } else {
      try receive(hear(line, from: peer, at: time, &session), &session)
    }
  }

  private static func hear(
    _ line: ArraySlice<UInt8>,
    from peer: PeerID,
    at time: Int64,
    _ session: inout Session
  ) -> [HubOutput] {
    do throws(MessageError) {
      let message = try ClientMessage(decoding: Array(line))
      if case .request(let id, _) = message { session.asked[peer, default: []].append(id) }
      return session.hub.handle(message, from: peer, at: time)
    } catch {
      if let id = error.requestID { session.asked[peer, default: []].append(id) }
      return session.hub.handle(undecodable: error, from: peer)
    }
  }

  private static func store(_ session: inout Session) throws(BrokenProperty) {
    guard session.hub.hasPendingCommits, let batch = session.hub.takeBatch() else { return }
    for commit in batch.commits {
      for change in commit.changes { session.stored.update(at: change.path, to: change.node) }
    }
    try receive(session.hub.batchCommitted(), &session)
  }

  private static func receive(
    _ outputs: [HubOutput],
    _ session: inout Session
  ) throws(BrokenProperty) {
    for output in outputs {
      switch output {
      case .send(let peer, let message): try receive(message.bytes, peer, &session)
      case .compose(let peer, let composition):
        for message in composition.composed().messages {
          try receive(message.bytes, peer, &session)
        }
      case .broadcast(_, let message):
        guard (try? ServerMessage(decoding: message.bytes)) != nil else {
          throw BrokenProperty("\(String(decoding: message.bytes, as: UTF8.self)) cannot be read")
        }
      case .deliver, .disconnect:
        throw BrokenProperty("a peer is closed, or taken for an internal one")
      }
    }
  }

  private static func receive(
    _ bytes: [UInt8],
    _ peer: PeerID,
    _ session: inout Session
  ) throws(BrokenProperty) {
    guard let message = try? ServerMessage(decoding: bytes) else {
      throw BrokenProperty("\(String(decoding: bytes, as: UTF8.self)) cannot be read")
    }
    if case .response(let id, _) = message { session.answered[peer, default: []].append(id) }
  }
}
