import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

/// What a conversation cannot show.
@Suite("TreeHub: values")
struct HubTests {
  @Test("Peers that get the same message share its bytes")
  func sharedBytes() throws {
    var dialogue = try Dialogue(peers: 3)
    for peer in 0..<3 { _ = dialogue.ask(1, "q", #"{"p":"/a","h":""}"#, from: peer) }
    let request = ClientRequest.write(
      WriteRequest(path: "a/b", operation: .set(.string(String(repeating: "x", count: 100))))
    )
    _ = dialogue.hub.handle(.request(id: 9, request), from: PeerID(0), at: 1)
    _ = dialogue.hub.takeBatch()
    guard case .broadcast(let peers, _)? = dialogue.hub.batchCommitted().first
    else { throw Unexpected("no message to several") }
    #expect(peers == (0..<3).map { PeerID($0) })
  }

  @Test("Joined batches keep the latest state of each client and session")
  func joinedStates() {
    let entries = ["c", "d", "c"].enumerated().map {
      LedgerEntry(client: $1, upTo: Int64($0), lastSeen: 5)
    }
    let change = Change("a", to: .integer(1))
    let sessions = [[change], [], [change, change]].enumerated().map {
      SessionUpdate(StoredSession(id: Int64($0 % 2), changes: $1))
    }
    var added = SessionUpdate(StoredSession(id: 1, changes: [Change("b", to: .integer(2))]))
    added.replaces = false
    added.session.withdrawn = ["a"]
    let joined = CommitBatch(joining: [
      CommitBatch(commits: [], ledger: [entries[0]], sessions: Array(sessions[0...1]), rules: "1"),
      CommitBatch(commits: [], ledger: [entries[1]], rules: "2"),
      CommitBatch(commits: [], ledger: [entries[2]], sessions: [sessions[2]]),
      CommitBatch(commits: [], sessions: [added]),
    ])
    var second = sessions[1]
    second.session = added.session
    let expected = CommitBatch(
      commits: [],
      ledger: [entries[1], entries[2]],
      sessions: [sessions[2], second],
      rules: "2"
    )
    #expect(joined == expected)
    #expect(CommitBatch(joining: []) == CommitBatch(commits: []))
  }

  @Test("An entry from before owners existed is claimed by the next user who writes under its name")
  func claimed() throws {
    let entry = LedgerEntry(
      owner: .unknown,
      client: "c",
      upTo: 4,
      refused: [2: .dataStale],
      lastSeen: 0
    )
    var hub = TreeHub(stored: StoredTree(ledger: [entry]), verifier: TestVerifier())
    func ask(_ body: String, from peer: Int) throws -> StatusCode? {
      let message = Dialogue.request(1, "p", body)
      var outputs = hub.handle(
        try ClientMessage(decoding: Array(message.utf8)),
        from: PeerID(peer),
        at: 9
      )
      if let batch = hub.takeBatch() {
        #expect(
          batch.ledger.map(\.name) == [entry.name, LedgerName(owner: .user("ann"), client: "c")]
        )
        #expect(batch.ledger.map(\.upTo) == [-1, 5])
        #expect(batch.ledger.last?.refused == [2: .dataStale])
        outputs += hub.batchCommitted()
      }
      guard case .send(_, let message)? = outputs.last,
        case .response(_, let response) = try ServerMessage(decoding: message.bytes)
      else { return nil }
      return response.status
    }
    for peer in 0...1 { hub.open(PeerID(peer)) }
    try hub.signIn(PeerID(0), with: ClientRequest.Authentication(credential: "ann"), at: 9)
    #expect(try ask(#"{"p":"/a","d":1,"i":"c:4"}"#, from: 0) == .ok)
    #expect(try ask(#"{"p":"/a","d":1,"i":"c:2"}"#, from: 1) == .dataStale)
    #expect(hub.revision == 0)
    #expect(try ask(#"{"p":"/a","d":1,"i":"c:5"}"#, from: 0) == .ok)
    #expect(hub.revision == 1)
    #expect(try ask(#"{"p":"/a","d":1,"i":"c:2"}"#, from: 0) == .dataStale)
    #expect(hub.revision == 1)
  }
}
