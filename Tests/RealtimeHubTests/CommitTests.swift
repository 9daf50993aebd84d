import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: group commit")
struct CommitTests {
  @Test("Nothing that depends on a write is sent before its batch is durable")
  func nothingLeavesEarly() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#)
    #expect(dialogue.askUncommitted(2, "p", #"{"p":"/a","d":1}"#) == [])
    #expect(dialogue.askUncommitted(1, "g", #"{"p":"/a","q":{}}"#, from: 1) == [])
    #expect(dialogue.askUncommitted(2, "q", #"{"p":"/a","h":""}"#, from: 1) == [])
    #expect(dialogue.hub.snapshot == .empty)
    #expect(dialogue.hub.revision == 0)
    #expect(
      dialogue.commit() == [
        push("d", #"{"p":"a","d":1}"#), response(2), "1: " + response(1, "ok", "1"),
        "1: " + push("d", #"{"p":"a","d":1}"#), "1: " + response(2, "ok", "{}"),
      ]
    )
    #expect(dialogue.hub.revision == 1)
    #expect(dialogue.hub.snapshot == (try Node(json: .object(("a", .integer(1))))))
  }

  @Test("Messages that depend on a batch are sent when it is durable, later ones stay queued")
  func order() throws {
    var dialogue = try Dialogue()
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/a","d":1}"#)
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/b","d":1}"#)
    let first = try dialogue.take()
    #expect(first.commits.map(\.revision) == [1, 2])
    #expect(dialogue.askUncommitted(3, "g", #"{"p":"/a","q":{}}"#) == [])
    #expect(dialogue.askUncommitted(4, "p", #"{"p":"/c","d":1}"#) == [])
    #expect(dialogue.askUncommitted(5, "g", #"{"p":"/c","q":{}}"#) == [])
    #expect(dialogue.hub.hasPendingCommits)
    let second = try dialogue.take()
    #expect(second.commits.map(\.revision) == [3])
    #expect(dialogue.hub.takeBatch() == nil)
    #expect(
      dialogue.texts(dialogue.hub.batchCommitted()) == [
        response(1), response(2), response(3, "ok", "1"),
      ]
    )
    #expect(dialogue.hub.revision == 2)
    #expect(
      dialogue.texts(dialogue.hub.batchCommitted()) == [response(4), response(5, "ok", "1")]
    )
  }

  @Test("A read that no pending commit affects is answered while the disk is busy")
  func promptReads() throws {
    let data = #"{"a":{"b":1},"c":2,"d":{"e":3}}"#
    var dialogue = try Dialogue(data, peers: 5)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/a/b","d":9}"#)
    _ = try dialogue.take()
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/d/new","d":9}"#)
    #expect(
      dialogue.askUncommitted(1, "g", #"{"p":"/c","q":{}}"#, from: 1) == [
        "1: " + response(1, "ok", "2")
      ]
    )
    #expect(
      dialogue.askUncommitted(1, "q", #"{"p":"/d/e","h":""}"#, from: 2) == [
        "2: " + push("d", #"{"p":"d/e","d":3}"#), "2: " + response(1, "ok", "{}"),
      ]
    )
    // What is at, above or below a change waits, and so does what follows it to the same peer.
    for (id, path) in zip(1..., ["/a/b", "/a", "/", "/d", "/d/new/x", "/c"]) {
      #expect(
        dialogue.askUncommitted(id, "g", #"{"p":"\#(path)","q":{}}"#, from: 3) == [],
        "\(path)"
      )
    }
    #expect(dialogue.askUncommitted(3, "g", #"{"p":"/c","q":{}}"#) == [])
    // Nothing of it is taken back when the commits are lost.
    let lost = dialogue.fail()
    #expect(!lost.contains { $0.hasPrefix("1: ") })
    #expect(
      dialogue.askUncommitted(2, "g", #"{"p":"/a/b","q":{}}"#, from: 1) == [
        "1: " + response(2, "ok", "1")
      ]
    )
  }

  @Test("A read waits if only pending data or rules permit it")
  func promptReadsAndRules() throws {
    let rules = """
      {"rules": {"open": {".read": true}, "secret": {".read": "root.child('key').exists()"},
      ".write": true}}
      """
    var dialogue = try Dialogue(#"{"open":1,"secret":2}"#, rules: rules, peers: 3)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/key","d":1}"#)
    #expect(
      dialogue.askUncommitted(1, "g", #"{"p":"/open","q":{}}"#, from: 1) == [
        "1: " + response(1, "ok", "1")
      ]
    )
    #expect(dialogue.askUncommitted(2, "g", #"{"p":"/secret","q":{}}"#, from: 1) == [])
    #expect(dialogue.commit().last == "1: " + response(2, "ok", "2"))
  }

  @Test("Joined batches become durable together")
  func joined() throws {
    var dialogue = try Dialogue()
    var batches: [CommitBatch] = []
    for id in 1...3 {
      _ = dialogue.askUncommitted(id, "p", #"{"p":"/n","d":\#(id),"i":"c:\#(id)"}"#)
      batches.append(try dialogue.take())
    }
    let joined = CommitBatch(joining: Array(batches.prefix(2)))
    #expect(joined.commits.map(\.revision) == [1, 2])
    #expect(joined.ledger.map(\.upTo) == [2])
    #expect(dialogue.texts(dialogue.hub.batchCommitted(2)) == [response(1), response(2)])
    #expect(dialogue.hub.revision == 2)
    #expect(dialogue.data("n") == .integer(2))
    #expect(dialogue.texts(dialogue.hub.batchCommitted()) == [response(3)])
    #expect(dialogue.hub.batchCommitted() == [])
    #expect(dialogue.data("n") == .integer(3))
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
    added.withdrawn = ["a"]
    let joined = CommitBatch(joining: [
      CommitBatch(commits: [], ledger: [entries[0]], sessions: Array(sessions[0...1]), rules: "1"),
      CommitBatch(commits: [], ledger: [entries[1]], rules: "2"),
      CommitBatch(commits: [], ledger: [entries[2]], sessions: [sessions[2]]),
      CommitBatch(commits: [], sessions: [added]),
    ])
    var second = sessions[1]
    second.identity = added.identity
    second.changes = added.changes
    second.withdrawn = added.withdrawn
    let expected = CommitBatch(
      commits: [],
      ledger: [entries[1], entries[2]],
      sessions: [sessions[2], second],
      rules: "2"
    )
    #expect(joined == expected)
    #expect(CommitBatch(joining: []) == CommitBatch(commits: []))
  }

  @Test(
    "A failed batch discards those behind it; the next one builds on the durable state"
  )
  func failsAll() throws {
    var dialogue = try Dialogue(#"{"n":0}"#)
    for id in 1...3 {
      _ = dialogue.askUncommitted(id, "p", #"{"p":"/n","d":\#(id),"i":"c:\#(id)"}"#)
      if id < 3 { _ = try dialogue.take() }
    }
    let outputs = dialogue.texts(
      dialogue.hub.batchFailed(StoreError(.full, description: "no"), at: 0)
    )
    #expect(statuses(outputs) == ["unavailable", "unavailable", "unavailable"])
    #expect(dialogue.hub.takeBatch() == nil)
    #expect(dialogue.hub.batchCommitted(2) == [])
    #expect(dialogue.askUncommitted(4, "p", #"{"p":"/n","d":4}"#) == [])
    let next = try dialogue.take()
    #expect(next.commits.map(\.revision) == [1])
    #expect(next.ledger.map(\.upTo) == [3])
    #expect(dialogue.askUncommitted(5, "p", #"{"p":"/n","d":5}"#) == [])
    #expect(try dialogue.take().commits.map(\.revision) == [2])
    #expect(statuses(dialogue.texts(dialogue.hub.batchCommitted(2))) == ["ok", "ok"])
    #expect(dialogue.data("n") == .integer(5))
  }

  @Test("Without pending commits there is no batch, and reports about one do nothing")
  func nothingPending() throws {
    var dialogue = try Dialogue()
    #expect(dialogue.hub.takeBatch() == nil)
    #expect(dialogue.hub.batchCommitted() == [])
    #expect(dialogue.hub.batchFailed(StoreError(.full, description: "x"), at: 0) == [])
    #expect(statuses(dialogue.ask(1, "p", #"{"p":"/a","d":1}"#)) == ["ok"])
  }

  @Test("A commit contains absolute paths, resolved values and only what changed")
  func commitContents() throws {
    var dialogue = try Dialogue(#"{"a":{"n":1,"same":2}}"#)
    _ = dialogue.askUncommitted(
      1,
      "m",
      #"{"p":"/a","d":{"n":{".sv":{"increment":1}},"same":2,"t":{".sv":"timestamp"}}}"#
    )
    let batch = try dialogue.take()
    #expect(
      batch.commits == [
        Commit(
          revision: 1,
          timestamp: dialogue.clock,
          changes: [
            Change("a/n", to: .integer(2)), Change("a/t", to: .integer(dialogue.clock)),
          ]
        )
      ]
    )
  }

  @Test("A failed batch is rolled back, its writes are refused and its listeners disconnected")
  func failure() throws {
    var dialogue = try Dialogue(#"{"a":0}"#, peers: 3)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#, from: 1)
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/a","d":1}"#)
    _ = dialogue.askUncommitted(3, "g", #"{"p":"/a","q":{}}"#)
    _ = dialogue.askUncommitted(4, "s", "{}", from: 2)
    let reason = #""the disk is full""#
    #expect(
      dialogue.fail() == [
        response(2, "unavailable", reason), response(3, "unavailable", reason),
        "2: " + response(4), "1: disconnect: the data could not be stored: the disk is full",
      ]
    )
    #expect(dialogue.ask(5, "g", #"{"p":"/a","q":{}}"#) == [response(5, "ok", "0")])
    #expect(dialogue.ask(2, "g", #"{"p":"/a","q":{}}"#, from: 1) == [])
    #expect(dialogue.hub.revision == 0)
  }

  @Test("A listener whose response waits for a failed batch is disconnected, not refused")
  func failureBeforeListen() throws {
    var dialogue = try Dialogue(#"{"a":0}"#, peers: 2)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/a","d":1}"#)
    #expect(dialogue.askUncommitted(2, "q", #"{"p":"/","h":""}"#, from: 1) == [])
    #expect(
      dialogue.fail() == [
        response(1, "unavailable", #""the disk is full""#),
        "1: disconnect: the data could not be stored: the disk is full",
      ]
    )
  }

  @Test("While the disk is full every batch fails, but the next one is still tried")
  func recovery() throws {
    var dialogue = try Dialogue()
    for id in 1...2 {
      _ = dialogue.askUncommitted(2 * id, "p", #"{"p":"/n","d":{".sv":{"increment":1}}}"#)
      _ = dialogue.askUncommitted(2 * id + 1, "p", #"{"p":"/n","d":{".sv":{"increment":1}}}"#)
      let reason = #""the disk is full""#
      #expect(
        dialogue.fail()
          == [response(2 * id, "unavailable", reason), response(2 * id + 1, "unavailable", reason)]
      )
      #expect(dialogue.hub.takeBatch() == nil)
    }
    // Nothing from the refused writes is stored with those accepted later.
    _ = dialogue.askUncommitted(6, "p", #"{"p":"/n","d":{".sv":{"increment":1}}}"#)
    _ = dialogue.askUncommitted(7, "p", #"{"p":"/n","d":{".sv":{"increment":1}}}"#)
    #expect(dialogue.commit() == [response(6), response(7)])
    #expect(dialogue.data("n") == .integer(2))
    #expect(dialogue.hub.revision == 2)
  }

  @Test("A write is refused while too many are pending")
  func pendingLimit() throws {
    var limits = HubLimits()
    limits.pendingCommits = 2
    var dialogue = try Dialogue(limits: limits)
    for id in 1...3 { _ = dialogue.askUncommitted(id, "p", #"{"p":"/a","d":\#(id)}"#) }
    #expect(statuses(dialogue.commit()) == ["ok", "ok", "unavailable"])
    #expect(dialogue.ask(4, "g", #"{"p":"/a","q":{}}"#) == [response(4, "ok", "2")])
  }

  @Test("A write being stored counts as pending")
  func pendingLimitInFlight() throws {
    var limits = HubLimits()
    limits.pendingCommits = 2
    var dialogue = try Dialogue(limits: limits)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/a","d":1}"#)
    _ = try dialogue.take()
    for id in 2...3 { _ = dialogue.askUncommitted(id, "p", #"{"p":"/a","d":\#(id)}"#) }
    _ = try dialogue.take()
    #expect(statuses(dialogue.texts(dialogue.hub.batchCommitted())) == ["ok"])
    #expect(dialogue.askUncommitted(4, "p", #"{"p":"/a","d":4}"#) == [])
    _ = try dialogue.take()
    let outputs = dialogue.texts(dialogue.hub.batchCommitted(2))
    #expect(statuses(outputs) == ["ok", "unavailable", "ok"])
    #expect(dialogue.data("a") == .integer(4))
  }

  @Test("A disconnected peer gets no pending messages, but its write is kept")
  func endedPeer() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/a","d":1}"#, from: 1)
    #expect(dialogue.close(1) == [])
    #expect(dialogue.ask(2, "g", #"{"p":"/a","q":{}}"#) == [response(2, "ok", "1")])
  }
}
