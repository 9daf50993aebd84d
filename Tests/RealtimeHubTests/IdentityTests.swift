import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: the identity of a peer")
struct IdentityTests {
  static let rules = """
    {"rules": {
      "public": {".read": true},
      "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}},
      "lists": {".read": "auth != null || query.limitToFirst <= 2"}
    }}
    """
  static let expired = push("ac", #"{"s":"expired_token","d":"Auth token is expired."}"#)

  private func dialogue() throws -> Dialogue {
    try Dialogue(#"{"public":1,"users":{"ann":1,"bob":2}}"#, rules: Self.rules)
  }

  @Test("Sign-in returns the auth value that rules see and the expiry in seconds")
  func signIn() throws {
    var dialogue = try dialogue()
    #expect(
      dialogue.ask(1, "auth", #"{"cred":"ann"}"#)
        == [response(1, "ok", #"{"auth":{"uid":"ann"}}"#)]
    )
    #expect(
      dialogue.ask(2, "gauth", #"{"cred":"ann 1800000000000"}"#) == [
        response(2, "ok", #"{"auth":{"uid":"ann"},"expires":1800000000}"#)
      ]
    )
    #expect(dialogue.hub.nextDeadline == 1_800_000_000_000)
    #expect(statuses(dialogue.ask(3, "g", #"{"p":"/users/ann","q":{}}"#)) == ["ok"])
  }

  @Test("An invalid credential leaves the peer unauthenticated")
  func badCredential() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann")
    #expect(
      dialogue.ask(1, "auth", #"{"cred":"bad"}"#) == [
        response(1, "invalid_token", #""the token is bad""#)
      ]
    )
    #expect(dialogue.ask(2, "g", #"{"p":"/users/ann","q":{}}"#) == [denial(2)])
    #expect(statuses(dialogue.ask(3, "g", #"{"p":"/public","q":{}}"#)) == ["ok"])
  }

  @Test("An expired credential is refused")
  func endedCredential() throws {
    var dialogue = try dialogue()
    #expect(
      dialogue.ask(1, "auth", #"{"cred":"ann \#(dialogue.clock)"}"#) == [
        response(1, "expired_token", #""Auth token is expired.""#)
      ]
    )
    #expect(dialogue.hub.identity(of: PeerID(0)) == .anonymous)
  }

  @Test("A hub without sign-in refuses every credential")
  func noSignIn() throws {
    var hub = TreeHub(stored: StoredTree())
    hub.open(PeerID(0))
    let request = ClientRequest.authenticate(.init(credential: "owner", isAdministrative: true))
    let outputs = hub.handle(.request(id: 1, request), from: PeerID(0), at: 0)
    guard case .send(_, let bytes)? = outputs.first else {
      Issue.record("no answer")
      return
    }
    #expect(statuses([String(decoding: bytes, as: UTF8.self)]) == ["invalid_token"])
  }

  @Test("Listens that a new identity may not have end before the sign-in is answered")
  func revocation() throws {
    var dialogue = try dialogue()
    dialogue.hub.open(PeerID(1), as: .administrator)
    dialogue.signIn("ann")
    _ = dialogue.ask(1, "q", #"{"p":"/users/ann","h":""}"#)
    _ = dialogue.ask(2, "q", #"{"p":"/public","h":""}"#)
    #expect(
      dialogue.ask(3, "auth", #"{"cred":"bob"}"#) == [
        push("c", #"{"p":"users/ann"}"#), response(3, "ok", #"{"auth":{"uid":"bob"}}"#),
      ]
    )
    #expect(
      dialogue.ask(1, "p", #"{"p":"/users/ann","d":7}"#, from: 1) == ["1: " + response(1)]
    )
    #expect(
      dialogue.ask(2, "p", #"{"p":"/public","d":7}"#, from: 1) == [
        push("d", #"{"p":"public","d":7}"#), "1: " + response(2),
      ]
    )
  }

  @Test("A filtered listen is revoked with its query, and others at the same path continue")
  func queryRevocation() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann")
    for (id, count) in [2, 3].enumerated() {
      let query = #"{"i":".key","l":\#(count),"vf":"l"}"#
      _ = dialogue.ask(id, "q", #"{"p":"/lists","q":\#(query),"t":\#(id),"h":""}"#)
    }
    #expect(
      dialogue.ask(3, "unauth", "{}") == [
        push("c", #"{"p":"lists","q":[{"l":3,"vf":"l","i":".key"}]}"#),
        response(3, "ok", #""unauthenticated""#),
      ]
    )
  }

  @Test("A renewed credential keeps the listens and moves the expiry")
  func renewal() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann \(dialogue.clock + 1_000)")
    _ = dialogue.ask(1, "q", #"{"p":"/users/ann","h":""}"#)
    dialogue.signIn("ann \(dialogue.clock + 5_000)")
    #expect(dialogue.hub.nextDeadline == dialogue.clock + 5_000)
    #expect(dialogue.tick(4_999) == [])
    #expect(dialogue.tick(1) == [Self.expired, push("c", #"{"p":"users/ann"}"#)])
    #expect(dialogue.hub.nextDeadline == nil)
    #expect(dialogue.tick(1) == [])
  }

  @Test("A credential expires on time even without a timer")
  func lateOwner() throws {
    var dialogue = try dialogue()
    dialogue.signIn("ann \(dialogue.clock + 10)")
    dialogue.clock += 10
    #expect(
      dialogue.ask(1, "g", #"{"p":"/users/ann","q":{}}"#) == [Self.expired, denial(1)]
    )
  }

  @Test("Disconnect and sign-out clear the credential's expiry")
  func forgottenDeadlines() throws {
    var dialogue = try Dialogue(peers: 2)
    dialogue.signIn("ann \(dialogue.clock + 10)")
    dialogue.signIn("bob \(dialogue.clock + 20)", peer: 1)
    _ = dialogue.ask(1, "unauth", "{}")
    #expect(dialogue.hub.nextDeadline == dialogue.clock + 20)
    _ = dialogue.close(1)
    #expect(dialogue.hub.nextDeadline == nil)
  }

  @Test("An administrator can act as a user or as nobody and sees why that identity is denied")
  func impersonation() throws {
    var dialogue = try dialogue()
    #expect(
      dialogue.ask(1, "gauth", #"{"cred":"root","authvar":{"uid":"ann"}}"#)
        == [response(1, "ok", #"{"auth":{"uid":"ann"}}"#)]
    )
    #expect(statuses(dialogue.ask(2, "g", #"{"p":"/users/ann","q":{}}"#)) == ["ok"])
    let refusal = dialogue.ask(3, "g", #"{"p":"/users/bob","q":{}}"#).joined()
    #expect(refusal.contains("permission_denied"))
    #expect(refusal.contains(".read of /users/$uid (line 3) at /users/bob"))
    #expect(refusal.contains(#"$uid = \"bob\""#))
    #expect(
      dialogue.ask(4, "gauth", #"{"cred":"root","noauth":true}"#)
        == [response(4, "ok", #"{"auth":null}"#)]
    )
    #expect(dialogue.hub.identity(of: PeerID(0)) == .anonymous)
  }

  @Test("Only an administrator can act as someone else")
  func noImpersonation() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(1, "auth", #"{"cred":"bob","authvar":{"uid":"ann"}}"#)
    #expect(dialogue.ask(2, "g", #"{"p":"/users/ann","q":{}}"#) == [denial(2)])
    _ = dialogue.ask(3, "auth", #"{"cred":"bob","noauth":true}"#)
    #expect(dialogue.hub.identity(of: PeerID(0))?.uid == "bob")
  }

  @Test("An administrator's connection needs no credential to act as someone else")
  func impersonationOfBase() throws {
    var dialogue = try dialogue()
    dialogue.hub.open(PeerID(1), as: .administrator)
    let body = #"{"cred":"","authvar":{"uid":"ann"}}"#
    #expect(statuses(dialogue.ask(1, "gauth", body, from: 1)) == ["ok"])
    #expect(dialogue.ask(2, "g", #"{"p":"/public/x","q":{}}"#, from: 1).joined().contains("ok"))
    #expect(dialogue.hub.identity(of: PeerID(1))?.uid == "ann")
    _ = dialogue.ask(3, "unauth", "{}", from: 1)
    #expect(dialogue.hub.identity(of: PeerID(1)) == .administrator)
    #expect(statuses(dialogue.ask(4, "gauth", body)) == ["invalid_token"])
    let number = #"{"cred":"","authvar":5}"#
    #expect(statuses(dialogue.ask(5, "gauth", number, from: 1)) == ["invalid_token"])
  }

  @Test("A user impersonated without a response gets no reasons for denials")
  func silentImpersonation() throws {
    var dialogue = try dialogue()
    let user = ClientRequest.Authentication(
      credential: "root",
      override: .object(("uid", .string("ann")))
    )
    try dialogue.hub.signIn(PeerID(0), with: user, at: dialogue.clock)
    #expect(statuses(dialogue.ask(1, "g", #"{"p":"/users/ann","q":{}}"#)) == ["ok"])
    #expect(dialogue.ask(2, "g", #"{"p":"/users/bob","q":{}}"#) == [denial(2)])
  }

  @Test("Users with revoked credentials are signed out, while impersonated ones stay")
  func deadCredentials() throws {
    var dialogue = try dialogue()
    for peer in 1...3 { dialogue.hub.open(PeerID(peer)) }
    dialogue.signIn("ann", peer: 1)
    dialogue.signIn("bob", peer: 2)
    _ = dialogue.ask(1, "gauth", #"{"cred":"root","authvar":{"uid":"ann"}}"#, from: 3)
    let outputs = dialogue.hub.endCredentials(at: dialogue.clock) { $0["uid"]?.string == "ann" }
    let revoked = push("ac", #"{"s":"expired_token","d":"Auth token is revoked."}"#)
    #expect(dialogue.texts(outputs) == ["1: " + revoked])
    #expect((1...3).map { dialogue.hub.identity(of: PeerID($0))?.uid } == [nil, "bob", "ann"])
  }
}
