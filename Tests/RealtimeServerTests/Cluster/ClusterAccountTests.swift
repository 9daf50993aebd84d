import NIOCore
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@Suite("Accounts in a cluster", .timeLimit(.minutes(1)), .cleansUp)
struct ClusterAccountTests {
  private static let rules = DatabaseServer.Rules.source(
    #"{"rules":{".read":"auth != null",".write":"auth != null"}}"#
  )

  /// Starts two servers that share data and accounts.
  private func start() async throws -> [IdentityServer] {
    let storage = MemoryClusterStore { LeapingClock.real }
    let accounts = MemoryIdentityStore()
    let servers = try await IdentityServer.startTwo(
      rules: Self.rules,
      sharing: accounts,
      and: storage,
      administratorKey: String(repeating: "k", count: 32)
    )
    return servers
  }

  /// The status of the leader's response, whichever server that is.
  private func read(_ servers: [IdentityServer], _ token: String) async throws -> Int {
    for server in servers {
      let status = try await server.request("GET", "/x.json?ns=hearth&auth=\(token)").status
      if status != 307 { return status }
    }
    return 307
  }

  /// Repeats the request until the status changes.
  private func status(
    after first: Int,
    _ servers: [IdentityServer],
    _ token: String
  ) async throws -> Int {
    let deadline = NIODeadline.now() + .seconds(20)
    var status = first
    while status == first, NIODeadline.now() < deadline {
      status = try await read(servers, token)
    }
    return status
  }

  @Test(
    "An account created on one server is valid on all until any of them deletes it",
    arguments: 0..<2
  )
  func deletion(index: Int) async throws {
    let servers = try await start()
    let made = try await servers[index].signUp()
    #expect(made.status == 200)
    let token = made["idToken"]
    #expect(try await status(after: 307, servers, token) == 200)
    let gone = try await servers[1 - index].post("delete", ["idToken": .string(token)])
    #expect(gone.status == 200)
    #expect(try await status(after: 200, servers, token) == 401)
  }

  @Test("A key created on one server is accepted by the others")
  func rotation() async throws {
    let servers = try await start()
    #expect(try await servers[0].signUp().status == 200)
    for (rotating, signing) in [(0, 0), (1, 1)] {
      let rotated = try await servers[rotating].request(
        "POST",
        "/v1/projects/hearth/keys:rotate",
        "{}",
        lines: [
          "Authorization: Bearer \(String(repeating: "k", count: 32))",
          "Content-Type: application/json",
        ]
      )
      #expect(rotated.status == 200)
      let token = try await servers[signing].signIn()["idToken"]
      // Until the other server has checked, it reports the token as expired, and a client renews
      // it.
      #expect(try await status(after: 401, servers, token) == 200)
    }
  }
}
