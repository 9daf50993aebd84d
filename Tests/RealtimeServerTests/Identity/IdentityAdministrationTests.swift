import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("Account administration", .timeLimit(.minutes(2)), .cleansUp)
struct IdentityAdministrationTests {
  private static let key = "an-administrators-key-of-40-characters!!"
  private static let accounts = "/v1/projects/hearth/accounts"

  private func start(socketPath: String? = nil) async throws -> IdentityServer {
    try await IdentityServer.start(rules: .locked, socketPath: socketPath) {
      $0.administratorKey = AdministratorKey(Self.key)
    }
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
  }

  @Test("An empty text for the claims of an account removes them")
  func noClaims() async throws {
    let server = try await start()
    let uid = try await server.signUp()["localId"]
    let lines = ["Authorization: Bearer \(Self.key)", "Content-Type: application/json"]
    for claims in [#"{\"admin\":true}"#, ""] {
      let body = #"{"localId":"\#(uid)","customAttributes":"\#(claims)"}"#
      let changed = try await server.request("POST", "\(Self.accounts):update", body, lines: lines)
      #expect(changed.status == 200)
      let found = try await server.request(
        "POST",
        "\(Self.accounts):lookup",
        #"{"localId":["\#(uid)"]}"#,
        lines: lines
      )
      #expect(found.json.text.contains("admin") == !claims.isEmpty, "\(found.json.text)")
    }
  }

  @Test("A code resets the password that it was made for, also after the clock was set back")
  func clockSetBack() async throws {
    let server = try await start()
    _ = try await server.signUp()
    server.advance(seconds: -3_600)
    let lines = ["Authorization: Bearer \(Self.key)", "Content-Type: application/json"]
    let email = IdentityServer.ada.email
    var codes: [String] = []
    for _ in 1...2 {
      let body = #"{"requestType":"PASSWORD_RESET","email":"\#(email)"}"#
      let path = "\(Self.accounts):sendOobCode"
      codes.append(try await server.request("POST", path, body, lines: lines)["oobCode"])
    }
    for (code, status) in zip(codes, [200, 400]) {
      let members = ["oobCode": JSONValue.string(code), "newPassword": .string("battery staple")]
      #expect(try await server.post("resetPassword", members).status == status)
    }
    let refused = try await server.signIn(email, "battery staple").json.text
    #expect(refused.contains("The clock of the server was set back"), "\(refused)")
    server.advance(seconds: 3_600)
    #expect(try await server.signIn(email, "battery staple").status == 200)
  }

  @Test("A code comes with a link to the page that an administrator names")
  func actionLinks() async throws {
    let server = try await start()
    _ = try await server.signUp()
    let lines = ["Authorization: Bearer \(Self.key)", "Content-Type: application/json"]
    func send(_ page: String) async throws -> IdentityServer.Answer {
      let account = #""requestType":"PASSWORD_RESET","email":"\#(IdentityServer.ada.email)""#
      let body = "{\(account),\"returnOobLink\":true\(page)}"
      return try await server.request("POST", "\(Self.accounts):sendOobCode", body, lines: lines)
    }
    let answer = try await send(#","continueUrl":"https://example.org/reset?x=1""#)
    let link = "https://example.org/reset?x=1&mode=resetPassword&oobCode=\(answer["oobCode"])"
    #expect(answer["oobLink"].hasPrefix(link), "\(answer["oobLink"])")
    #expect(try await send("").code == "MISSING_CONTINUE_URI")
    #expect(try await send(#","continueUrl":"javascript:x""#).code == "INVALID_CONTINUE_URI")
  }

  @Test("A server with a short administrator key refuses to start")
  func shortKey() async throws {
    var options = DatabaseServer.Options(port: 0)
    options.identities.administratorKey = "short"
    let failing = options
    await #expect(throws: DatabaseServerError.self) { try await DatabaseServer.start(failing) }
  }
}
