import RealtimeCore
import RealtimeHub
import Testing

@Suite("TreeHub: batches of which no one knows whether they are stored")
struct DoubtTests {
  private let bye = "disconnect: the data could not be stored: the disk is full"
  private let reason = #""the disk is full""#

  /// An increment with the number that a client gives it.
  private func increment(_ key: String) -> String {
    #"{"p":"/n","d":{".sv":{"increment":1}},"i":"\#(key)"}"#
  }

  /// A hub with a write of a client in doubt, whose connection, 0, has been ended.
  private func doubtful(_ data: String = "null", peers: Int = 4) throws -> Dialogue {
    var dialogue = try Dialogue(data, peers: peers)
    _ = dialogue.askUncommitted(1, "p", increment("c:1"))
    #expect(dialogue.fail(.thisBatch) == [bye])
    #expect(dialogue.data("n") == .empty)
    return dialogue
  }

  @Test("Who waits for one is not answered, and what is sent again is stored once")
  func repetition() throws {
    var dialogue = try doubtful()
    #expect(dialogue.hub.close(PeerID(0), at: dialogue.clock) == [])
    #expect(dialogue.askUncommitted(1, "p", increment("c:1"), from: 1) == [])
    #expect(dialogue.fail(.earlierBatch) == ["1: " + bye])
    #expect(dialogue.askUncommitted(1, "p", increment("c:1"), from: 2) == [])
    #expect(dialogue.askUncommitted(2, "p", increment("c:2"), from: 2) == [])
    // The second comes while the first tries the store, and must not be refused before it.
    #expect(dialogue.commit() == ["2: " + response(1), "2: " + bye])
    #expect(dialogue.ask(1, "p", increment("c:1"), from: 3) == ["3: " + response(1)])
    #expect(dialogue.ask(2, "p", increment("c:2"), from: 3) == ["3: " + response(2)])
    #expect(dialogue.data("n") == .integer(2))
  }

  @Test("What has come up again after a restart is not stored a second time")
  func restart() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.askUncommitted(1, "p", increment("c:1"))
    let batch = try dialogue.take()
    let error = StoreError(.failed, "no", doubt: .thisBatch)
    #expect(dialogue.texts(dialogue.hub.batchFailed(error, at: 0)).count == 1)
    // Another client is told for certain.
    _ = dialogue.askUncommitted(1, "p", increment("d:1"), from: 1)
    #expect(statuses(dialogue.fail(.earlierBatch)) == ["unavailable"])
    dialogue.store(batch)
    dialogue.restart()
    #expect(dialogue.ask(1, "p", increment("c:1")) == [response(1)])
    #expect(dialogue.ask(2, "p", increment("c:2")) == [response(2)])
    #expect(dialogue.data("n") == .integer(2))
  }

  @Test("A write that is none of them is refused, and remembered as that; reads go on")
  func others() throws {
    var dialogue = try doubtful(#"{"a":1}"#)
    #expect(dialogue.askUncommitted(1, "p", increment("d:1"), from: 1) == [])
    #expect(dialogue.askUncommitted(2, "p", increment("d:2"), from: 1) == [])
    #expect(
      dialogue.fail(.earlierBatch)
        == [response(1, "unavailable", reason), response(2, "unavailable", reason)]
        .map { "1: " + $0 }
    )
    let read = dialogue.ask(3, "g", #"{"p":"/a","q":{}}"#, from: 1)
    #expect(read == ["1: " + response(3, "ok", "1")])
    #expect(statuses(dialogue.ask(4, "p", increment("d:1"), from: 1)) == ["unavailable"])
    #expect(dialogue.data("n") == .empty)
  }

  @Test("A write without a key may be one that was sent before, and is not refused either")
  func withoutKey() throws {
    var dialogue = try doubtful()
    let write = #"{"p":"/n","d":1}"#
    #expect(dialogue.askUncommitted(1, "p", write, from: 1) == [])
    #expect(dialogue.askUncommitted(1, "o", write, from: 2) == [])
    #expect(dialogue.askUncommitted(1, "p", write, from: 3) == [])
    #expect(dialogue.fail(.earlierBatch) == ["1: " + bye, "2: " + bye, "3: " + bye])
    // Also for a reason that has nothing to do with the store.
    dialogue.hub.open(PeerID(4))
    #expect(dialogue.ask(1, "p", #"{"p":"/n","d":1,"h":"stale"}"#, from: 4) == ["4: " + bye])
  }

  @Test("Only what was tried is in doubt, not what waited behind it")
  func behind() throws {
    var dialogue = try Dialogue(peers: 4)
    for peer in 1...3 {
      _ = dialogue.askUncommitted(1, "p", increment("c\(peer):1"), from: peer)
      if peer < 3 { _ = try dialogue.take() }
    }
    // Of a client of which something was tried, nothing that follows can be told apart.
    _ = dialogue.askUncommitted(2, "p", increment("c1:2"), from: 1)
    _ = try dialogue.take()
    let error = StoreError(.full, "no", doubt: .thisBatch)
    #expect(
      dialogue.texts(dialogue.hub.batchFailed(error, at: 0)) == [
        "2: " + response(1, "unavailable", reason), "3: " + response(1, "unavailable", reason),
        "1: " + bye,
      ]
    )
  }

  @Test("Whatever would refuse a write in doubt, its client is not told")
  func refusals() throws {
    var dialogue = try Dialogue(peers: 4)
    let first = #"{"p":"/n","d":1,"h":"","i":"c:1"}"#
    _ = dialogue.askUncommitted(1, "p", first)
    // The rest of the batch: one that is refused, one of a peer that goes, one that is said twice.
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/n","d":2,"h":"","i":"d:1"}"#, from: 1)
    _ = dialogue.askUncommitted(1, "p", increment("e:1"), from: 2)
    let batch = try dialogue.take()
    _ = dialogue.texts(dialogue.hub.close(PeerID(2), at: 0))
    #expect(dialogue.askUncommitted(1, "p", increment("e:1"), from: 3) == [])
    let error = StoreError(.full, "no", doubt: .thisBatch)
    #expect(
      dialogue.texts(dialogue.hub.batchFailed(error, at: 0)) == [bye, "1: " + bye, "3: " + bye]
    )
    for peer in 5...6 { dialogue.hub.open(PeerID(peer)) }
    // Had the batch been stored, this would have been an answer to give.
    let second = #"{"p":"/n","d":1,"h":"stale","i":"c:1"}"#
    #expect(dialogue.ask(1, "p", second, from: 5) == ["5: " + bye])
    dialogue.store(batch)
    dialogue.restart(peers: 3)
    #expect(dialogue.ask(1, "p", first) == [response(1)])
    // What was refused and not stored is looked at again.
    #expect(
      statuses(dialogue.ask(1, "p", #"{"p":"/n","d":2,"h":"","i":"d:1"}"#, from: 1))
        == ["datastale"]
    )
    #expect(dialogue.ask(1, "p", increment("e:1"), from: 2) == ["2: " + response(1)])
    #expect(dialogue.data("n") == .integer(2))
  }

  @Test("A batch that changes nothing ends the doubt, without anyone writing")
  func trial() throws {
    var dialogue = try doubtful()
    #expect(!dialogue.hub.hasPendingCommits)
    #expect(try dialogue.take().commits == [])
    // Nothing of the client that is in doubt counts as dealt with.
    let error = StoreError(.full, "no", doubt: .earlierBatch)
    #expect(dialogue.hub.batchFailed(error, at: 0) == [])
    #expect(try dialogue.take().commits == [])
    #expect(dialogue.hub.batchCommitted() == [])
    #expect(dialogue.hub.takeBatch() == nil)
    #expect(
      statuses(dialogue.ask(1, "p", #"{"p":"/n","d":1,"h":"stale"}"#, from: 1)) == ["datastale"]
    )
  }

  @Test("A failure that leaves nothing open ends the doubt as well")
  func settled() throws {
    var dialogue = try doubtful()
    _ = dialogue.askUncommitted(1, "p", increment("c:1"), from: 1)
    #expect(dialogue.fail() == ["1: " + response(1, "unavailable", reason)])
    #expect(dialogue.hub.takeBatch() == nil)
    #expect(statuses(dialogue.ask(2, "p", increment("c:1"), from: 1)) == ["unavailable"])
  }

  @Test("A later batch in doubt takes the place of the one before")
  func another() throws {
    var dialogue = try doubtful()
    _ = dialogue.askUncommitted(1, "p", increment("d:1"), from: 1)
    #expect(dialogue.fail(.thisBatch) == ["1: " + bye])
    _ = dialogue.askUncommitted(1, "p", increment("c:1"), from: 2)
    _ = dialogue.askUncommitted(1, "p", increment("d:1"), from: 3)
    #expect(
      dialogue.fail(.earlierBatch) == ["2: " + response(1, "unavailable", reason), "3: " + bye]
    )
  }

  @Test("Peers in the server are told that it is not known")
  func insider() throws {
    var dialogue = try Dialogue()
    dialogue.hub.open(PeerID(1), isInternal: true)
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/n","d":1}"#, from: 1)
    let unknown = response(
      1,
      "unavailable",
      #""the disk is full; whether this was stored is not known""#
    )
    #expect(dialogue.fail(.thisBatch) == ["1: value: " + unknown])
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/n","d":1}"#, from: 1)
    #expect(dialogue.fail(.earlierBatch) == ["1: value: " + response(1, "unavailable", reason)])
  }
}
