import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("Account administration", .timeLimit(.minutes(2)))
struct IdentityAdministrationTests {
  private static let key = "an-administrators-key-of-40-characters!!"
  private static let accounts = "/v1/projects/hearth/accounts"

  private func start(socketPath: String? = nil) async throws -> IdentityServer {
    try await IdentityServer.start(rules: .locked, socketPath: socketPath) {
      $0.administratorKey = AdministratorKey(Self.key)
    }
  }

  private func administer(
    _ server: IdentityServer,
    _ method: String,
    _ body: String
  ) async throws -> IdentityServer.Answer {
    try await server.request(
      "POST",
      Self.accounts + method,
      body,
      lines: ["Authorization: Bearer \(Self.key)"]
    )
  }

  @Test("Users, unauthenticated clients and wrong keys cannot administer anything")
  func refused() async throws {
    let server = try await start()
    let token = try await server.signUp()["idToken"]
    for bearer in ["", "owner", token, Self.key + "x", String(Self.key.dropLast())] {
      let lines = bearer.isEmpty ? [] : ["Authorization: Bearer \(bearer)"]
      for path in [
        Self.accounts, "\(Self.accounts):lookup", "\(Self.accounts):update",
        "\(Self.accounts):delete", "\(Self.accounts):sendOobCode",
        "/v1/projects/hearth/keys:rotate",
      ] {
        let answer = try await server.request("POST", path, "{}", lines: lines)
        #expect(answer.status == 403)
        #expect(answer.json["error"]?["status"]?.string == "PERMISSION_DENIED")
      }
    }
    #expect(
      try await server.request("DELETE", "/emulator/v1/projects/hearth/accounts").status == 404
    )
    await server.server.stop()
  }

  @Test("The administrator key also grants access to the database")
  func keyOfDatabase() async throws {
    let server = try await start()
    let lines = ["Authorization: Bearer \(Self.key)"]
    #expect(try await server.request("PUT", "/a.json", "1", lines: lines).status == 200)
    #expect(try await server.request("GET", "/a.json").status == 401)
    await server.server.stop()
  }

  @Test("The socket needs no key to administer accounts")
  func socket() async throws {
    let directory = try TemporaryDirectory()
    let server = try await start(socketPath: directory.file("s"))
    let made = try await server.signUp()
    let socket = try await HTTPProbe(.unix(path: directory.file("s")))
    let found = try await socket.request(
      "POST",
      "\(Self.accounts):lookup",
      #"{"localId":["\#(made["localId"])"]}"#
    )
    #expect(found.status == 200)
    #expect(found.body.contains(IdentityServer.ada.email))
    await server.server.stop()
  }

  @Test("An administrator can create, find, change and delete accounts")
  func lifeOfAnAccount() async throws {
    let server = try await start()
    let body = #"{"localId":"u1","email":"Ada@example.com","password":"correct horse"}"#
    let made = try await administer(server, "", body)
    #expect(made["localId"] == "u1")
    #expect(made["email"] == IdentityServer.ada.email)
    #expect(try await administer(server, "", #"{"localId":"u1"}"#).code == "DUPLICATE_LOCAL_ID")
    let twin = #"{"localId":"u2","email":"ada@example.com","password":"correct horse"}"#
    #expect(try await administer(server, "", twin).code == "EMAIL_EXISTS")
    let claims = #"{"localId":"u1","emailVerified":true,"customAttributes":"{\"level\":3}"}"#
    #expect(try await administer(server, ":update", claims).status == 200)
    let token = try await server.signIn()["idToken"]
    #expect(WebToken(token)?.claims["level"]?.integer == 3)
    #expect(WebToken(token)?.claims["email_verified"]?.bool == true)
    let found = try await administer(server, ":lookup", #"{"email":["ada@EXAMPLE.com"]}"#)
    #expect(found.json["users"]?.elements?.first?["localId"]?.string == "u1")
    #expect(try await administer(server, ":delete", #"{"localId":"u1"}"#).status == 200)
    #expect(try await administer(server, ":delete", #"{"localId":"u1"}"#).code == "USER_NOT_FOUND")
    await server.server.stop()
  }

  @Test("Accounts are listed in pages, each exactly once")
  func pages() async throws {
    let server = try await start()
    for number in 0..<5 {
      #expect(try await administer(server, "", #"{"localId":"u\#(number)"}"#).status == 200)
    }
    var seen: [String] = []
    var next = ""
    repeat {
      let page = try await server.request(
        "GET",
        "\(Self.accounts):batchGet?maxResults=2&nextPageToken=\(next)",
        lines: ["Authorization: Bearer \(Self.key)"]
      )
      seen += page.json["users"]?.elements?.compactMap { $0["localId"]?.string } ?? []
      next = page["nextPageToken"]
    } while !next.isEmpty
    #expect(seen == ["u0", "u1", "u2", "u3", "u4"])
    await server.server.stop()
  }

  @Test("A disabled user is notified at once and can use neither token nor password")
  func disable() async throws {
    let server = try await start()
    let made = try await server.signUp()
    let client = try await server.server.connect()
    #expect(try await client.next().contains(#""t":"h""#))
    client.send(#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"\#(made["idToken"])"}}}"#)
    #expect(try await client.next().contains(#""s":"ok""#))
    let body = #"{"localId":"\#(made["localId"])","disableUser":true}"#
    #expect(try await administer(server, ":update", body).status == 200)
    let push = try await client.next()
    #expect(push.contains(#""a":"ac""#) && push.contains("expired_token"))
    #expect(try await !server.accepts(made["idToken"]))
    #expect(try await server.refresh(made["refreshToken"]).code == "USER_DISABLED")
    #expect(try await server.signIn().code == "USER_DISABLED")
    #expect(
      try await server.signIn(IdentityServer.ada.email, "wrong one").code
        == "INVALID_LOGIN_CREDENTIALS"
    )
    let enabled = #"{"localId":"\#(made["localId"])","disableUser":false}"#
    #expect(try await administer(server, ":update", enabled).status == 200)
    #expect(try await server.signIn().status == 200)
    #expect(try await server.refresh(made["refreshToken"]).code == "TOKEN_EXPIRED")
    await server.server.stop()
  }

  @Test("A reset code sets a new password once and ends earlier sessions")
  func reset() async throws {
    let server = try await start()
    let made = try await server.signUp()
    let asked = try await administer(
      server,
      ":sendOobCode",
      #"{"requestType":"PASSWORD_RESET","email":"ada@example.com"}"#
    )
    let code = JSONValue.string(asked["oobCode"])
    let looked = try await server.post("resetPassword", ["oobCode": code])
    #expect(looked["email"] == IdentityServer.ada.email)
    #expect(looked["requestType"] == "PASSWORD_RESET")
    let change: [String: JSONValue] = ["oobCode": code, "newPassword": .string("battery staple")]
    #expect(try await server.post("resetPassword", change).status == 200)
    #expect(try await server.post("resetPassword", change).code == "INVALID_OOB_CODE")
    #expect(try await server.signIn().code == "INVALID_LOGIN_CREDENTIALS")
    #expect(try await server.signIn(IdentityServer.ada.email, "battery staple").status == 200)
    #expect(try await server.refresh(made["refreshToken"]).code == "TOKEN_EXPIRED")
    await server.server.stop()
  }

  @Test("A code is invalid after an hour, for another purpose or for another address")
  func staleCodes() async throws {
    let server = try await start()
    let uid = try await server.signUp()["localId"]
    func code(_ purpose: String) async throws -> JSONValue {
      let body = #"{"requestType":"\#(purpose)","email":"ada@example.com"}"#
      return .string(try await administer(server, ":sendOobCode", body)["oobCode"])
    }
    let late = try await code("PASSWORD_RESET")
    server.advance(seconds: 3_600)
    #expect(try await server.post("resetPassword", ["oobCode": late]).code == "EXPIRED_OOB_CODE")
    let other = try await code("VERIFY_EMAIL")
    let change: [String: JSONValue] = ["oobCode": other, "newPassword": .string("battery staple")]
    #expect(try await server.post("resetPassword", change).code == "INVALID_OOB_CODE")
    let moved = try await code("PASSWORD_RESET")
    let body = #"{"localId":"\#(uid)","email":"lovelace@example.com"}"#
    #expect(try await administer(server, ":update", body).status == 200)
    #expect(try await server.post("resetPassword", ["oobCode": moved]).code == "INVALID_OOB_CODE")
    await server.server.stop()
  }

  @Test("A rotated key signs new tokens, while earlier tokens stay valid")
  func rotateKey() async throws {
    let server = try await start()
    let made = try await server.signUp()
    let rotated = try await server.request(
      "POST",
      "/v1/projects/hearth/keys:rotate",
      lines: ["Authorization: Bearer \(Self.key)", "Content-Length: 0"]
    )
    #expect(rotated.status == 200)
    let next = try await server.refresh(made["refreshToken"])["id_token"]
    #expect(WebToken(next)?.keyID == rotated["keyId"])
    #expect(WebToken(made["idToken"])?.keyID != rotated["keyId"])
    #expect(try await server.request("GET", "/a.json?auth=\(made["idToken"])").status == 401)
    #expect(try await server.post("lookup", ["idToken": .string(made["idToken"])]).status == 200)
    #expect(try await server.post("lookup", ["idToken": .string(next)]).status == 200)
    await server.server.stop()
  }

  @Test("A server with a short administrator key refuses to start")
  func shortKey() async throws {
    var options = DatabaseServer.Options(port: 0)
    options.identities.administratorKey = "short"
    let failing = options
    await #expect(throws: DatabaseServerError.self) { try await DatabaseServer.start(failing) }
  }
}
