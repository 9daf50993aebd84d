import RealtimeCore
import RealtimeServer
import Testing

/// How scheduled writes might be abused.
@Suite("TreeHub: attacks with onDisconnect writes")
struct DisconnectAttackTests {
  /// The approximate size of what a store receives from peers' scheduled writes.
  private func bytes(_ batch: CommitBatch) -> Int {
    batch.sessions.reduce(0) { sum, update in
      update.session.changes.reduce(sum) {
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

  @Test("A small request next to large scheduled writes stores little")
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

  @Test("A small request inside a large scheduled write stores little")
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

  @Test("Keys count toward the size limit like values")
  func longPaths() throws {
    var limits = ServerLimits()
    limits.disconnectBytes = 10_000
    var dialogue = try Dialogue(limits: limits)
    let name = String(repeating: "k", count: 700)
    let answers = (0..<20).map { number in
      statuses(dialogue.ask(number, "o", #"{"p":"/\#(name)/\#(number)","d":1}"#))
    }
    #expect(answers.last == ["too_big"])
  }

  /// Schedules writes while all are allowed, and forbids some of them before the end.
  private func applied(
    of count: Int,
    tries: Int,
    forbidden: (Int) -> Bool
  ) throws -> (numbers: Set<Int>, commits: Int64) {
    var limits = ServerLimits()
    limits.disconnectTries = tries
    let rules = """
      {"rules": {"shut": {".write": true},
        "a": {"$key": {".write": "!root.child('shut').hasChild($key)"}}}}
      """
    var dialogue = try Dialogue(rules: rules, limits: limits, peers: 2)
    let writes = (0..<count).map { #""k\#($0)":1"# }.joined(separator: ",")
    #expect(statuses(dialogue.ask(1, "om", #"{"p":"/a","d":{\#(writes)}}"#)) == ["ok"])
    let shut = (0..<count).filter(forbidden).map { #""k\#($0)":1"# }.joined(separator: ",")
    _ = dialogue.ask(1, "p", #"{"p":"/shut","d":{\#(shut)}}"#, from: 1)
    let before = dialogue.hub.revision
    _ = dialogue.close(0)
    _ = dialogue.commit()
    let numbers = (0..<count).filter { !dialogue.data(Path(wire: "a/k\($0)")).isEmpty }
    return (Set(numbers), dialogue.hub.revision - before)
  }

  @Test("A few that were forbidden since do not hold up the others", arguments: [1, 2, 100, 2_000])
  func fewForbidden(count: Int) throws {
    let forbidden: Set = [0, count / 3, count - 1]
    let (numbers, commits) = try applied(of: count, tries: 256) { forbidden.contains($0) }
    #expect(numbers == Set(0..<count).subtracting(forbidden))
    #expect(commits < 100)
  }

  @Test("Many that have become forbidden cost a bounded number of tries", arguments: [64, 256])
  func manyForbidden(tries: Int) throws {
    let (numbers, commits) = try applied(of: 2_000, tries: tries) { $0 % 2 == 0 }
    #expect(numbers.allSatisfy { $0 % 2 == 1 })
    #expect(commits <= Int64(tries) && numbers.count <= tries)
  }
}
