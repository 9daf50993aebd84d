import RealtimeCore
import Testing

@testable import RealtimeServer

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

  @Test("A request whose rules need too many steps is denied with that reason and reported")
  func exhausted() throws {
    var limits = ServerLimits()
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
          HubMessage(
            .response(
              id: 1,
              ServerMessage.Response(
                .permissionDenied,
                payload: .json(.string("Permission denied"))
              )
            )
          )
        )
      ]
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
