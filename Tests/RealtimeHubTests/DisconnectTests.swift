import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: onDisconnect writes")
struct DisconnectTests {
  @Test("Scheduled writes are applied once, in one commit, with server values resolved then")
  func fires() throws {
    var dialogue = try Dialogue(#"{"n":1}"#, peers: 2)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#)
    #expect(
      dialogue.ask(1, "o", #"{"p":"/p/u","d":{".sv":"timestamp"}}"#, from: 1)
        == ["1: " + response(1)]
    )
    #expect(
      dialogue.ask(2, "om", #"{"p":"/","d":{"n":{".sv":{"increment":1}},"gone":null}}"#, from: 1)
        == ["1: " + response(2)]
    )
    _ = dialogue.ask(2, "p", #"{"p":"/n","d":5}"#)
    dialogue.clock += 10
    let revision = dialogue.hub.revision
    #expect(dialogue.close(1) == [push("m", #"{"p":"","d":{"n":6,"p/u":\#(dialogue.clock)}}"#)])
    #expect(dialogue.hub.revision == revision + 1)
    #expect(dialogue.close(1) == [])
    #expect(dialogue.hub.revision == revision + 1)
  }

  @Test("Cancel removes the scheduled writes at a path and below it, and no others")
  func cancel() throws {
    var dialogue = try Dialogue(peers: 2)
    for (id, path) in ["a/x", "a/y/z", "b"].enumerated() {
      _ = dialogue.ask(id, "o", #"{"p":"/\#(path)","d":1}"#, from: 1)
    }
    #expect(dialogue.ask(4, "oc", #"{"p":"/a","d":null}"#, from: 1) == ["1: " + response(4)])
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(json: .object(("b", .integer(1))))))
  }

  @Test("Cancel below a scheduled write keeps its other children scheduled")
  func cancelBelow() throws {
    var dialogue = try Dialogue(#"{"a":{"old":1}}"#, peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/a","d":{"b":{"c":1,"d":2},"x":3}}"#, from: 1)
    _ = dialogue.ask(2, "oc", #"{"p":"/a/b/c","d":null}"#, from: 1)
    _ = dialogue.close(1)
    #expect(
      dialogue.ask(3, "g", #"{"p":"/a","q":{}}"#) == [
        response(3, "ok", #"{"old":1,"b":{"d":2},"x":3}"#)
      ]
    )
  }

  @Test("A scheduled write replaces those below it and absorbs later ones")
  func replace() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/a/b","d":1}"#, from: 1)
    _ = dialogue.ask(2, "o", #"{"p":"/a","d":{"c":2}}"#, from: 1)
    _ = dialogue.ask(3, "o", #"{"p":"/a/d","d":3}"#, from: 1)
    _ = dialogue.close(1)
    #expect(
      dialogue.ask(4, "g", #"{"p":"/","q":{}}"#) == [response(4, "ok", #"{"a":{"c":2,"d":3}}"#)]
    )
  }

  @Test("Writes rolled back by a failed batch are applied once, with the next write")
  func afterFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":{".sv":{"increment":1}}}"#, from: 1)
    _ = dialogue.hub.close(PeerID(1), at: 0)
    #expect(dialogue.fail() == [])
    #expect(dialogue.hub.snapshot == .empty)
    #expect(dialogue.ask(1, "p", #"{"p":"/m","d":1}"#) == [response(1)])
    _ = dialogue.ask(2, "p", #"{"p":"/m","d":2}"#)
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("A disconnect during a store retry loses nothing")
  func duringRetry() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":1}"#, from: 1)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/m","d":1}"#)
    _ = dialogue.fail()
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/m","d":2}"#)
    #expect(dialogue.hub.close(PeerID(1), at: 0) == [])
    #expect(dialogue.commit() == [response(2)])
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("A disconnect during a store retry is applied after the batch being retried")
  func besideRetry() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":1}"#, from: 1)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/m","d":1}"#)
    _ = dialogue.fail()
    _ = dialogue.askUncommitted(2, "p", #"{"p":"/m","d":2}"#)
    let tried = try dialogue.take()
    _ = dialogue.hub.close(PeerID(1), at: 0)
    let next = try dialogue.take()
    dialogue.store(tried)
    #expect(dialogue.texts(dialogue.hub.batchCommitted()) == [response(2)])
    #expect(dialogue.data("n") == .empty)
    dialogue.store(next)
    #expect(dialogue.hub.batchCommitted() == [])
    #expect(dialogue.data("n") == .integer(1))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Writes rolled back by a failed batch are applied once, even without another write")
  func retriedByItself() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":{".sv":{"increment":1}}}"#, from: 1)
    _ = dialogue.hub.close(PeerID(1), at: 0)
    _ = dialogue.fail()
    #expect(dialogue.hub.hasPendingCommits)
    _ = dialogue.fail()
    #expect(dialogue.hub.hasPendingCommits)
    #expect(dialogue.commit() == [])
    #expect(!dialogue.hub.hasPendingCommits)
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("Stored writes are not applied again when a later batch fails")
  func laterFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":{".sv":{"increment":1}}}"#, from: 1)
    _ = dialogue.close(1)
    #expect(dialogue.data("n") == .integer(1))
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/m","d":1}"#)
    _ = dialogue.fail()
    #expect(dialogue.ask(2, "p", #"{"p":"/m","d":2}"#) == [response(2)])
    #expect(dialogue.data("n") == .integer(1))
    #expect(!dialogue.hub.hasPendingCommits)
  }

  @Test("A write scheduled in a failing batch by a peer that has left is applied with the next")
  func scheduledInFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.askUncommitted(1, "o", #"{"p":"/n","d":{".sv":{"increment":1}}}"#, from: 1)
    _ = dialogue.hub.close(PeerID(1), at: 0)
    _ = dialogue.fail()
    _ = dialogue.commit()
    #expect(dialogue.data("n") == .integer(1))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Writes rolled back by a failed batch are applied before any later write")
  func orderAfterFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":"gone"}"#, from: 1)
    _ = dialogue.hub.close(PeerID(1), at: 0)
    _ = dialogue.fail()
    #expect(dialogue.ask(1, "p", #"{"p":"/n","d":"here"}"#) == [response(1)])
    #expect(dialogue.data("n") == .string("here"))
  }

  @Test("While the store fails, only the most recent disconnects are kept")
  func overdueLimit() throws {
    var limits = HubLimits()
    limits.overdueDisconnects = 2
    var dialogue = try Dialogue(limits: limits, peers: 4)
    for peer in 1...3 { _ = dialogue.ask(1, "o", #"{"p":"/n\#(peer)","d":1}"#, from: peer) }
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/m","d":1}"#)
    _ = dialogue.fail()
    for peer in 1...3 { _ = dialogue.hub.close(PeerID(peer), at: 0) }
    _ = dialogue.fail()
    #expect(dialogue.ask(2, "p", #"{"p":"/m","d":2}"#) == [response(2)])
    #expect(dialogue.hub.snapshot == (try Node(parsing: #"{"m":2,"n2":1,"n3":1}"#)))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Stored writes do not count toward the limit of overdue disconnects")
  func appliedTakesNoPlace() throws {
    var limits = HubLimits()
    limits.overdueDisconnects = 1
    var dialogue = try Dialogue(limits: limits, peers: 3)
    _ = dialogue.ask(1, "o", #"{"p":"/x","d":1}"#, from: 1)
    _ = dialogue.close(1)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":1}"#, from: 2)
    _ = dialogue.hub.close(PeerID(2), at: 0)
    _ = dialogue.fail()
    #expect(dialogue.commit() == [])
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("Writes rolled back by a failed batch are applied before those of later disconnects")
  func orderOfEnds() throws {
    var dialogue = try Dialogue(peers: 3)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":1}"#, from: 1)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":2}"#, from: 2)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/m","d":1}"#)
    _ = dialogue.fail()
    _ = dialogue.hub.close(PeerID(1), at: 0)
    _ = try dialogue.take()
    _ = dialogue.hub.close(PeerID(2), at: 0)
    #expect(dialogue.hub.batchFailed(StoreError(.full, description: "no"), at: 0) == [])
    #expect(dialogue.commit() == [])
    #expect(dialogue.data("n") == .integer(2))
  }

  @Test("Scheduling is acknowledged once durable and refused when it cannot be stored")
  func durable() throws {
    var dialogue = try Dialogue(peers: 2)
    #expect(dialogue.askUncommitted(1, "o", #"{"p":"/n","d":1}"#, from: 1) == [])
    #expect(statuses(dialogue.fail()) == ["unavailable"])
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == .empty)
  }

  @Test("Scheduling refused because an earlier batch failed is not stored with a later one")
  func refusedBehindFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/m","d":1}"#)
    _ = try dialogue.take()
    _ = dialogue.askUncommitted(1, "o", #"{"p":"/n","d":1}"#, from: 1)
    let outputs = dialogue.hub.batchFailed(StoreError(.full, description: "no"), at: 0)
    #expect(statuses(dialogue.texts(outputs)) == ["unavailable", "unavailable"])
    #expect(dialogue.ask(2, "p", #"{"p":"/m","d":2}"#) == [response(2)])
    #expect(dialogue.stored.sessions == [])
    _ = dialogue.close(1)
    #expect(dialogue.data("n") == .empty)
  }

  @Test("A cancel that cannot be stored leaves the scheduled writes in place")
  func failedWithdrawal() throws {
    var dialogue = try Dialogue(peers: 3)
    for peer in 1...2 { _ = dialogue.ask(1, "o", #"{"p":"/n\#(peer)","d":1}"#, from: peer) }
    _ = dialogue.askUncommitted(2, "oc", #"{"p":"/","d":null}"#, from: 1)
    _ = dialogue.askUncommitted(2, "oc", #"{"p":"/","d":null}"#, from: 2)
    _ = dialogue.hub.close(PeerID(2), at: 0)
    #expect(statuses(dialogue.fail()) == ["unavailable"])
    _ = dialogue.close(1)
    _ = dialogue.commit()
    #expect(dialogue.data("n1") == .integer(1))
    #expect(dialogue.data("n2") == .integer(1))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Scheduled writes are applied once by the next server after a crash")
  func afterCrash() throws {
    var dialogue = try Dialogue(peers: 3)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":{".sv":{"increment":1}}}"#, from: 1)
    _ = dialogue.ask(1, "o", #"{"p":"/m","d":1}"#, from: 2)
    _ = dialogue.ask(2, "oc", #"{"p":"/m","d":null}"#, from: 2)
    #expect(dialogue.stored.sessions.map(\.changes.count) == [1])
    dialogue.restart()
    #expect(!dialogue.hub.hasPendingCommits)
    dialogue.hub.resume(at: dialogue.clock)
    #expect(dialogue.hub.hasPendingCommits)
    _ = dialogue.fail()
    _ = dialogue.commit()
    #expect(dialogue.stored.sessions == [])
    for _ in 0..<2 {
      dialogue.restart()
      dialogue.hub.resume(at: dialogue.clock)
      _ = dialogue.commit()
    }
    #expect(dialogue.hub.snapshot == (try Node(json: .object(("n", .integer(1))))))
  }

  @Test("A write scheduled after a crash is not mistaken for one from before it")
  func newSessions() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/old","d":1}"#, from: 1)
    dialogue.restart(peers: 2)
    #expect(dialogue.askUncommitted(1, "o", #"{"p":"/new","d":1}"#, from: 1) == [])
    _ = dialogue.commit()
    #expect(dialogue.data("old") == .integer(1))
    #expect(dialogue.data("new") == .empty)
    #expect(dialogue.stored.sessions.count == 1)
    _ = dialogue.close(1)
    #expect(dialogue.data("new") == .integer(1))
  }

  @Test("A scheduled priority is skipped if its node is gone")
  func priorityOfNothing() throws {
    var dialogue = try Dialogue(#"{"a":1}"#, peers: 2)
    _ = dialogue.ask(1, "om", #"{"p":"/","d":{"a/.priority":2,"b":3}}"#, from: 1)
    _ = dialogue.ask(1, "p", #"{"p":"/a","d":null}"#)
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(json: .object(("b", .integer(3))))))
  }

  @Test("A scheduled priority alone makes no commit if its node is gone")
  func priorityOfNothingAlone() throws {
    var dialogue = try Dialogue(#"{"a":1}"#, peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/a/.priority","d":2}"#, from: 1)
    _ = dialogue.ask(1, "p", #"{"p":"/a","d":null}"#)
    let revision = dialogue.hub.revision
    _ = dialogue.close(1)
    #expect(dialogue.hub.revision == revision)
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Scheduling beyond the limits is refused, and earlier scheduled writes remain")
  func limits() throws {
    var limits = HubLimits()
    limits.disconnectWritesPerPeer = 2
    limits.disconnectBytesPerPeer = 50
    var dialogue = try Dialogue(limits: limits, peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/a","d":1}"#, from: 1)
    let long = String(repeating: "x", count: 60)
    #expect(statuses(dialogue.ask(2, "o", #"{"p":"/a","d":"\#(long)"}"#, from: 1)) == ["too_big"])
    #expect(
      statuses(dialogue.ask(3, "om", #"{"p":"/","d":{"b":1,"c":1}}"#, from: 1)) == ["unavailable"]
    )
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(json: .object(("a", .integer(1))))))
  }

  @Test("Replaced or canceled writes no longer count toward the limits")
  func replacedSchedules() throws {
    var limits = HubLimits()
    limits.disconnectBytesPerPeer = 50
    var dialogue = try Dialogue(limits: limits)
    let long = String(repeating: "x", count: 20)
    for _ in 0..<4 {
      for body in [
        #"{"p":"/a","d":"\#(long)"}"#, #"{"p":"/a","d":{"b":1}}"#, #"{"p":"/a/c","d":"\#(long)"}"#,
      ] {
        #expect(statuses(dialogue.ask(1, "o", body)) == ["ok"])
      }
      #expect(statuses(dialogue.ask(2, "oc", #"{"p":"/a","d":null}"#)) == ["ok"])
    }
  }

  @Test("Scheduled writes up to the limits of count and size are applied")
  func upToLimits() throws {
    var limits = HubLimits()
    limits.disconnectWritesPerPeer = 2
    limits.disconnectBytesPerPeer = 52
    var dialogue = try Dialogue(limits: limits, peers: 2)
    // Forty-nine bytes as JSON, one for the number, and two for the names.
    let long = String(repeating: "x", count: 47)
    let body = #"{"p":"/","d":{"a":"\#(long)","b":1}}"#
    #expect(statuses(dialogue.ask(1, "om", body, from: 1)) == ["ok"])
    #expect(statuses(dialogue.ask(2, "o", #"{"p":"/b","d":12}"#, from: 1)) == ["too_big"])
    _ = dialogue.close(1)
    #expect(dialogue.data("a") == .string(long))
    #expect(dialogue.data("b") == .integer(1))
  }
}
