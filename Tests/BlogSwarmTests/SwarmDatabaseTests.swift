import BlogSwarm
import Testing

@Suite("SwarmDatabase")
struct SwarmDatabaseTests {
  private func feasible(_ url: String) throws -> [FaultKind] {
    let database = try SwarmDatabase(url)
    return FaultKind.allCases.filter { $0.obstacle(at: database) == nil }
  }

  @Test(
    "What needs a server of the swarm's own cannot be done elsewhere, all else can",
    arguments: ["http://127.0.0.1:9000?ns=a", "unix:/run/a.sock?ns=a"]
  )
  func plain(url: String) throws {
    #expect(
      try feasible(url) == [.drop, .delay, .partition, .kill, .pause, .duplicate, .slow, .clock]
    )
  }

  @Test("What is encrypted cannot be repeated")
  func encrypted() throws {
    let kinds = try feasible("https://db.example.org?ns=a")
    #expect(kinds == [.drop, .delay, .partition, .kill, .pause, .slow, .clock])
  }

  @Test("At the hosted service only the clients can be harmed")
  func hosted() throws {
    #expect(try feasible("https://a.firebaseio.com") == [.kill, .pause, .clock])
  }

  @Test("People have accounts where there are administrators with a secret")
  func accounts() throws {
    var database = try SwarmDatabase("https://db.example.org?ns=a")
    #expect(!database.hasAccounts)
    database.administratorKey = "secret"
    #expect(database.hasAccounts)
    #expect(!database.isAtSocket)
    #expect(try SwarmDatabase("unix:/run/a.sock").isAtSocket)
  }

  @Test("Users are who the database says they are, and those beyond the last one are nobody")
  func uids() {
    var settings = SwarmSettings()
    #expect(settings.uid(1) == "swarm1")
    settings.uids = ["a", "b"]
    #expect((0...2).map(settings.uid) == ["a", "b", "swarm2"])
  }
}
