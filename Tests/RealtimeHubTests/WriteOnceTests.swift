import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: exactly-once writes")
struct WriteOnceTests {
  private static let increment = #"{"p":"/n","d":{".sv":{"increment":1}},"i":"c:0"}"#

  @Test("A resent write is acknowledged again and applied once")
  func resend() throws {
    var dialogue = try Dialogue()
    for id in 1...3 { #expect(dialogue.ask(id, "p", Self.increment) == [response(id)]) }
    #expect(dialogue.data("n") == .integer(1))
    #expect(dialogue.hub.revision == 1)
  }

  @Test("A write resent after a restart is applied once")
  func resendAfterRestart() throws {
    var dialogue = try Dialogue()
    _ = dialogue.ask(1, "p", Self.increment)
    dialogue.restart()
    #expect(dialogue.ask(1, "p", Self.increment) == [response(1)])
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("A write resent before the first is durable is not acknowledged earlier")
  func resendWhilePending() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.askUncommitted(1, "p", Self.increment)
    #expect(dialogue.askUncommitted(1, "p", Self.increment, from: 1) == [])
    #expect(dialogue.commit() == [response(1), "1: " + response(1)])
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("A write lost before its batch was durable is applied when resent")
  func lostBeforeCommit() throws {
    var dialogue = try Dialogue()
    _ = dialogue.askUncommitted(1, "p", Self.increment)
    dialogue.restart()
    #expect(dialogue.ask(1, "p", Self.increment) == [response(1)])
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("A refusal is remembered, even across a restart, once later writes are stored")
  func rememberedRefusal() throws {
    var dialogue = try Dialogue()
    let refused = #"{"p":"/c","d":1,"h":"stale","i":"c:4"}"#
    #expect(statuses(dialogue.ask(1, "p", refused)) == ["datastale"])
    #expect(dialogue.ask(2, "p", #"{"p":"/n","d":1,"i":"c:5"}"#) == [response(2)])
    _ = dialogue.ask(3, "p", #"{"p":"/c","d":2}"#)
    dialogue.restart()
    #expect(statuses(dialogue.ask(4, "p", refused)) == ["datastale"])
    #expect(dialogue.ask(5, "p", #"{"p":"/n","d":7,"i":"c:5"}"#) == [response(5)])
    #expect(
      dialogue.hub.snapshot == (try Node(json: .object(("n", .integer(1)), ("c", .integer(2)))))
    )
  }

  @Test("A write refused by a failing store stays refused even if later ones are stored")
  func refusedByFailure() throws {
    var dialogue = try Dialogue()
    _ = dialogue.askUncommitted(1, "p", Self.increment)
    #expect(statuses(dialogue.fail()) == ["unavailable"])
    #expect(statuses(dialogue.ask(2, "p", #"{"p":"/m","d":1,"i":"c:1"}"#)) == ["ok"])
    #expect(statuses(dialogue.ask(1, "p", Self.increment)) == ["unavailable"])
    dialogue.restart()
    #expect(statuses(dialogue.ask(1, "p", Self.increment)) == ["unavailable"])
    #expect(dialogue.data("n") == .empty)
  }

  @Test("A repeated write keeps its own result when another's batch fails")
  func repeatDuringFailure() throws {
    var dialogue = try Dialogue()
    _ = dialogue.ask(1, "p", Self.increment)
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/m","d":1}"#)
    _ = dialogue.askUncommitted(3, "p", Self.increment)
    #expect(statuses(dialogue.fail()) == ["unavailable", "ok"])
  }

  @Test("When a batch fails, a write in it also fails for the peer that repeated it")
  func repeatOfFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.askUncommitted(1, "p", Self.increment)
    _ = dialogue.askUncommitted(2, "p", Self.increment, from: 1)
    #expect(statuses(dialogue.fail()) == ["unavailable", "unavailable"])
    #expect(dialogue.data("n") == .empty)
  }

  @Test("The ledger entries of a batch are stored with its commits")
  func entriesInBatch() throws {
    var dialogue = try Dialogue()
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/a","d":1,"i":"x:7"}"#)
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/b.","d":1,"i":"x:8"}"#)
    _ = dialogue.askUncommitted(3, "p", #"{"p":"/a","d":1,"i":"b:0"}"#)
    let batch = try dialogue.take()
    #expect(
      batch.ledger == [
        LedgerEntry(client: "b", upTo: 0, lastSeen: dialogue.clock),
        LedgerEntry(client: "x", upTo: 7, lastSeen: dialogue.clock),
      ]
    )
    // A refusal is remembered once a later write is applied, and is recorded below that write.
    _ = dialogue.askUncommitted(4, "p", #"{"p":"/a","d":2,"i":"x:9"}"#)
    #expect(try dialogue.take().ledger.map(\.refused) == [[8: .invalidData]])
  }

  @Test("The ledger entries of a failed batch are stored with the next")
  func entriesAfterFailure() throws {
    var dialogue = try Dialogue()
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/a","d":1,"i":"x:7"}"#)
    _ = dialogue.fail()
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/a","d":1}"#)
    let batch = try dialogue.take()
    #expect(batch.ledger.map(\.refused) == [[7: .unavailable]])
  }

  @Test("An eviction in a failed batch is stored with the next")
  func forgottenAfterFailure() throws {
    var limits = HubLimits()
    limits.ledgerClients = 1
    var dialogue = try Dialogue(limits: limits)
    _ = dialogue.ask(1, "p", #"{"p":"/a","d":1,"i":"x:7"}"#)
    dialogue.clock += 1
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/a","d":2,"i":"y:1"}"#)
    _ = dialogue.fail()
    #expect(dialogue.stored.ledger.map(\.client) == ["x"])
    _ = dialogue.ask(3, "p", #"{"p":"/a","d":3}"#)
    #expect(dialogue.stored.ledger.map(\.client) == ["y"])
  }

  @Test("Beyond the limit the oldest refusals are dropped; a run of refusals counts as one")
  func boundedRefusals() throws {
    var limits = HubLimits()
    limits.rememberedRefusals = 4
    var dialogue = try Dialogue(limits: limits)
    for number in 0..<20 {
      let path = number % 2 == 0 ? "a." : "a"
      _ = dialogue.ask(number, "p", #"{"p":"/\#(path)","d":\#(number),"i":"x:\#(number)"}"#)
    }
    let runs = dialogue.stored.ledger.first?.refused.runs.map(\.numbers)
    #expect(runs == [12...12, 14...14, 16...16, 18...18])
    for number in 20..<30 {
      _ = dialogue.ask(number, "p", #"{"p":"/a.","d":1,"i":"x:\#(number)"}"#)
    }
    _ = dialogue.ask(30, "p", #"{"p":"/a","d":30,"i":"x:30"}"#)
    #expect(dialogue.stored.ledger.first?.refused.runs.last?.numbers == 20...29)
  }

  @Test(
    "An entry from before owners existed is claimed by the next user who writes under its name"
  )
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
      guard case .send(_, let bytes)? = outputs.last,
        case .response(_, let response) = try ServerMessage(decoding: bytes)
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

  @Test("A write made before sign-in is recognized after its client signs in")
  func signedInSince() throws {
    var dialogue = try Dialogue()
    let increment = #"{"p":"/n","d":{".sv":{"increment":1}},"i":"~c:0"}"#
    #expect(dialogue.ask(1, "p", increment) == [response(1)])
    dialogue.restart()
    dialogue.signIn("ann")
    #expect(dialogue.ask(1, "p", increment) == [response(1)])
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("Beyond the limit the least recently seen clients are evicted")
  func boundedClients() throws {
    var limits = HubLimits()
    limits.ledgerClients = 2
    var dialogue = try Dialogue(limits: limits)
    for (number, client) in ["a", "b", "a", "c"].enumerated() {
      dialogue.clock += 1
      _ = dialogue.ask(number, "p", #"{"p":"/n","d":\#(number),"i":"\#(client):\#(number)"}"#)
    }
    #expect(dialogue.ask(8, "p", #"{"p":"/n","d":8,"i":"a:2"}"#) == [response(8)])
    #expect(dialogue.data("n") == .integer(3))
    #expect(dialogue.ask(9, "p", #"{"p":"/n","d":9,"i":"b:1"}"#) == [response(9)])
    #expect(dialogue.data("n") == .integer(9))
  }
}
