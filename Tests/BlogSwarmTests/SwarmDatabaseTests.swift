import Testing

@testable import HearthLab

@Suite("SwarmDatabase")
struct SwarmDatabaseTests {
  private func feasible(_ url: String) throws -> [FaultKind] {
    let database = try SwarmDatabase(url)
    return FaultKind.allCases.filter { $0.obstacle(at: database) == nil }
  }

  @Test(
    "A remote database allows all faults except those of the server itself",
    arguments: ["http://127.0.0.1:9000?ns=a", "unix:/run/a.sock?ns=a"]
  )
  func plain(url: String) throws {
    #expect(
      try feasible(url) == [.drop, .delay, .partition, .kill, .pause, .duplicate, .slow, .clock]
    )
  }

  @Test("An encrypted connection does not allow duplication")
  func encrypted() throws {
    let kinds = try feasible("https://db.example.org?ns=a")
    #expect(kinds == [.drop, .delay, .partition, .kill, .pause, .slow, .clock])
  }

  @Test("The hosted service allows client faults only")
  func hosted() throws {
    #expect(try feasible("https://a.firebaseio.com") == [.kill, .pause, .clock])
  }

  @Test("Users have accounts if an administrator key is set")
  func accounts() throws {
    var database = try SwarmDatabase("https://db.example.org?ns=a")
    #expect(!database.hasAccounts)
    database.administratorKey = "secret"
    #expect(database.hasAccounts)
    #expect(!database.isAtSocket)
    #expect(try SwarmDatabase("unix:/run/a.sock").isAtSocket)
  }

  @Test("User IDs come from the settings, with a default for numbers beyond the list")
  func uids() {
    var settings = SwarmSettings()
    #expect(settings.uid(1) == "swarm1")
    settings.uids = ["a", "b"]
    #expect((0...2).map(settings.uid) == ["a", "b", "swarm2"])
  }
}
