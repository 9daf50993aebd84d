import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: rules for onDisconnect writes")
struct DisconnectRuleTests {
  static let rules = """
    {"rules": {".read": true,
      "users": {"$uid": {".write": "auth.uid === $uid && root.child('frozen').val() !== $uid"}},
      "pair": {".write": "newData.child('a').val() === newData.child('b').val()"}
    }}
    """

  /// Peer 0 is the administrator.
  private func dialogue(_ limits: HubLimits = HubLimits()) throws -> Dialogue {
    var dialogue = try Dialogue(rules: Self.rules, limits: limits, peers: 2)
    dialogue.signIn("root")
    return dialogue
  }

  private func schedule(
    _ dialogue: inout Dialogue,
    _ path: String,
    _ value: String = "1"
  ) -> [String] {
    statuses(dialogue.ask(1, "o", #"{"p":"/\#(path)","d":\#(value)}"#, from: 1))
  }

  @Test("A forbidden write is not scheduled")
  func denied() throws {
    var dialogue = try dialogue()
    #expect(schedule(&dialogue, "users/ann") == ["permission_denied"])
    dialogue.signIn("ann", peer: 1)
    #expect(schedule(&dialogue, "users/bob") == ["permission_denied"])
    #expect(schedule(&dialogue, "users/ann") == ["ok"])
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(parsing: #"{"users":{"ann":1}}"#)))
  }

  @Test("Scheduled writes that have become forbidden are silently dropped, the others applied")
  func deniedThen() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann", peer: 1)
    #expect(schedule(&dialogue, "users/ann/online", "false") == ["ok"])
    dialogue.signIn("bob", peer: 1)
    #expect(schedule(&dialogue, "users/bob/online", "false") == ["ok"])
    _ = dialogue.ask(1, "p", #"{"p":"/frozen","d":"bob"}"#)
    _ = dialogue.close(1)
    #expect(
      dialogue.hub.snapshot
        == (try Node(parsing: #"{"frozen":"bob","users":{"ann":{"online":false}}}"#))
    )
  }

  @Test("A forbidden scheduled write does not block the same user's other writes")
  func partlyDeniedThen() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann", peer: 1)
    #expect(schedule(&dialogue, "users/ann/online", "false") == ["ok"])
    #expect(schedule(&dialogue, "pair", #"{"a":1,"b":1}"#) == ["ok"])
    _ = dialogue.ask(1, "p", #"{"p":"/frozen","d":"ann"}"#)
    _ = dialogue.close(1)
    #expect(
      dialogue.hub.snapshot == (try Node(parsing: #"{"frozen":"ann","pair":{"a":1,"b":1}}"#))
    )
  }

  @Test("Permissions are checked for the user who scheduled the write, not the one who disconnects")
  func identityOfScheduling() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann", peer: 1)
    #expect(schedule(&dialogue, "users/ann") == ["ok"])
    _ = dialogue.ask(2, "unauth", "{}", from: 1)
    #expect(schedule(&dialogue, "users/ann/x") == ["permission_denied"])
    _ = dialogue.close(1)
    #expect(dialogue.data("users/ann") == .integer(1))
  }

  @Test("Writes of several users on one connection are applied in the order they were scheduled")
  func severalUsers() throws {
    var dialogue = try Dialogue(
      rules: #"{"rules": {".read": true, ".write": "auth !== null"}}"#,
      peers: 2
    )
    dialogue.signIn("ann", peer: 1)
    _ = schedule(&dialogue, "a", #"{"x":1,"y":1}"#)
    _ = schedule(&dialogue, "b", "1")
    dialogue.signIn("bob", peer: 1)
    _ = schedule(&dialogue, "a/y", "2")
    _ = schedule(&dialogue, "b", "2")
    dialogue.signIn("ann", peer: 1)
    _ = schedule(&dialogue, "a/z", "3")
    #expect(dialogue.stored.sessions.map(\.identity.uid) == ["ann", "bob", "ann"])
    #expect(dialogue.stored.sessions[0].changes.map(\.path) == ["a"])
    _ = dialogue.ask(2, "oc", #"{"p":"/a/z","d":null}"#, from: 1)
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(parsing: #"{"a":{"x":1,"y":2},"b":2}"#)))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("An identity whose scheduled writes are canceled no longer counts toward the limit")
  func renewals() throws {
    var dialogue = try dialogue()
    for number in 0..<50 {
      dialogue.signIn("ann\(number)", peer: 1)
      _ = dialogue.ask(1, "oc", #"{"p":"/","d":null}"#, from: 1)
      #expect(schedule(&dialogue, "users/ann\(number)") == ["ok"])
    }
    #expect(dialogue.stored.sessions.count == 1)
  }

  @Test("The number of users who schedule writes on one connection is limited")
  func identityLimit() throws {
    var limits = HubLimits()
    limits.disconnectIdentitiesPerPeer = 2
    var dialogue = try dialogue(limits)
    let answers = (0..<3).map { number in
      dialogue.signIn("u\(number)", peer: 1)
      return schedule(&dialogue, "users/u\(number)")
    }
    #expect(answers == [["ok"], ["ok"], ["unavailable"]])
  }

  @Test("The scheduling user survives a restart, and permissions are checked then")
  func restart() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann", peer: 1)
    _ = schedule(&dialogue, "users/ann")
    dialogue.signIn("bob", peer: 1)
    _ = schedule(&dialogue, "users/bob")
    _ = dialogue.ask(2, "p", #"{"p":"/frozen","d":"ann"}"#)
    dialogue.restart()
    _ = dialogue.ask(3, "g", #"{"p":"/","q":{}}"#)
    #expect(dialogue.hub.snapshot == (try Node(parsing: #"{"frozen":"ann","users":{"bob":1}}"#)))
    #expect(dialogue.stored.sessions == [])
  }

  @Test("Writes that are allowed only together are applied together")
  func together() throws {
    var dialogue = try dialogue()
    #expect(statuses(dialogue.ask(1, "om", #"{"p":"/pair","d":{"a":1,"b":1}}"#, from: 1)) == ["ok"])
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(parsing: #"{"pair":{"a":1,"b":1}}"#)))
  }

  @Test("A failed batch restores each user's scheduled writes")
  func rollback() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann", peer: 1)
    _ = schedule(&dialogue, "users/ann")
    dialogue.signIn("bob", peer: 1)
    _ = dialogue.askUncommitted(2, "o", #"{"p":"/users/bob","d":1}"#, from: 1)
    _ = dialogue.fail()
    _ = dialogue.close(1)
    #expect(dialogue.hub.snapshot == (try Node(parsing: #"{"users":{"ann":1}}"#)))
    #expect(dialogue.stored.sessions == [])
  }
}

extension Node {
  init(parsing json: String) throws {
    self = try Node(json: JSONParser.parse(json))
  }
}
