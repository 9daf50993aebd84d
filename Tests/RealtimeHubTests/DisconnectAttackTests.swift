import RealtimeCore
import RealtimeHub
import Testing

/// How scheduled writes might be abused.
@Suite("TreeHub: attacks with writes at the end of a connection")
struct DisconnectAttackTests {
  /// The approximate size of what a store receives from peers' scheduled writes.
  private func bytes(_ batch: CommitBatch) -> Int {
    batch.sessions.reduce(0) { sum, session in
      session.changes.reduce(sum) {
        $0 + $1.node.json(.export).text.utf8.count + $1.path.description.utf8.count
      }
    }
  }

  /// The number of bytes stored for one request.
  private func stored(
    _ dialogue: inout Dialogue,
    _ action: String,
    _ body: String
  ) throws -> Int {
    _ = dialogue.askUncommitted(1, action, body)
    let batch = try dialogue.take()
    dialogue.store(batch)
    #expect(statuses(dialogue.texts(dialogue.hub.batchCommitted())) == ["ok"])
    return bytes(batch)
  }

  @Test("A short request beside much that is scheduled makes little to store")
  func beside() throws {
    var dialogue = try Dialogue()
    let text = String(repeating: "x", count: 64 * 1_024)
    _ = try stored(&dialogue, "o", #"{"p":"/a/big","d":"\#(text)"}"#)
    for number in 0..<100 {
      _ = try stored(&dialogue, "o", #"{"p":"/b/\#(number)","d":1}"#)
    }
    #expect(try stored(&dialogue, "o", #"{"p":"/c","d":1}"#) < 100)
    #expect(try stored(&dialogue, "oc", #"{"p":"/b/7"}"#) < 100)
    #expect(try stored(&dialogue, "om", #"{"p":"/d","d":{"x":1,"y":2}}"#) < 100)
  }

  @Test("A short request within much that is scheduled makes little to store")
  func within() throws {
    var dialogue = try Dialogue(peers: 2)
    let text = String(repeating: "x", count: 64 * 1_024)
    _ = try stored(&dialogue, "o", #"{"p":"/a","d":{"big":"\#(text)","b":{"c":1,"d":2}}}"#)
    for number in 0..<50 {
      #expect(try stored(&dialogue, "o", #"{"p":"/a/b/c","d":\#(number)}"#) < 100)
    }
    #expect(try stored(&dialogue, "oc", #"{"p":"/a/b/d"}"#) < 100)
    #expect(try stored(&dialogue, "oc", #"{"p":"/a/big/none"}"#) < 100)
    dialogue.restart(peers: 2)
    dialogue.hub.resume(at: dialogue.clock)
    _ = dialogue.commit()
    #expect(dialogue.data("a/b") == (try Node(parsing: #"{"c":49}"#)))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Names count as much as values do")
  func longPaths() throws {
    var limits = HubLimits()
    limits.disconnectBytesPerPeer = 10_000
    var dialogue = try Dialogue(limits: limits)
    let name = String(repeating: "k", count: 700)
    let answers = (0..<20).map { number in
      statuses(dialogue.ask(number, "o", #"{"p":"/\#(name)/\#(number)","d":1}"#))
    }
    #expect(answers.last == ["too_big"])
  }
}
