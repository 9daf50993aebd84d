import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Attacks on a server's accounts", .timeLimit(.minutes(3)), .cleansUp)
struct IdentityAttackTests {
  /// A token derived from a valid one, and the expected reason for its refusal.
  struct Forgery: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reason: String
    let make: @Sendable (WebToken, String, SigningKey) throws -> String
  }

  private static func altered(
    _ token: WebToken,
    _ key: SigningKey,
    _ changes: [(String, JSONValue?)]
  ) -> String {
    var members = token.claims.members ?? []
    for (name, value) in changes {
      members.removeAll { $0.name == name }
      if let value { members.append(JSONMember(name, value)) }
    }
    return WebToken.signed(.object(members), with: key) ?? ""
  }

  private static func replacing(_ text: String, _ part: Int, _ value: String) -> String {
    var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    parts[part] = value
    return parts.joined(separator: ".")
  }

  private static func encoded(_ text: String) -> String { Base64URL.encode(text.utf8) }

  private static let now: Int64 = 1_700_000_000

  /// A forgery whose header, payload or signature is replaced; KEY stands for the name of our key.
  private static func part(
    _ number: Int,
    _ text: String,
    _ name: String,
    _ reason: String
  ) -> Forgery {
    Forgery(testDescription: name, reason: reason) { _, token, key in
      let text = text.replacing("KEY", with: key.id)
      return replacing(token, number, number == 2 ? text : encoded(text))
    }
  }

  /// A forgery, signed with our key, in which some claims are others or missing.
  private static func claims(
    _ name: String,
    _ reason: String,
    _ changes: (String, JSONValue?)...
  ) -> Forgery {
    Forgery(testDescription: name, reason: reason) { token, _, key in altered(token, key, changes) }
  }

  static let forgeries: [Forgery] = [
    Forgery(testDescription: "no signature", reason: "Unsupported jwt algorithm: none") {
      token,
      _,
      _ in WebToken.unsigned(token.claims)
    },
    part(0, #"{"alg":"none","typ":"JWT"}"#, "alg none, signature kept", "Unsupported"),
    part(0, #"{"alg":"HS256","kid":"KEY"}"#, "HS256", "Unsupported jwt algorithm: HS256"),
    part(0, #"{"alg":"RS256","kid":"KEY"}"#, "RS256", "Unsupported"),
    part(0, #"{"alg":"es256","kid":"KEY"}"#, "es256 in small letters", "Unsupported"),
    part(0, #"{"alg":"none","alg":"ES256","kid":"KEY"}"#, "alg twice", "Could not parse"),
    part(0, #"{"alg":"ES256"}"#, "no kid", "signature"),
    part(
      0,
      #"{"alg":"ES256","kid":"KEY","crit":["b64"],"b64":false}"#,
      "an extension that is critical",
      "Could not parse"
    ),
    part(1, #"{"sub":"root","aud":"hearth"}"#, "another payload", "signature"),
    part(
      2,
      Base64URL.encode([UInt8](repeating: 7, count: 64)),
      "another signature",
      "signature"
    ),
    part(
      2,
      Base64URL.encode([UInt8](repeating: 0, count: 64)),
      "a signature of zeros",
      "signature"
    ),
    part(2, "", "an empty signature", "signature"),
    part(2, String(repeating: "A", count: 9_000), "nine kilobytes", "Could not parse"),
    Forgery(testDescription: "another key", reason: "signature") { token, _, _ in
      try altered(token, SigningKey(created: 0), [])
    },
    Forgery(testDescription: "another key under the name of ours", reason: "signature") {
      token,
      _,
      key in
      let forged = try altered(token, SigningKey(created: 0), [])
      return replacing(forged, 0, encoded(#"{"alg":"ES256","kid":"\#(key.id)"}"#))
    },
    claims(
      "another issuer",
      "another database",
      ("iss", .string("https://securetoken.google.com/hearth"))
    ),
    claims("another database", "another database", ("aud", .string("other"))),
    claims("several audiences", "another database", ("aud", .array([.string("hearth")]))),
    claims("expired", "expired", ("exp", .integer(now))),
    claims("without an end", "lacks a claim", ("exp", nil)),
    claims(
      "not valid yet",
      "not valid yet",
      ("iat", .integer(now + 61)),
      ("exp", .integer(now + 3_600))
    ),
    claims("not before later", "not valid yet", ("nbf", .integer(now + 61))),
    claims("without a user", "lacks a claim", ("sub", .string(""))),
    Forgery(testDescription: "too few parts", reason: "Could not parse") { _, text, _ in
      text.split(separator: ".").prefix(2).joined(separator: ".")
    },
  ]

  @Test("A forged token is refused with the reason", arguments: forgeries)
  func forgery(attack: Forgery) async throws {
    let store = MemoryIdentityStore()
    let server = try await IdentityServer.start(store: store)
    let text = try await server.signUp()["idToken"]
    let key = try #require(store.secret(.keys).flatMap { KeyRing(json: $0) }).current
    #expect(try await server.accepts(text))
    let forged = try attack.make(#require(WebToken(text)), text, key)
    let answer = try await server.request(
      "GET",
      "/a.json",
      lines: ["Authorization: Bearer \(forged.prefix(7_000))"]
    )
    let refused = forged.utf8.count < 7_000 ? answer : nil
    if let refused {
      #expect(refused.status == 401)
      #expect(refused.json["error"]?.string?.contains(attack.reason) == true, "\(refused.json)")
    }
    let lookup = try await server.post("lookup", ["idToken": .string(forged)])
    #expect(["INVALID_ID_TOKEN", "TOKEN_EXPIRED", "INVALID_ARGUMENT"].contains(lookup.code))
  }

  @Test("A token from another server is refused, even for a database of the same name")
  func otherServer() async throws {
    let first = try await IdentityServer.start()
    let second = try await IdentityServer.start()
    let token = try await second.signUp()["idToken"]
    #expect(try await second.accepts(token))
    #expect(try await !first.accepts(token))
  }

  @Test("A custom token for another key, server, database or time is refused")
  func customTokens() async throws {
    let store = MemoryIdentityStore()
    let server = try await IdentityServer.start(store: store)
    let signer = try CustomTokenSigner(store)
    let keys = try #require(store.secret(.keys).flatMap { KeyRing(json: $0) })
    let good = try signer.token(uid: "u", at: server.now)
    let claims = try #require(WebToken(good)).claims
    let attacks: [(String, String)] = [
      (WebToken.unsigned(claims), "INVALID_CUSTOM_TOKEN"),
      (WebToken.signed(claims, with: keys.current) ?? "", "INVALID_CUSTOM_TOKEN"),
      (#"{"uid":"u"}"#, "INVALID_CUSTOM_TOKEN"),
      (try signer.token(uid: "", at: server.now), "INVALID_CUSTOM_TOKEN"),
      (try signer.token(uid: "u", database: "other", at: server.now), "CREDENTIAL_MISMATCH"),
      (try signer.token(uid: "u", server: "x", at: server.now), "CREDENTIAL_MISMATCH"),
      (try signer.token(uid: "u", at: server.now - 3_601_000), "INVALID_CUSTOM_TOKEN"),
      (try signer.token(uid: "u", at: server.now + 61_000), "INVALID_CUSTOM_TOKEN"),
      (
        try signer.token(uid: "u", claims: ["sub": .string("root")], at: server.now),
        "FORBIDDEN_CLAIM"
      ),
      (
        try signer.token(
          uid: "u",
          claims: ["a": .string(String(repeating: "x", count: 1_000))],
          at: server.now
        ), "CLAIMS_TOO_LARGE"
      ),
    ]
    for (token, code) in attacks {
      let answer = try await server.post("signInWithCustomToken", ["token": .string(token)])
      #expect(answer.code == code)
    }
    // A custom token is not a user's token.
    #expect(try await !server.accepts(good))
    #expect(
      try await server.post("signInWithCustomToken", ["token": .string(good)]).status == 200
    )
  }

  @Test("A custom token creates an account, and its claims stay with the session")
  func customToken() async throws {
    let store = MemoryIdentityStore()
    let server = try await IdentityServer.start(store: store)
    let signer = try CustomTokenSigner(store)
    let token = try signer.token(uid: "u1", claims: ["level": .integer(3)], at: server.now)
    let first = try await server.post("signInWithCustomToken", ["token": .string(token)])
    #expect(first["kind"] == "identitytoolkit#VerifyCustomTokenResponse")
    #expect(first.json["isNewUser"]?.bool == true)
    let again = try await server.post("signInWithCustomToken", ["token": .string(token)])
    #expect(again.json["isNewUser"]?.bool == false)
    let refreshed = try await server.refresh(first["refreshToken"])
    #expect(refreshed["user_id"] == "u1")
    let claims = try #require(WebToken(refreshed["id_token"])).claims
    #expect(claims["level"]?.integer == 3)
    #expect(claims["firebase"]?["sign_in_provider"]?.string == "custom")
  }
}
