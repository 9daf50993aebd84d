import RealtimeCore
import RealtimeTransport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("Tokens from a server", .timeLimit(.minutes(2)))
struct IdentityTokenTests {
  private static let ownRules = #"""
    {"rules":{"users":{"$uid":{".read":"auth.uid === $uid",".write":"auth.uid === $uid"}},
      "members":{".read":"auth.provider === 'password' && auth.token.email_verified === false"}}}
    """#

  private func connect(_ server: IdentityServer) async throws -> ClientProbe {
    let client = try await server.server.connect()
    #expect(try await client.next().contains(#""t":"h""#))
    return client
  }

  private func authenticate(_ client: ClientProbe, _ token: String) async throws -> String {
    client.send(#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"\#(token)"}}}"#)
    return try await client.next()
  }

  @Test("A token authenticates a WebSocket, and the response names the user and the expiry")
  func webSocket() async throws {
    let server = try await IdentityServer.start(rules: .source(Self.ownRules))
    let made = try await server.signUp()
    let client = try await connect(server)
    let answer = try JSONParser.parse(try await authenticate(client, made["idToken"]))
    let body = answer["d"]?["b"]
    #expect(body?["s"]?.string == "ok")
    let auth = body?["d"]?["auth"]
    #expect(auth?["uid"]?.string == made["localId"])
    #expect(auth?["provider"]?.string == "password")
    #expect(auth?["token"]?["email"]?.string == IdentityServer.ada.email)
    #expect(body?["d"]?["expires"]?.integer == 1_700_003_600)
    client.send(
      #"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/users/\#(made["localId"])","d":1}}}"#
    )
    #expect(try await client.next().contains(#""s":"ok""#))
    await server.server.stop()
  }

  @Test("REST accepts a token as auth, access_token or bearer, for its user only")
  func rest() async throws {
    let server = try await IdentityServer.start(rules: .source(Self.ownRules))
    let made = try await server.signUp()
    let token = made["idToken"]
    let own = "/users/\(made["localId"]).json"
    #expect(try await server.request("PUT", "\(own)?auth=\(token)", "1").status == 200)
    #expect(try await server.request("GET", "\(own)?access_token=\(token)").status == 200)
    let bearer = ["Authorization: Bearer \(token)"]
    #expect(try await server.request("GET", own, lines: bearer).status == 200)
    #expect(try await server.request("GET", "/members.json", lines: bearer).status == 200)
    #expect(try await server.request("GET", "/.json", lines: bearer).status == 401)
    #expect(try await server.request("GET", own).status == 401)
    await server.server.stop()
  }

  @Test("A connection is notified when its token expires and continues with the next one")
  func expiry() async throws {
    let server = try await IdentityServer.start(rules: .source(Self.ownRules)) {
      $0.tokenLifetime = 2
    }
    let made = try await server.signUp()
    #expect(made["expiresIn"] == "2")
    let client = try await connect(server)
    #expect(try await authenticate(client, made["idToken"]).contains(#""s":"ok""#))
    // The clock jumps while the timer of two real seconds runs.
    server.advance(seconds: 2)
    let push = try await client.next()
    #expect(push.contains(#""a":"ac""#) && push.contains("expired_token"))
    #expect(try await authenticate(client, made["idToken"]).contains("expired_token"))
    let next = try await server.refresh(made["refreshToken"])["id_token"]
    #expect(try await authenticate(client, next).contains(#""s":"ok""#))
    await server.server.stop()
  }

  @Test("Each use of a refresh token returns a successor; the same use returns the same one")
  func rotation() async throws {
    let server = try await IdentityServer.start()
    let first = try await server.signUp()["refreshToken"]
    let second = try await server.refresh(first)["refresh_token"]
    #expect(second != first)
    #expect(try await server.refresh(first)["refresh_token"] == second)
    let third = try await server.refresh(second)["refresh_token"]
    #expect(try await server.refresh(third).status == 200)
    await server.server.stop()
  }

  @Test("A client that never got the response can refresh even a day later")
  func lostAnswer() async throws {
    let server = try await IdentityServer.start()
    let first = try await server.signUp()["refreshToken"]
    let lost = try await server.refresh(first)["refresh_token"]
    server.advance(seconds: 86_400)
    #expect(try await server.refresh(first)["refresh_token"] == lost)
    await server.server.stop()
  }

  @Test("A refresh token replayed later ends the session for everyone who has it")
  func replay() async throws {
    let server = try await IdentityServer.start()
    let stolen = try await server.signUp()["refreshToken"]
    let second = try await server.refresh(stolen)["refresh_token"]
    let third = try await server.refresh(second)["refresh_token"]
    server.advance(seconds: 61)
    #expect(try await server.refresh(stolen).code == "INVALID_REFRESH_TOKEN")
    #expect(try await server.refresh(third).code == "INVALID_REFRESH_TOKEN")
    #expect(try await server.signIn().status == 200)
    await server.server.stop()
  }

  @Test("Tokens stay valid after a key rotation, and new ones are signed with the new key")
  func keyRotation() async throws {
    let store = MemoryIdentityStore()
    let server = try await IdentityServer.start(store: store, at: 1_700_000_000_000)
    let made = try await server.signUp()
    let old = try #require(WebToken(made["idToken"]))
    // The age at which a key is replaced automatically.
    server.advance(seconds: 91 * 86_400)
    let refreshed = try await server.refresh(made["refreshToken"])
    let new = try #require(WebToken(refreshed["id_token"]))
    #expect(new.keyID != old.keyID)
    #expect(try await server.accepts(refreshed["id_token"]))
    let keys = try #require(store.secret(.keys).flatMap { KeyRing(json: $0) })
    #expect(keys.current.id == new.keyID)
    #expect(keys[try #require(old.keyID)] != nil)
    await server.server.stop()
  }

  @Test("Accounts, sessions and keys survive a server restart")
  func restart() async throws {
    let store = MemoryIdentityStore()
    let first = try await IdentityServer.start(store: store)
    let made = try await first.signUp()
    let gone = try await first.signUp("eve@example.com")
    _ = try await first.post("delete", ["idToken": .string(gone["idToken"])])
    await first.server.stop()
    let second = try await IdentityServer.start(store: store)
    #expect(try await second.accepts(made["idToken"]))
    #expect(try await !second.accepts(gone["idToken"]))
    #expect(try await second.refresh(made["refreshToken"]).status == 200)
    #expect(try await second.signIn().status == 200)
    await second.server.stop()
  }
}
