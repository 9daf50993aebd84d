import RealtimeCore
import RealtimeServer
import Testing

/// A denial as sorted JSON.
func denial(_ id: Int) -> String {
  response(id, "permission_denied", #""Permission denied""#)
}

@Suite("TreeHub: rules")
struct AccessTests {
  static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true},
      "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid",
        "age": {".validate": "newData.isNumber()"}}},
      "log": {"$entry": {".write": "!data.exists() && newData.child('at').val() === now"}},
      "inbox": {".write": "auth != null"},
      "counter": {".read": true,
        ".write": "newData.val() === (data.exists() ? data.val() : 0) + 1"},
      "paged": {".read": "query.limitToLast <= 10", ".indexOn": "n"}
    }}
    """
  static let data = """
    {"open":1,"secret":"s","users":{"ann":{"age":3}},"counter":5,
     "paged":{"a":{"n":1},"b":{"n":2}}}
    """

  private func dialogue(_ user: String? = nil) throws -> Dialogue {
    var dialogue = try Dialogue(Self.data, rules: Self.rules)
    if let user { dialogue.signIn(user) }
    return dialogue
  }

  @Test("A denied listen gets an error status, no data and no later events")
  func deniedListen() throws {
    var dialogue = try dialogue()
    #expect(dialogue.ask(1, "q", #"{"p":"/users/ann","h":""}"#) == [denial(1)])
    #expect(dialogue.ask(2, "q", #"{"p":"/","h":""}"#) == [denial(2)])
    dialogue.hub.open(PeerID(1), as: .administrator)
    #expect(
      dialogue.ask(3, "p", #"{"p":"/users/ann/age","d":4}"#, from: 1) == ["1: " + response(3)]
    )
  }

  @Test(
    "A request whose rules need too many steps is denied with that reason and reported"
  )
  func exhausted() throws {
    var limits = HubLimits()
    limits.ruleSteps = 40
    let rule = "root.child('a').val().replace('x', 'y').contains('z') || root.child('b').exists()"
    let rules = #"{"rules": {"r": {".read": "\#(rule)", ".write": "\#(rule)"}}}"#
    let text = String(repeating: "x", count: 100)
    var dialogue = try Dialogue(#"{"a":"\#(text)","r":1}"#, rules: rules, limits: limits)
    let reason = #""Permission denied: the rules take too many steps for this request""#
    for (id, (action, body)) in zip(
      1...,
      [
        ("q", #"{"p":"/r","h":""}"#), ("g", #"{"p":"/r","q":{}}"#), ("p", #"{"p":"/r","d":2}"#),
        ("m", #"{"p":"/r","d":{"a":1,"b":2}}"#), ("p", #"{"p":"/r","d":null}"#),
      ]
    ) {
      let answer = dialogue.ask(id, action, body)
      #expect(answer == [response(id, "permission_denied", reason)], "\(action)")
      let path = dialogue.hub.agenda().exhaustedPath
      #expect(path.map { Path("r").contains($0) } == true, "\(action)")
      #expect(dialogue.hub.agenda().exhaustedPath == nil)
    }
    #expect(dialogue.ask(9, "g", #"{"p":"/a","q":{}}"#) == [denial(9)])
    #expect(dialogue.hub.agenda().exhaustedPath == nil)
  }

  @Test("A denied get returns a status, an allowed one the data")
  func gets() throws {
    var dialogue = try dialogue("ann")
    #expect(dialogue.ask(1, "g", #"{"p":"/secret","q":{}}"#) == [denial(1)])
    #expect(dialogue.ask(2, "g", #"{"p":"/users/ann/age","q":{}}"#) == [response(2, "ok", "3")])
    #expect(dialogue.ask(3, "g", #"{"p":"/users","q":{}}"#) == [denial(3)])
  }

  @Test("A denied write gets a denial and notifies nobody, even if it would change nothing")
  func deniedWrites() throws {
    var dialogue = try dialogue("bob")
    dialogue.hub.open(PeerID(1), as: .administrator)
    _ = dialogue.ask(1, "q", #"{"p":"/users","h":""}"#, from: 1)
    for (id, body) in [
      #"{"p":"/users/ann/age","d":4}"#, #"{"p":"/users/ann/age","d":3}"#,
      #"{"p":"/secret","d":"s"}"#, #"{"p":"/nowhere","d":null}"#,
    ].enumerated() {
      #expect(dialogue.ask(id, "p", body) == [denial(id)])
    }
    #expect(dialogue.hub.revision == 0)
  }

  @Test("A multi-path write is allowed entirely or not at all")
  func merges() throws {
    var dialogue = try dialogue("bob")
    #expect(
      dialogue.ask(1, "m", #"{"p":"/","d":{"open/a":1,"users/ann/age":4}}"#) == [denial(1)]
    )
    #expect(dialogue.data("open") == .integer(1))
    #expect(
      dialogue.ask(2, "m", #"{"p":"/","d":{"open/a":1,"users/bob/age":4}}"#) == [response(2)]
    )
  }

  @Test("A .validate rule checks new data even where .write allows the write")
  func validation() throws {
    var dialogue = try dialogue("ann")
    #expect(dialogue.ask(1, "p", #"{"p":"/users/ann/age","d":"old"}"#) == [denial(1)])
    #expect(dialogue.ask(2, "p", #"{"p":"/users/ann","d":{"age":"old"}}"#) == [denial(2)])
    #expect(dialogue.ask(3, "p", #"{"p":"/users/ann/age","d":null}"#) == [response(3)])
  }

  @Test("Rules see the resolved server values of a write and share its timestamp")
  func decidedValues() throws {
    var dialogue = try dialogue()
    #expect(
      dialogue.ask(1, "p", #"{"p":"/log/a","d":{"at":{".sv":"timestamp"}}}"#) == [response(1)]
    )
    #expect(
      dialogue.ask(2, "p", #"{"p":"/log/b","d":{"at":\#(dialogue.clock - 1)}}"#) == [denial(2)]
    )
    #expect(
      dialogue.ask(3, "p", #"{"p":"/counter","d":{".sv":{"increment":1}}}"#) == [response(3)]
    )
    #expect(
      dialogue.ask(4, "p", #"{"p":"/counter","d":{".sv":{"increment":2}}}"#) == [denial(4)]
    )
  }

  @Test("Rules see applied data before it is stored")
  func appliedData() throws {
    var dialogue = try dialogue()
    for id in 1...2 {
      _ = dialogue.askUncommitted(id, "p", #"{"p":"/counter","d":{".sv":{"increment":1}}}"#)
    }
    #expect(dialogue.askUncommitted(3, "p", #"{"p":"/counter","d":6}"#) == [])
    #expect(statuses(dialogue.commit()) == ["ok", "ok", "permission_denied"])
  }

  @Test("A stale transaction gets datastale even if its write is now forbidden")
  func staleBeforeDenied() throws {
    var dialogue = try dialogue()
    let body = #"{"p":"/counter","d":5,"h":"\#(Node.integer(4).hash)"}"#
    #expect(statuses(dialogue.ask(1, "p", body)) == ["datastale"])
    let fresh = #"{"p":"/counter","d":6,"h":"\#(Node.integer(5).hash)"}"#
    #expect(statuses(dialogue.ask(2, "p", fresh)) == ["ok"])
  }

  @Test("A peer with neither read nor write access learns nothing from guessed hashes")
  func noOracle() throws {
    var dialogue = try dialogue()
    for (id, hash) in [Node.string("s").hash, Node.string("x").hash].enumerated() {
      let body = #"{"p":"/secret","d":1,"h":"\#(hash)"}"#
      #expect(dialogue.ask(id, "p", body) == [denial(id)])
    }
  }

  @Test("A peer with only write access learns that the data changed, but not the data")
  func blindTransaction() throws {
    var dialogue = try dialogue("ann")
    _ = dialogue.ask(1, "p", #"{"p":"/inbox","d":7}"#)
    let body = #"{"p":"/inbox","d":1,"h":"\#(Node.integer(1).hash)"}"#
    #expect(statuses(dialogue.ask(2, "p", body)) == ["datastale"])
  }

  @Test("An internal peer with only write access learns that the data changed, but not the data")
  func blindInternalPeer() throws {
    var dialogue = try dialogue()
    let peer = PeerID(1)
    dialogue.hub.open(peer, as: .user(.object(("uid", .string("ann")))), isInternal: true)
    var write = WriteRequest(path: "inbox", operation: .set(.integer(1)))
    write.hash = Node.string("x").hash
    let outputs = dialogue.hub.handle(.request(id: 1, .write(write)), from: peer, at: 0)
    let reason = JSONValue.string("the data at /inbox has changed")
    let stale = ServerMessage.Response(.dataStale, payload: .json(reason))
    #expect(outputs == [.deliver(peer, .response(id: 1, stale))])
  }

  @Test("A rule can require a certain query")
  func queries() throws {
    var dialogue = try dialogue()
    let small = #"{"p":"/paged","q":{"i":"n","l":10,"vf":"r"},"t":1,"h":""}"#
    let large = #"{"p":"/paged","q":{"i":"n","l":11,"vf":"r"},"t":2,"h":""}"#
    #expect(statuses(dialogue.ask(1, "q", small)) == ["ok"])
    #expect(dialogue.ask(2, "q", large) == [denial(2)])
    #expect(dialogue.ask(3, "q", #"{"p":"/paged","h":""}"#) == [denial(3)])
  }

  @Test("An administrator bypasses the rules")
  func administrator() throws {
    var dialogue = try dialogue("root")
    #expect(dialogue.ask(1, "p", #"{"p":"/users/ann/age","d":"x"}"#) == [response(1)])
    #expect(dialogue.ask(2, "g", #"{"p":"/secret","q":{}}"#) == [response(2, "ok", #""s""#)])
  }

  @Test("The owner sets a peer's identity before sign-in")
  func base() throws {
    var dialogue = try dialogue()
    dialogue.hub.open(PeerID(1), as: .administrator)
    dialogue.hub.open(PeerID(2), as: .user(.object(("uid", .string("ann")))))
    #expect(statuses(dialogue.ask(1, "g", #"{"p":"/secret","q":{}}"#, from: 1)) == ["ok"])
    #expect(statuses(dialogue.ask(1, "g", #"{"p":"/users/ann","q":{}}"#, from: 2)) == ["ok"])
    #expect(dialogue.hub.identity(of: PeerID(2))?.uid == "ann")
    #expect(dialogue.hub.identity(of: PeerID(3)) == nil)
  }

  @Test("Invalid stored rules deny everything, and the owner can read the error")
  func damagedRules() throws {
    let stored = StoredTree(root: .integer(1), rules: "{\n  \"rules\": {\".read\": maybe}}")
    var hub = TreeHub(stored: stored)
    #expect(hub.storedRulesProblem?.line == 2)
    hub.open(PeerID(0))
    let request = ClientMessage.request(id: 1, .get(path: .root, query: .all))
    #expect(
      hub.handle(request, from: PeerID(0), at: 0) == [
        .send(
          PeerID(0),
          ServerMessage.response(
            id: 1,
            ServerMessage.Response(.permissionDenied, payload: .json(.string("Permission denied")))
          ).encoded()
        )
      ]
    )
  }

  @Test("A denied repeat of a listen ends the first")
  func repeatedListen() throws {
    var dialogue = try dialogue("ann")
    dialogue.hub.open(PeerID(1), as: .administrator)
    _ = dialogue.ask(1, "q", #"{"p":"/users/ann","h":""}"#)
    dialogue.signIn("ann")
    #expect(statuses(dialogue.ask(2, "q", #"{"p":"/users/ann","h":""}"#)) == ["ok"])
    _ = dialogue.ask(3, "unauth", "{}")
    #expect(dialogue.ask(4, "q", #"{"p":"/users/ann","h":""}"#) == [denial(4)])
    #expect(
      dialogue.ask(5, "p", #"{"p":"/users/ann/age","d":9}"#, from: 1) == ["1: " + response(5)]
    )
  }

  @Test("An internal peer gets the data in the response to its write")
  func internalPeer() throws {
    var dialogue = try dialogue()
    let peer = PeerID(1)
    dialogue.hub.open(peer, isInternal: true)
    let increment = WriteRequest(
      path: "counter",
      operation: .set(.leaf(.deferred(.incrementInteger(1))))
    )
    #expect(dialogue.hub.handle(.request(id: 1, .write(increment)), from: peer, at: 0) == [])
    _ = try dialogue.take()
    let ok = ServerMessage.Response(.ok, payload: .node(.integer(6)))
    #expect(dialogue.hub.batchCommitted() == [.deliver(peer, .response(id: 1, ok))])
    var late = increment
    late.hash = Node.integer(1).hash
    let stale = ServerMessage.Response(.dataStale, payload: .node(.integer(6)))
    #expect(
      dialogue.hub.handle(.request(id: 2, .write(late)), from: peer, at: 0) == [
        .deliver(peer, .response(id: 2, stale))
      ]
    )
    late.path = "inbox"
    let denied = ServerMessage.Response(
      .permissionDenied,
      payload: .json(.string("Permission denied"))
    )
    #expect(
      dialogue.hub.handle(.request(id: 3, .write(late)), from: peer, at: 0) == [
        .deliver(peer, .response(id: 3, denied))
      ]
    )
  }
}
