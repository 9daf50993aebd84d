import RealtimeCore
import RealtimeServer
import TestSupport
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

  @Test("A hub without sign-in refuses every credential")
  func noSignIn() throws {
    var hub = TreeHub(stored: StoredTree())
    hub.open(PeerID(0))
    let request = ClientRequest.authenticate(.init(credential: "owner", isAdministrative: true))
    let outputs = hub.handle(.request(id: 1, request), from: PeerID(0), at: 0)
    guard case .send(_, let message)? = outputs.first else { throw Unexpected("no answer") }
    #expect(statuses([String(decoding: message.bytes, as: UTF8.self)]) == ["invalid_token"])
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
