import RealtimeCore
import Testing

@testable import RealtimeServer

@Suite("The auth emulator", .timeLimit(.minutes(2)))
struct IdentityEmulatorTests {
  private static let owner = ["Authorization: Bearer owner"]

  @Test("Tokens are unsigned and open the database")
  func tokens() async throws {
    let server = try await IdentityServer.start(isEmulator: true)
    let made = try await server.signUp()
    let token = try #require(WebToken(made["idToken"]))
    #expect(token.algorithm == "none")
    #expect(made["idToken"].hasSuffix("."))
    #expect(token.claims["iss"]?.string == "https://securetoken.google.com/hearth")
    #expect(token.claims["aud"]?.string == "hearth")
    #expect(try await server.accepts(made["idToken"]))
    let refreshed = try await server.refresh(made["refreshToken"])
    #expect(refreshed.status == 200)
    #expect(try await server.accepts(refreshed["id_token"]))
    await server.server.stop()
  }

  @Test("Tokens do not expire")
  func noExpiry() async throws {
    let server = try await IdentityServer.start(isEmulator: true)
    let token = try await server.signUp()["idToken"]
    server.advance(seconds: 100_000)
    #expect(try await server.post("lookup", ["idToken": .string(token)]).status == 200)
    #expect(
      try await server.post(
        "update",
        ["idToken": .string(token), "password": .string("battery staple")]
      ).status == 200
    )
    await server.server.stop()
  }

  @Test("Sign-in errors name the cause")
  func codes() async throws {
    let server = try await IdentityServer.start(isEmulator: true)
    _ = try await server.signUp()
    #expect(try await server.signIn("nobody@example.com").code == "EMAIL_NOT_FOUND")
    #expect(
      try await server.signIn(IdentityServer.ada.email, "wrong one").code == "INVALID_PASSWORD"
    )
    let reset = try await server.post(
      "sendOobCode",
      ["requestType": .string("PASSWORD_RESET"), "email": .string("nobody@example.com")]
    )
    #expect(reset.code == "EMAIL_NOT_FOUND")
    await server.server.stop()
  }

  @Test("A request without an API key is refused as by the hosted service")
  func missingKey() async throws {
    let server = try await IdentityServer.start(isEmulator: true)
    let answer = try await server.request("POST", "/v1/accounts:signUp", "{}")
    #expect(answer.status == 403)
    #expect(answer.json["error"]?["status"]?.string == "PERMISSION_DENIED")
    await server.server.stop()
  }

  @Test(
    "A custom token is accepted, signed or not",
    arguments: [#"{"uid":"u1","claims":{"level":3}}"#, nil]
  )
  func customTokens(text: String?) async throws {
    let server = try await IdentityServer.start(isEmulator: true)
    let claims = Base64URL.encode(#"{"uid":"u1","claims":{"level":3}}"#.utf8)
    let header = Base64URL.encode(#"{"alg":"none"}"#.utf8)
    let signedIn = try await server.post(
      "signInWithCustomToken",
      ["token": .string(text ?? "\(header).\(claims).")]
    )
    #expect(signedIn.status == 200)
    #expect(WebToken(signedIn["idToken"])?.claims["level"]?.integer == 3)
    #expect(WebToken(signedIn["idToken"])?.claims["sub"]?.string == "u1")
    await server.server.stop()
  }

  @Test("Codes are listed instead of sent")
  func mails() async throws {
    let server = try await IdentityServer.start(isEmulator: true)
    let made = try await server.signUp()
    let verify: [String: JSONValue] = [
      "requestType": .string("VERIFY_EMAIL"), "idToken": .string(made["idToken"]),
    ]
    let sent = try await server.post("sendOobCode", verify)
    #expect(sent["email"] == IdentityServer.ada.email)
    #expect(sent.json["oobCode"] == nil)
    let shown = try await server.request("GET", "/emulator/v1/projects/any/oobCodes")
    let code = shown.json["oobCodes"]?.elements?.first?["oobCode"] ?? .null
    let verified = try await server.post("update", ["oobCode": code])
    #expect(verified.json["emailVerified"]?.bool == true)
    await server.server.stop()
  }

  @Test("The owner can manage and clear the accounts of any project")
  func owner() async throws {
    let server = try await IdentityServer.start(isEmulator: true)
    let base = "/identitytoolkit.googleapis.com/v1/projects/demo-x/accounts"
    let made = try await server.request(
      "POST",
      base,
      #"{"localId":"u1","email":"ada@example.com","password":"correct horse"}"#,
      lines: Self.owner
    )
    #expect(made["localId"] == "u1")
    #expect(try await server.request("POST", base, "{}").status == 403)
    #expect(try await server.signIn()["localId"] == "u1")
    let cleared = try await server.request("DELETE", "/emulator/v1/projects/demo-x/accounts")
    #expect(cleared.status == 200)
    #expect(try await server.signIn().code == "EMAIL_NOT_FOUND")
    await server.server.stop()
  }
}
