import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: restart after a batch with unknown outcome")
struct RestartTests {
  /// An increment with a write key from the client.
  private func increment(_ key: String) -> String {
    #"{"p":"/n","d":{".sv":{"increment":1}},"i":"\#(key)"}"#
  }

  /// Both possible outcomes of a batch that no client was told about.
  @Test("A write resent after the restart is applied once", arguments: [true, false])
  func repetition(isStored: Bool) throws {
    var dialogue = try Dialogue(peers: 2)
    #expect(dialogue.ask(1, "p", increment("c:1")) == [response(1)])
    _ = dialogue.askUncommitted(2, "p", increment("c:2"))
    _ = dialogue.askUncommitted(1, "p", increment("d:1"), from: 1)
    let batch = try dialogue.take()
    // Later writes have not been attempted.
    _ = dialogue.askUncommitted(3, "p", increment("c:3"))
    if isStored { dialogue.store(batch) }
    dialogue.restart(peers: 2)
    #expect(dialogue.data("n") == .integer(isStored ? 3 : 1))
    for id in 1...3 { #expect(dialogue.ask(id, "p", increment("c:\(id)")) == [response(id)]) }
    #expect(dialogue.ask(1, "p", increment("d:1"), from: 1) == ["1: " + response(1)])
    #expect(dialogue.data("n") == .integer(4))
  }

  @Test(
    "A condition that fails because the write itself was stored does not refuse it",
    arguments: [true, false]
  )
  func condition(isStored: Bool) throws {
    var dialogue = try Dialogue(peers: 2)
    let first = #"{"p":"/n","d":1,"h":"","i":"c:1"}"#
    let second = #"{"p":"/n","d":2,"h":"","i":"d:1"}"#
    _ = dialogue.askUncommitted(1, "p", first)
    // A write in the same batch is refused, and its client is not told either.
    _ = dialogue.askUncommitted(1, "p", second, from: 1)
    let batch = try dialogue.take()
    if isStored { dialogue.store(batch) }
    dialogue.restart(peers: 2)
    #expect(dialogue.ask(1, "p", first) == [response(1)])
    #expect(statuses(dialogue.ask(1, "p", second, from: 1)) == ["datastale"])
    #expect(dialogue.data("n") == .integer(1))
  }

  @Test("onDisconnect writes of the lost connections are applied once", arguments: [0, 1, 2])
  func scheduled(batches: Int) throws {
    var dialogue = try Dialogue(peers: 3)
    let body = #"{"p":"/n","d":{".sv":{"increment":1}}}"#
    _ = dialogue.ask(1, "o", body, from: 1)
    // Neither the disconnection of one peer nor the request of the other has been acknowledged.
    _ = dialogue.hub.close(PeerID(1), at: dialogue.clock)
    let first = try dialogue.take()
    _ = dialogue.askUncommitted(1, "o", body, from: 2)
    let second = try dialogue.take()
    for batch in [first, second].prefix(batches) { dialogue.store(batch) }
    dialogue.restart()
    dialogue.hub.resume(at: dialogue.clock)
    _ = dialogue.commit()
    #expect(dialogue.data("n") == .integer(batches < 2 ? 1 : 2))
    #expect(dialogue.stored.sessions == [])
  }

  @Test(
    "Unacknowledged rules are in force or not, and can be set again",
    arguments: [true, false]
  )
  func rules(isStored: Bool) throws {
    var dialogue = try Dialogue()
    dialogue.signIn("root")
    let closed = #"{"rules":{}}"#
    _ = dialogue.hub.setRules(source: closed, by: PeerID(0), request: 1, at: dialogue.clock)
    let batch = try dialogue.take()
    if isStored { dialogue.store(batch) }
    dialogue.restart()
    let read = dialogue.ask(1, "g", #"{"p":"/","q":{}}"#)
    #expect(statuses(read) == [isStored ? "permission_denied" : "ok"])
    dialogue.signIn("root")
    #expect(dialogue.setRules(2, closed) == [response(2)])
  }
}
