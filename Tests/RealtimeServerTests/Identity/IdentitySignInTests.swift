import RealtimeCore
import Testing

@testable import RealtimeServer

@Suite("Sign-up and sign-in", .timeLimit(.minutes(2)))
struct IdentitySignInTests {
  @Test("An address and a password create an account that can sign in")
  func signUp() async throws {
    let server = try await IdentityServer.start()
    let made = try await server.signUp()
    #expect(made.status == 200)
    #expect(made["kind"] == "identitytoolkit#SignupNewUserResponse")
    #expect(made["email"] == IdentityServer.ada.email)
    #expect(made["expiresIn"] == "3600")
    #expect(!made["idToken"].isEmpty && !made["refreshToken"].isEmpty)
    #expect(made.lines["cache-control"] == "no-store")
    let signedIn = try await server.signIn("ADA@Example.COM")
    #expect(signedIn.status == 200)
    #expect(signedIn["kind"] == "identitytoolkit#VerifyPasswordResponse")
    #expect(signedIn["localId"] == made["localId"])
    #expect(signedIn.json["registered"]?.bool == true)
    await server.server.stop()
  }

  @Test("Without an address the account is anonymous, on either path")
  func anonymous() async throws {
    let server = try await IdentityServer.start()
    for path in ["/v1/accounts:signUp", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=x"]
    {
      let made = try await server.request("POST", path, "{}")
      #expect(made.status == 200)
      let token = try #require(WebToken(made["idToken"]))
      #expect(token.claims["firebase"]?["sign_in_provider"]?.string == "anonymous")
      #expect(token.claims["sub"]?.string == made["localId"])
      #expect(made.json["email"] == nil)
    }
    await server.server.stop()
  }

  @Test("An account is shown to its owner without the password")
  func lookUp() async throws {
    let server = try await IdentityServer.start()
    let token = try await server.signUp()["idToken"]
    let found = try await server.post("lookup", ["idToken": .string(token)])
    #expect(found["kind"] == "identitytoolkit#GetAccountInfoResponse")
    let user = try #require(found.json["users"]?.elements?.first)
    #expect(user["email"]?.string == IdentityServer.ada.email)
    #expect(user["emailVerified"]?.bool == false)
    #expect(user["createdAt"]?.string == "1700000000000")
    #expect(user["providerUserInfo"]?.elements?.first?["providerId"]?.string == "password")
    #expect(!found.json.text.contains("scrypt"))
    await server.server.stop()
  }

  @Test("A changed display name appears only in the next tokens")
  func displayName() async throws {
    let server = try await IdentityServer.start()
    let made = try await server.signUp()
    let changed = try await server.post(
      "update",
      [
        "idToken": .string(made["idToken"]), "displayName": .string("Ada L."),
        "returnSecureToken": .bool(true),
      ]
    )
    #expect(changed["kind"] == "identitytoolkit#SetAccountInfoResponse")
    #expect(changed["displayName"] == "Ada L.")
    #expect(changed.json["idToken"] == nil)
    let token = try await server.refresh(made["refreshToken"])["id_token"]
    #expect(WebToken(token)?.claims["name"]?.string == "Ada L.")
    let removed = try await server.post(
      "update",
      ["idToken": .string(token), "deleteAttribute": .array([.string("DISPLAY_NAME")])]
    )
    #expect(removed.json["displayName"] == nil)
    await server.server.stop()
  }

  @Test("A new password brings new tokens and ends all earlier sessions")
  func changePassword() async throws {
    let server = try await IdentityServer.start()
    let made = try await server.signUp()
    let changed = try await server.post(
      "update",
      [
        "idToken": .string(made["idToken"]), "password": .string("battery staple"),
        "returnSecureToken": .bool(true),
      ]
    )
    #expect(changed.status == 200)
    #expect(try await server.accepts(changed["idToken"]))
    #expect(try await !server.accepts(made["idToken"]))
    #expect(try await server.refresh(made["refreshToken"]).code == "TOKEN_EXPIRED")
    #expect(try await server.refresh(changed["refreshToken"]).status == 200)
    #expect(try await server.signIn().code == "INVALID_LOGIN_CREDENTIALS")
    #expect(try await server.signIn(IdentityServer.ada.email, "battery staple").status == 200)
    await server.server.stop()
  }

  @Test("An anonymous account keeps its identity when it gets an address and a password")
  func link() async throws {
    let server = try await IdentityServer.start()
    let made = try await server.post("signUp")
    let linked = try await server.post(
      "signUp",
      [
        "idToken": .string(made["idToken"]), "email": .string(IdentityServer.ada.email),
        "password": .string(IdentityServer.ada.password),
      ]
    )
    #expect(linked["localId"] == made["localId"])
    let claims = try #require(WebToken(linked["idToken"])).claims
    #expect(claims["firebase"]?["sign_in_provider"]?.string == "password")
    #expect(claims["email"]?.string == IdentityServer.ada.email)
    #expect(try await server.signIn()["localId"] == made["localId"])
    await server.server.stop()
  }

  @Test("A deleted account is gone, and so are its tokens")
  func delete() async throws {
    let server = try await IdentityServer.start()
    let made = try await server.signUp()
    let deleted = try await server.post("delete", ["idToken": .string(made["idToken"])])
    #expect(deleted["kind"] == "identitytoolkit#DeleteAccountResponse")
    #expect(try await !server.accepts(made["idToken"]))
    #expect(try await server.refresh(made["refreshToken"]).code == "INVALID_REFRESH_TOKEN")
    #expect(try await server.signIn().code == "INVALID_LOGIN_CREDENTIALS")
    #expect(try await server.signUp().status == 200)
    await server.server.stop()
  }

  @Test("Changing the password or deleting the account requires a recent sign-in")
  func recentSignIn() async throws {
    let server = try await IdentityServer.start()
    let made = try await server.signUp()
    server.advance(seconds: 301)
    let token = JSONValue.string(try await server.refresh(made["refreshToken"])["id_token"])
    let code = "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"
    let update: [String: JSONValue] = ["idToken": token, "password": .string("battery staple")]
    #expect(try await server.post("update", update).code == code)
    #expect(try await server.post("delete", ["idToken": token]).code == code)
    #expect(
      try await server.post("update", ["idToken": token, "displayName": .string("A")]).status == 200
    )
    await server.server.stop()
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
    await server.server.stop()
  }

  @Test("A refresh token works as a form and as JSON, on either path")
  func refresh() async throws {
    let server = try await IdentityServer.start()
    let made = try await server.signUp()
    let form = try await server.refresh(made["refreshToken"])
    #expect(form.status == 200)
    #expect(form["token_type"] == "Bearer" && form["expires_in"] == "3600")
    #expect(form["user_id"] == made["localId"] && form["project_id"] == "hearth")
    #expect(form["access_token"] == form["id_token"])
    let json = try await server.request(
      "POST",
      "/securetoken.googleapis.com/v1/token?key=any",
      #"{"grant_type":"refresh_token","refresh_token":"\#(form["refresh_token"])"}"#,
      lines: ["Content-Type: application/json; charset=utf-8"]
    )
    #expect(json.status == 200)
    #expect(try await server.accepts(json["id_token"]))
    await server.server.stop()
  }

  @Test("Sign-up is refused where only administrators create accounts")
  func closedSignUp() async throws {
    let server = try await IdentityServer.start { $0.allowsSignUp = false }
    #expect(try await server.signUp().code == "ADMIN_ONLY_OPERATION")
    #expect(try await server.post("signUp").code == "ADMIN_ONLY_OPERATION")
    await server.server.stop()
  }

  @Test("A password reset is answered alike whether or not the account exists")
  func reset() async throws {
    let server = try await IdentityServer.start()
    _ = try await server.signUp()
    for email in [IdentityServer.ada.email, "nobody@example.com"] {
      let answer = try await server.post(
        "sendOobCode",
        ["requestType": .string("PASSWORD_RESET"), "email": .string(email)]
      )
      #expect(answer.status == 200)
      #expect(
        answer.json
          == .object(
            ("kind", .string("identitytoolkit#GetOobConfirmationCodeResponse")),
            ("email", .string(email))
          )
      )
    }
    await server.server.stop()
  }

  @Test("Accounts belong to one database; another can have its own under the same address")
  func databases() async throws {
    let stores = MemoryTreeStores()
    _ = stores.create("other")
    let server = try await IdentityServer.start(stores: stores)
    let here = try await server.signUp()
    let there = try await server.request(
      "POST",
      "/v1/accounts:signUp?ns=other",
      #"{"email":"\#(IdentityServer.ada.email)","password":"another one"}"#
    )
    #expect(there.status == 200)
    #expect(there["localId"] != here["localId"])
    #expect(try await server.signIn(IdentityServer.ada.email, "another one").status == 400)
    let missing = try await server.request("POST", "/v1/accounts:signUp?ns=missing", "{}")
    #expect(missing.status == 404)
    #expect(missing.code == "PROJECT_NOT_FOUND")
    await server.server.stop()
  }
}
