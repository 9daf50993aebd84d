import RealtimeCore
import RealtimeHub
import Testing

@Suite("TreeHub: writes at the end of a connection")
struct DisconnectTests {
  @Test("Scheduled writes are applied once, as one commit, with values decided then")
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

  @Test("A withdrawal takes back what is scheduled at a path and below, and nothing else")
  func cancel() throws {
    var dialogue = try Dialogue(peers: 2)
    for (id, path) in ["a/x", "a/y/z", "b"].enumerated() {
      _ = dialogue.ask(id, "o", #"{"p":"/\#(path)","d":1}"#, from: 1)
    }
    #expect(dialogue.ask(4, "oc", #"{"p":"/a","d":null}"#, from: 1) == ["1: " + response(4)])
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(json: .object(("b", .integer(1))))))
  }

  @Test("A withdrawal below a scheduled write leaves its other children scheduled")
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

  @Test("A scheduled write replaces what was scheduled below, and takes in what comes later")
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

  @Test("What a failed batch undid is applied with the next write, once")
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

  @Test("A connection that ends while the store is being tried again loses nothing")
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

  @Test("What ends while the store is being tried again is applied behind what tries it")
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

  @Test("What a failed batch undid is applied without another write, once")
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

  @Test("What has been applied and stored is not applied again when a later batch fails")
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

  @Test("What was scheduled in the batch that fails, by who has gone, is applied with the next")
  func scheduledInFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.askUncommitted(1, "o", #"{"p":"/n","d":{".sv":{"increment":1}}}"#, from: 1)
    _ = dialogue.hub.close(PeerID(1), at: 0)
    _ = dialogue.fail()
    _ = dialogue.commit()
    #expect(dialogue.data("n") == .integer(1))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("What a failed batch undid comes before whatever is written later")
  func orderAfterFailure() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/n","d":"gone"}"#, from: 1)
    _ = dialogue.hub.close(PeerID(1), at: 0)
    _ = dialogue.fail()
    #expect(dialogue.ask(1, "p", #"{"p":"/n","d":"here"}"#) == [response(1)])
    #expect(dialogue.data("n") == .string("here"))
  }

  @Test("While the store fails, the latest of those who have gone are kept")
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

  @Test("What has been applied and stored takes no place among what is still to be applied")
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

  @Test("What a failed batch undid comes before what has ended since")
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

  @Test("A schedule is acknowledged when it is durable, and refused when it cannot be stored")
  func durable() throws {
    var dialogue = try Dialogue(peers: 2)
    #expect(dialogue.askUncommitted(1, "o", #"{"p":"/n","d":1}"#, from: 1) == [])
    #expect(statuses(dialogue.fail()) == ["unavailable"])
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == .empty)
  }

  @Test("A schedule that is refused as a batch before it fails is not stored with a later one")
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

  @Test("A withdrawal that cannot be stored leaves the schedule as it was")
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

  @Test("What was scheduled is applied once by the server that comes after a crash")
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

  @Test("A schedule made after a crash is not taken for one from before it")
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

  @Test("A priority scheduled for what is gone by then is left out")
  func priorityOfNothing() throws {
    var dialogue = try Dialogue(#"{"a":1}"#, peers: 2)
    _ = dialogue.ask(1, "om", #"{"p":"/","d":{"a/.priority":2,"b":3}}"#, from: 1)
    _ = dialogue.ask(1, "p", #"{"p":"/a","d":null}"#)
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(json: .object(("b", .integer(3))))))
  }

  @Test("A priority alone, scheduled for what is gone by then, is no commit")
  func priorityOfNothingAlone() throws {
    var dialogue = try Dialogue(#"{"a":1}"#, peers: 2)
    _ = dialogue.ask(1, "o", #"{"p":"/a/.priority","d":2}"#, from: 1)
    _ = dialogue.ask(1, "p", #"{"p":"/a","d":null}"#)
    let revision = dialogue.hub.revision
    _ = dialogue.close(1)
    #expect(dialogue.hub.revision == revision)
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Too many scheduled writes are refused, and what was scheduled stays")
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

  @Test("What has been replaced or withdrawn counts for no limit any more")
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

  @Test("As many scheduled writes as are allowed are applied, and as many bytes")
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
