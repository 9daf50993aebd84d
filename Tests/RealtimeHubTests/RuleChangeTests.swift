import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: rule changes")
struct RuleChangeTests {
  static let open = #"{"rules": {".read": true, ".write": true}}"#
  static let closed = #"{"rules": {}}"#
  static let onlyA = #"{"rules": {"a": {".read": true, ".write": true}}}"#

  /// Peer 0 is anonymous, peer 1 the administrator.
  private func dialogue(_ rules: String = open) throws -> Dialogue {
    var dialogue = try Dialogue(#"{"a":1,"b":{"x":1,"y":2}}"#, rules: rules)
    dialogue.hub.open(PeerID(1), as: .administrator)
    return dialogue
  }

  @Test("New rules end forbidden listens, are then acknowledged and apply from then on")
  func change() throws {
    var dialogue = try dialogue()
    for (id, place) in ["a", "b"].enumerated() {
      _ = dialogue.ask(id, "q", #"{"p":"/\#(place)","h":""}"#)
    }
    _ = dialogue.ask(3, "q", #"{"p":"/b","q":{"i":".key","l":1,"vf":"l"},"t":9,"h":""}"#)
    #expect(
      dialogue.setRules(4, Self.onlyA, from: 1) == [
        push("c", #"{"p":"b"}"#),
        push("c", #"{"p":"b","q":[{"i":".key","l":1,"vf":"l"}]}"#),
        "1: " + response(4),
      ]
    )
    #expect(dialogue.ask(5, "p", #"{"p":"/b/x","d":5}"#) == [denial(5)])
    #expect(
      dialogue.ask(6, "p", #"{"p":"/b/x","d":5}"#, from: 1) == ["1: " + response(6)]
    )
    #expect(
      dialogue.ask(7, "p", #"{"p":"/a","d":5}"#) == [push("d", #"{"p":"a","d":5}"#), response(7)]
    )
  }

  @Test("Only an administrator can change the rules")
  func onlyAdministrators() throws {
    var dialogue = try dialogue()
    #expect(dialogue.setRules(1, Self.closed) == [denial(1)])
    dialogue.signIn("ann")
    #expect(dialogue.setRules(2, Self.closed) == [denial(2)])
    _ = dialogue.ask(3, "gauth", #"{"cred":"root","authvar":{"uid":"ann"}}"#)
    #expect(dialogue.setRules(4, Self.closed) == [denial(4)])
    dialogue.signIn("root")
    #expect(dialogue.setRules(5, Self.closed) == [response(5)])
  }

  @Test("Invalid rules are refused with the line, and the old rules stay in force")
  func mistake() throws {
    var dialogue = try dialogue()
    let answer = dialogue.setRules(1, "{\n \"rules\": {\n  \".read\": \"auth.x\"}}", from: 1)
    #expect(statuses(answer) == ["invalid_data"])
    #expect(answer.joined().contains("Line 3: "))
    #expect(answer.joined().contains("(column "))
    #expect(dialogue.hub.rulesInForce.source == Self.open)
    #expect(statuses(dialogue.ask(2, "p", #"{"p":"/b/x","d":5}"#)) == ["ok"])
    #expect(dialogue.stored.rules == Self.open)
  }

  @Test("A dry run reports errors and changes nothing")
  func rehearsal() throws {
    var dialogue = try dialogue()
    let admin = PeerID(1)
    #expect(
      dialogue.texts(
        dialogue.hub.setRules(
          source: Self.closed,
          isRehearsal: true,
          by: admin,
          request: 1,
          at: 0
        )
      ) == ["1: " + response(1)]
    )
    #expect(!dialogue.hub.hasPendingCommits)
    #expect(dialogue.hub.rulesInForce.source == Self.open)
    let answer = dialogue.hub.setRules(
      source: "{",
      isRehearsal: true,
      by: admin,
      request: 2,
      at: 0
    )
    #expect(statuses(dialogue.texts(answer)) == ["invalid_data"])
  }

  @Test("A rule change is ordered with the writes and acknowledged once stored")
  func order() throws {
    var dialogue = try dialogue()
    _ = dialogue.askUncommitted(1, "p", #"{"p":"/b/x","d":5}"#)
    let outputs = dialogue.hub.setRules(
      source: Self.closed,
      by: PeerID(1),
      request: 2,
      at: dialogue.clock
    )
    #expect(outputs == [])
    #expect(dialogue.askUncommitted(3, "p", #"{"p":"/b/x","d":6}"#) == [])
    let batch = try dialogue.take()
    #expect(batch.commits.count == 1)
    #expect(batch.rules == Self.closed)
    #expect(
      dialogue.texts(dialogue.hub.batchCommitted()) == [
        response(1), "1: " + response(2), denial(3),
      ]
    )
  }

  @Test("Stored rules survive a restart, comments included")
  func restart() throws {
    var dialogue = try dialogue()
    let source = "{ // nobody\n \"rules\": {}}"
    #expect(dialogue.setRules(1, source, from: 1) == ["1: " + response(1)])
    dialogue.restart()
    #expect(dialogue.hub.rulesInForce.source == source)
    #expect(dialogue.ask(2, "g", #"{"p":"/a","q":{}}"#) == [denial(2)])
  }

  @Test("Rules that cannot be stored are dropped, and listeners they cut off are disconnected")
  func failure() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/b","h":""}"#)
    let outputs = dialogue.hub.setRules(
      source: Self.closed,
      by: PeerID(1),
      request: 2,
      at: dialogue.clock
    )
    #expect(outputs == [])
    #expect(
      dialogue.fail() == [
        "1: " + response(2, "unavailable", #""the disk is full""#),
        "disconnect: the data could not be stored: the disk is full",
      ]
    )
    #expect(dialogue.hub.rulesInForce.source == Self.open)
    #expect(dialogue.close(0) == [])
    dialogue.hub.open(PeerID(2))
    #expect(statuses(dialogue.ask(3, "p", #"{"p":"/b/x","d":6}"#, from: 2)) == ["ok"])
    #expect(dialogue.stored.rules == Self.open)
  }

  @Test("The owner's rules apply at once and are stored with the next batch")
  func byTheOwner() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/b","h":""}"#)
    let rules = try RuleSet(source: Self.onlyA)
    #expect(dialogue.hub.setRules(rules, at: dialogue.clock) == [])
    #expect(dialogue.commit() == [push("c", #"{"p":"b"}"#)])
    #expect(dialogue.stored.rules == Self.onlyA)
  }

  @Test("Data is not sent under rules that fail to be stored")
  func readByLostRules() throws {
    var dialogue = try dialogue(Self.closed)
    _ = dialogue.hub.setRules(try RuleSet(source: Self.open), at: dialogue.clock)
    #expect(dialogue.askUncommitted(1, "g", #"{"p":"/a","q":{}}"#) == [])
    #expect(dialogue.fail() == [response(1, "unavailable", #""the disk is full""#)])
  }
}
