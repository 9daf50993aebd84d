import RealtimeCore
import RealtimeServer
import Testing

/// How strangers might try to make a client's write count twice, or not at all.
@Suite("TreeHub: attacks on exactly-once writes")
struct LedgerAttackTests {
  private static let rules = """
    {"rules": {".read": true,
      "n": {".write": "auth !== null", ".validate": "newData.isNumber()"},
      "wall": {".write": true},
      "once": {".write": "auth !== null && !data.exists()"}
    }}
    """

  private static let increment = #"{"p":"/n","d":{".sv":{"increment":1}},"i":"victim:5"}"#

  /// Peer 0 is the victim, who has signed in; the others have not.
  private func dialogue(_ limits: ServerLimits = ServerLimits(), peers: Int = 4) throws -> Dialogue
  {
    var dialogue = try Dialogue(rules: Self.rules, limits: limits, peers: peers)
    dialogue.signIn("ann")
    return dialogue
  }

  private func write(_ path: String, _ key: String) -> String {
    #"{"p":"/\#(path)","d":1,"i":"\#(key)"}"#
  }

  @Test("Refused writes under made-up client names evict nobody")
  func refusedFlood() throws {
    var dialogue = try dialogue()
    #expect(statuses(dialogue.ask(1, "p", Self.increment)) == ["ok"])
    for number in 0..<10_500 {
      dialogue.clock += 1
      _ = dialogue.askUncommitted(number, "p", write("n", "made-up-\(number):1"), from: 1)
    }
    #expect(statuses(dialogue.ask(2, "p", Self.increment)) == ["ok"])
    #expect(dialogue.data("n") == .integer(1))
    #expect(dialogue.stored.ledger.map(\.client) == ["victim"])
  }

  @Test("Unauthenticated writes under made-up names evict no user, before or after a restart")
  func strangersFlood() throws {
    var limits = ServerLimits()
    limits.ledgerClients = 20
    var dialogue = try dialogue(limits)
    #expect(statuses(dialogue.ask(1, "p", Self.increment)) == ["ok"])
    for round in 0..<2 {
      for number in 0..<100 {
        dialogue.clock += 1
        // Half of them, each on its own connection.
        let peer = number % 2 == 0 ? 1 : 100 + 100 * round + number
        if peer > 1 { dialogue.hub.open(PeerID(peer)) }
        _ = dialogue.ask(number, "p", write("wall", "made-up-\(number)-\(round):1"), from: peer)
      }
      #expect(statuses(dialogue.ask(2, "p", Self.increment)) == ["ok"])
      #expect(dialogue.data("n") == .integer(1))
      #expect(dialogue.stored.ledger.count <= 21)
      dialogue.restart(peers: 4)
      dialogue.signIn("ann")
    }
  }

  @Test("A client that writes under many names evicts only its own")
  func manyNames() throws {
    var limits = ServerLimits()
    limits.ledgerClients = 50
    for isSignedIn in [true, false] {
      var dialogue = try dialogue(limits)
      let place = isSignedIn ? "n" : "wall"
      if isSignedIn {
        dialogue.signIn("mallory", peer: 1)
      } else {
        _ = dialogue.ask(1, "unauth", "{}")
      }
      _ = dialogue.ask(1, "p", write(place, "victim:5"))
      for number in 0..<200 {
        dialogue.clock += 1
        _ = dialogue.ask(number, "p", write(place, "made-up-\(number):1"), from: 1)
      }
      _ = dialogue.ask(8, "p", #"{"p":"/\#(place)","d":7}"#)
      #expect(statuses(dialogue.ask(9, "p", write(place, "victim:5"))) == ["ok"])
      #expect(dialogue.data(Path(wire: place)) == .integer(7))
    }
  }

  @Test("The entry of a client with many refusals stays within a few kilobytes")
  func refusalsAreBounded() throws {
    var dialogue = try dialogue()
    for number in 0..<3_000 {
      let value = number % 2 == 0 ? #""x""# : "\(number)"
      _ = dialogue.askUncommitted(
        number,
        "p",
        #"{"p":"/n","d":\#(value),"i":"c:\#(number)"}"#
      )
    }
    let entry = try #require(try dialogue.take().ledger.first)
    #expect(entry.refused.runs.count <= 128)
  }
}
