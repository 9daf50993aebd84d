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

  @Test("The socket needs no key to administer accounts")
  func socket() async throws {
    let directory = try TemporaryDirectory()
    let server = try await start(socketPath: directory.file("s"))
    let made = try await server.signUp()
    let socket = try await HTTPProbe(.unix(path: directory.file("s")))
    let found = try await socket.request(
      "POST",
      "\(Self.accounts):lookup",
      #"{"localId":["\#(made["localId"])"]}"#,
      gives: 200
    )
    #expect(found.body.contains(IdentityServer.ada.email))
  }

  @Test("A server with a short administrator key refuses to start")
  func shortKey() async throws {
    var options = DatabaseServer.Options(port: 0)
    options.identities.administratorKey = "short"
    let failing = options
    await #expect(throws: DatabaseServerError.self) { try await DatabaseServer.start(failing) }
  }
}
