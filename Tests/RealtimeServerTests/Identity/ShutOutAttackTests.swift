import RealtimeCore
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// What users leave behind when they are shut out.
@Suite("onDisconnect writes of a revoked user", .timeLimit(.minutes(1)), .cleansUp)
struct ShutOutAttackTests {
  private static let key = "an-administrators-key-of-40-characters!!"

  private func start(
    _ store: MemoryTreeStore,
    _ identities: MemoryIdentityStore
  ) async throws -> IdentityServer {
    try await IdentityServer.start(
      store: identities,
      stores: MemoryTreeStores(["hearth": store])
    ) { $0.administratorKey = AdministratorKey(Self.key) }
  }

  private func change(_ server: IdentityServer, _ method: String, _ body: String) async throws {
    try await server.request(
      "POST",
      "/v1/projects/hearth/accounts:\(method)",
      body,
      lines: ["Authorization: Bearer \(Self.key)"],
      gives: 200
    )
  }

  /// Schedules a write for the disconnection of a new user.
  private func schedule(
    _ server: IdentityServer,
    _ name: String
  ) async throws -> (client: ClientProbe, uid: String) {
    let made = try await server.signUp("\(name)@example.com")
    let client = try await server.server.connectAndGreet()
    try await client.ask(1, "auth", #"{"cred":"\#(made["idToken"])"}"#)
    try await client.ask(2, "o", #"{"p":"/\#(name)","d":1}"#)
    return (client, made["localId"])
  }

  @Test(
    "are not applied, neither on disconnect nor by the next server after a crash",
    arguments: [#","disableUser":true"#, nil]
  )
  func shutOut(disabling: String?) async throws {
    let identities = MemoryIdentityStore()
    let store = MemoryTreeStore()
    let server = try await start(store, identities)
    let mallory = try await schedule(server, "mallory")
    let ada = try await schedule(server, "ada")
    let bob = try await schedule(server, "bob")
    // What a killed server would leave behind.
    let left = MemoryTreeStore(store.load())
    try await change(
      server,
      disabling == nil ? "delete" : "update",
      #"{"localId":"\#(mallory.uid)"\#(disabling ?? "")}"#
    )
    try await mallory.client.expect("expired_token")
    // A user who was only signed out everywhere is not shut out.
    try await change(server, "update", #"{"localId":"\#(ada.uid)","validSince":"1700000001"}"#)
    for client in [mallory.client, ada.client, bob.client] {
      client.close()
      _ = try await client.closed()
    }
    await server.server.stop()
    let root = try Node(json: .object(("ada", .integer(1)), ("bob", .integer(1))))
    #expect(store.load().root == root)

    let second = try await start(left, identities)
    await second.server.stop()
    #expect(left.load().root == root)
    #expect(left.load().sessions == [])
  }
}
