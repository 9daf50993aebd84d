import Foundation
import HearthLab
import PostgresTestSupport
import RealtimeDatabase
import TestSupport
import Testing

/// Several server processes, started as by an operator, on a PostgreSQL of the test's own.
@Suite(
  "Several servers on one PostgreSQL",
  .needsPostgres,
  .serialized,
  .timeLimit(.minutes(5)),
  .cleansUp
)
struct ClusterProcessTests {
  /// The servers of a test.
  final class Cluster {
    let sandbox: Sandbox
    let url: String
    let rules: String
    private(set) var servers: [ServerProcess] = []

    init(_ count: Int, at url: String) throws {
      sandbox = try Sandbox()
      self.url = url
      rules = try sandbox.write(Sandbox.openRules, to: "rules.json")
      for _ in 0..<count { try add() }
    }

    deinit {
      for server in servers { server.process.kill() }
    }

    /// Starts a server, which may reach PostgreSQL through an address of its own.
    func add(at url: String? = nil, advertise: String? = nil) throws {
      let options = [
        "--store", url ?? self.url, "--port", "0", "--rules", rules,
        "--socket", "\(sandbox.directory)/\(servers.count).sock",
        // All of this holds for clients that read from a copy as well.
        "--limit", "follow-clients=1",
      ]
      servers.append(try sandbox.serve(options + (advertise.map { ["--advertise", $0] } ?? [])))
    }

    /// The number of the server that leads a database, among the given ones.
    func leader(of name: String = "hearth", among numbers: [Int]? = nil) throws -> Int {
      var found: Int?
      try waitUntil("somebody leads \(name)", within: 30) {
        for number in numbers ?? Array(servers.indices) {
          // A database is led only once a client has requested it.
          let answer = try servers[number].request("GET", "/.json?shallow=true&ns=\(name)")
          if answer.status == 200, try leads(number, name) { found = number }
        }
        return found != nil
      }
      return try #require(found)
    }

    /// Whether a server leads a database.
    func leads(_ number: Int, _ name: String = "hearth") throws -> Bool {
      let body = try servers[number].request("GET", "/.info/metrics.json", bySocket: true).body
      let databases = try object(body)["databases"] as? [String: Any]
      return databases?[name] != nil
    }

    func signal(_ number: Int, _ signal: Int32) {
      kill(servers[number].process.processIdentifier, signal)
    }

    /// A client that knows the address of one server.
    func client(of number: Int) throws -> Database {
      let database = try Database(url: "http://127.0.0.1:\(servers[number].port)?ns=hearth")
      afterTest { await database.close() }
      return database
    }
  }

  /// How long clients may have to wait after a leader died, on a machine that is busy with other
  /// work.
  private static let patience = Duration.seconds(15)

  /// Keeps incrementing until the body has finished; counts what was acknowledged.
  private func count(
    in database: Database,
    while body: () async throws -> Void
  ) async throws -> (acknowledged: Int, stored: Int) {
    let isDone = Flag()
    let counter = database.reference(withPath: "count")
    let writer = Task {
      var acknowledged = 0
      while !isDone.isSet {
        // Several writes are in flight at any time.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<5 {
            group.addTask { try await counter.setValue(ServerValue.increment(1)) }
          }
          try await group.waitForAll()
        }
        acknowledged += 5
      }
      return acknowledged
    }
    try await body()
    isDone.set()
    let acknowledged = try await writer.value
    let stored = try await counter.getData().value as? Int ?? -1
    return (acknowledged, stored)
  }

  /// Has a database counted while a fault happens, and checks that clients can write again soon,
  /// and that every write was stored once.
  private func expectSurvival(
    _ fault: String,
    in database: Database,
    writingTo other: Database? = nil,
    of body: () async throws -> Void,
    then: (Duration) throws -> Void = { _ in }
  ) async throws {
    let counts = try await count(in: database) {
      _ = try await timeOfWrite(to: database)
      try await body()
      let time = try await timeOfWrite(to: other ?? database)
      print("\(fault): the first write took \(time)")
      try then(time)
    }
    #expect(counts.stored == counts.acknowledged)
    #expect(counts.acknowledged > 0)
  }

  /// Two servers, of which the first leads and reaches PostgreSQL through the proxy.
  private func clusterBehindProxy(
    watching statements: [String] = []
  ) throws -> (cluster: Cluster, proxy: FaultyNetwork) {
    let postgres = try PostgresServer.shared.get()
    let cluster = try Cluster(0, at: try postgres.makeDatabase())
    let proxy = try FaultyNetwork(to: postgres.port, watching: statements)
    try cluster.add(at: proxy.url(of: cluster.url))
    #expect(try cluster.leader() == 0)
    try cluster.add()
    return (cluster, proxy)
  }

  /// Measures how long it takes until a write is acknowledged.
  private func timeOfWrite(to database: Database) async throws -> Duration {
    let start = ContinuousClock.now
    // A write that changes nothing would be acknowledged without being stored.
    try await database.reference(withPath: "probe").setValue(ServerValue.increment(1))
    return ContinuousClock.now - start
  }

  @Test("After a leader is killed, clients find the next one, and their writes arrive once")
  func killed() async throws {
    let postgres = try PostgresServer.shared.get()
    let cluster = try Cluster(3, at: try postgres.makeDatabase())
    let leader = try cluster.leader()
    let other = (leader + 1) % 3
    let database = try cluster.client(of: other)
    let scheduled = try #require(WireClient(socket: cluster.servers[leader].socket))
    let increment = #"{"t":"d","d":{"r":1,"a":"o","b":{"p":"/gone","d":{".sv":{"increment":1}}}}}"#
    #expect(scheduled.send(increment))
    #expect(scheduled.receive()?.contains(#""s":"ok""#) == true)
    try await expectSurvival("a killed leader", in: database) {
      cluster.signal(leader, SIGKILL)
    } then: {
      #expect($0 < Self.patience)
    }
    let gone = try await database.reference(withPath: "gone").getData().value as? Int
    #expect(gone == 1, "what the dead leader had been told to write later is written once")
  }

  @Test("A leader cut off from PostgreSQL releases its clients, and another takes over")
  func cutOff() async throws {
    let (cluster, proxy) = try clusterBehindProxy()
    let database = try cluster.client(of: 1)
    try await expectSurvival("a leader without PostgreSQL", in: database) {
      proxy.set(.silent)
    } then: { _ in
      let next = try cluster.leader(among: [1])
      #expect(next == 1)
      proxy.set(.sound)
    }
  }

  @Test("A leader and its readers survive silent connections to PostgreSQL")
  func silentConnections() async throws {
    let (cluster, proxy) = try clusterBehindProxy()
    let database = try cluster.client(of: 0)
    _ = try await timeOfWrite(to: database)
    func epoch() throws -> String {
      try PostgresServer.shared.get().sql("SELECT id FROM hearth.leases", at: cluster.url)
    }
    let before = try epoch()
    var slowest = Duration.zero
    for _ in 0..<3 {
      proxy.strand()
      async let write = timeOfWrite(to: database)
      // Reads of what is stored do not wait for the write.
      for _ in 0..<20 {
        let start = ContinuousClock.now
        #expect(try cluster.servers[0].request("GET", "/count.json").status == 200)
        slowest = max(slowest, ContinuousClock.now - start)
        usleep(100_000)
      }
      print("a write took \(try await write) on a silent connection")
    }
    print("the slowest read took \(slowest)")
    #expect(try epoch() == before, "the leader has not lost its lease")
    let socket = cluster.servers[0].socket
    let metrics = try cluster.sandbox.run(
      ["-sS", "--unix-socket", socket, "http://localhost/metrics"],
      of: "/usr/bin/curl"
    ).output
    #expect(metrics.contains("\nhearth_cluster_leases_lost_total 0\n"), "\(metrics)")
    #expect(!metrics.contains("\nhearth_cluster_reconnects_total 0\n"))
    let alerts = try String(
      contentsOfFile: Sandbox.package + "/assets/monitoring/alerts.yaml",
      encoding: .utf8
    )
    let names = alerts.matches(of: /hearth_\w+/).map(\.output)
    #expect(!names.isEmpty)
    for name in names { #expect(metrics.contains("# TYPE \(name) "), "an alert uses \(name)") }
    #expect(metrics.contains("\nhearth_cluster_unfolded_batches{database=\"hearth\"} "))
  }

  @Test("A leader that renews its lease but cannot commit is replaced")
  func silentCommits() async throws {
    let (cluster, proxy) = try clusterBehindProxy(
      watching: ["SELECT hearth.commit(", "FROM hearth.add_barrier("]
    )
    let database = try cluster.client(of: 0)
    let reader = try cluster.client(of: 1)
    try await expectSurvival("a leader that can store nothing", in: database, writingTo: reader) {
      proxy.set(.silentIfWatched)
    } then: { _ in
      let next = try cluster.leader(among: [1])
      #expect(next == 1)
      proxy.set(.sound)
    }
    #expect(try !cluster.leads(0))
  }

  @Test("Clients and operators are told when PostgreSQL waits for a missing standby")
  func missingStandby() throws {
    let postgres = try PostgresServer()
    let url = try postgres.makeDatabase()
    let cluster = try Cluster(2, at: url)
    let leader = try cluster.leader()
    func ask(_ query: String) throws -> String {
      try postgres.sql(query, at: postgres.url(of: "postgres"))
    }
    func show() throws -> String {
      let shown = try cluster.sandbox.hearth("cluster", "--store", url)
      #expect(shown.status == 0 && !shown.output.isEmpty)
      return shown.output
    }
    #expect(try !show().contains("standby"))
    _ = try ask("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
    _ = try ask("SELECT pg_reload_conf()")
    var bodies: Set<String> = []
    try waitUntil("both servers name the reason", within: 60) {
      let answers = try [leader, 1 - leader].map {
        try cluster.servers[$0].request("PUT", "/x.json", "1")
      }
      // What a server forwards to another may be answered from before.
      bodies.formUnion(answers.filter { $0.status == 503 }.map(\.body))
      return answers.allSatisfy { $0.status == 503 && $0.body.contains("standby") }
    }
    #expect(!bodies.contains { $0.contains("another server leads") }, "\(bodies)")
    #expect(try show().contains("WAITS for a synchronous standby"))
    _ = try ask("ALTER SYSTEM RESET synchronous_standby_names")
    _ = try ask("SELECT pg_reload_conf()")
    _ = try cluster.leader()
    try waitUntil("nothing waits any more") { try !show().contains("WAITS") }
    postgres.stop()
  }

  @Test("Renaming and deleting a database on running servers includes its accounts and rules")
  func renamed() throws {
    let postgres = try PostgresServer.shared.get()
    let url = try postgres.makeDatabase()
    let cluster = try Cluster(2, at: url)
    let sandbox = cluster.sandbox
    func hearth(_ words: String...) throws -> Sandbox.Outcome {
      try sandbox.run(words + ["--store", url])
    }
    func make(_ name: String) throws {
      #expect(try hearth("databases", "create", name).status == 0)
      #expect(try hearth("rules", "set", cluster.rules, "--ns", name).status == 0)
    }
    func status(_ server: Int, of name: String, with token: String) throws -> Int {
      try cluster.servers[server].request("GET", "/x.json?ns=\(name)&auth=\(token)").status
    }
    try make("old")
    let leader = try cluster.leader(of: "old")
    #expect(try cluster.servers[leader].request("PUT", "/x.json?ns=old", "1").status == 200)
    let signedUp = try cluster.servers[leader].request("POST", "/v1/accounts:signUp?ns=old", "{}")
    let account = try object(signedUp.body)
    let uid = try #require(account["localId"] as? String)
    let token = try #require(account["idToken"] as? String)
    #expect(try status(leader, of: "old", with: token) == 200)

    let asked = try hearth("databases", "rename", "old", "new")
    #expect(asked.status != 0 && asked.errors.contains("--yes"))
    #expect(try hearth("databases", "rename", "old", "hearth", "--yes").status != 0)
    #expect(try hearth("databases", "rename", "none", "new", "--yes").status != 0)
    let renamed = try hearth("databases", "rename", "old", "new", "--yes")
    #expect(renamed.status == 0, "\(renamed.errors)")
    let next = try cluster.leader(of: "new")
    #expect(try cluster.servers[next].request("GET", "/x.json?ns=new").body == "1")
    try waitUntil("no server knows the old name") {
      try cluster.servers.allSatisfy { try $0.request("GET", "/x.json?ns=old").status == 404 }
    }
    let moved = try postgres.sql(
      "SELECT convert_from(database, 'UTF8') FROM hearth.accounts"
        + " WHERE convert_from(uid, 'UTF8') = '\(uid)'",
      at: url
    )
    #expect(moved == "new")
    // The next database of that name does not know the users of this one.
    try make("old")
    let other = try cluster.leader(of: "old")
    try waitUntil("tokens for the old name are refused") {
      try status(other, of: "old", with: token) == 401
    }
    let refresh = try #require(account["refreshToken"] as? String)
    let renewed = try cluster.servers[next].request(
      "POST",
      "/v1/token?ns=new",
      #"{"grant_type":"refresh_token","refresh_token":"\#(refresh)"}"#
    )
    let newToken = try #require(try object(renewed.body)["id_token"] as? String)
    #expect(try status(next, of: "new", with: newToken) == 200)
    #expect(try hearth("databases", "delete", "old", "--yes").status == 0)

    #expect(try hearth("databases", "delete", "new").status != 0)
    let deleted = try hearth("databases", "delete", "new", "--yes")
    #expect(deleted.status == 0, "\(deleted.errors)")
    try waitUntil("no server knows it") {
      try cluster.servers.allSatisfy { try $0.request("GET", "/x.json?ns=new").status == 404 }
    }
    let left = try postgres.sql(
      "SELECT count(*) FROM hearth.databases d WHERE name <> 'hearth' UNION ALL"
        + " SELECT count(*) FROM hearth.accounts",
      at: url
    )
    #expect(left == "0\n0")
    // Neither was a loss.
    let shown = try hearth("cluster")
    #expect(!shown.output.contains("LOST"), "\(shown.output)")
    #expect(shown.output.contains("  version "), "\(shown.output)")
    try make("new")
    let last = try cluster.leader(of: "new")
    #expect(try cluster.servers[last].request("GET", "/x.json?ns=new").body == "null")
    try waitUntil("tokens of the deleted database are refused") {
      try status(last, of: "new", with: newToken) == 401
    }
  }

  @Test("A server that starts before PostgreSQL reports it and waits")
  func early() throws {
    let postgres = try PostgresServer()
    let url = try postgres.makeDatabase()
    postgres.stop()
    let sandbox = try Sandbox()
    let (log, output) = (sandbox.directory + "/early.log", sandbox.directory + "/early.out")
    let server = try sandbox.start(
      ["serve", "--store", url, "--port", "0", "--log", log],
      output: output
    )
    func says(_ text: String, in file: String) -> Bool {
      (try? String(contentsOfFile: file, encoding: .utf8))?.contains(text) == true
    }
    try waitUntil("it waits") { says("waiting for PostgreSQL", in: log) }
    #expect(!says("ready", in: output))
    try postgres.start()
    try waitUntil("it is ready", within: 30) { says(#""ready":true"#, in: output) }
    #expect(says("PostgreSQL is reached", in: log))
    kill(server.processIdentifier, SIGTERM)
    #expect(server.wait() == 0)
    postgres.stop()
  }

  @Test("Commands drain a server, rebalance databases and set the rules of one")
  func spread() throws {
    let postgres = try PostgresServer.shared.get()
    let url = try postgres.makeDatabase()
    let cluster = try Cluster(2, at: url)
    let sandbox = cluster.sandbox
    let names = ["one", "two", "three", "four"]
    for name in names {
      #expect(try sandbox.hearth("databases", "create", name, "--store", url).status == 0)
      try sandbox.succeed("rules", "set", cluster.rules, "--ns", name, "--store", url)
      _ = try cluster.leader(of: name)
    }
    let host = "127.0.0.1:\(cluster.servers[0].port)"
    try sandbox.succeed("databases", "drain", host, "--store", url)
    for name in names { #expect(try cluster.leader(of: name) == 1) }
    #expect(try sandbox.hearth("databases", "rebalance", "--store", url).status == 0)
    let again = try sandbox.hearth("databases", "rebalance", "--store", url)
    #expect(again.status == 0 && again.output.isEmpty, "\(again.output)")
    let silent = "INSERT INTO hearth.servers (id, host, milliseconds) VALUES ('s', 'gone:1', 60000)"
    try postgres.sql(silent, at: url)
    let third = try sandbox.hearth("databases", "rebalance", "--store", url)
    #expect(third.status == 0 && third.output.isEmpty, "\(third.output)")
    #expect(third.errors.contains("\"gone:1\" is silent"), "\(third.errors)")
    try postgres.sql("DELETE FROM hearth.servers WHERE id = 's'", at: url)
    let led = try sandbox.hearth("rules", "set", cluster.rules, "--ns", "one", "--store", url)
    #expect(led.status != 0 && led.errors.contains("leads"), "\(led.errors)")
    let leader = cluster.servers[try cluster.leader(of: "one")].socket
    let served = try sandbox.run(["rules", "set", cluster.rules, "--ns", "one", "--socket", leader])
    #expect(served.status == 0, "\(served.errors)")
    let cluster2 = try sandbox.hearth("cluster", "--store", url)
    #expect(cluster2.output.contains("timeline 1"))
    // A server that was killed is listed for four seconds more.
    cluster.signal(0, SIGKILL)
    let other = "127.0.0.1:\(cluster.servers[1].port)"
    try sandbox.refuse("databases", "drain", other, "--store", url, status: 6, says: "no other")
    let moved = try sandbox.hearth("databases", "move", "one", host, "--store", url)
    #expect([3, 6].contains(moved.status), "\(moved.errors)")
    #expect(try cluster.leader(of: "two", among: [1]) == 1)
  }

  @Test("A leader unreachable to its clients hands the database over to another server")
  func unreachable() async throws {
    let postgres = try PostgresServer.shared.get()
    let cluster = try Cluster(0, at: try postgres.makeDatabase())
    let proxy = FaultyNetwork()
    try cluster.add(advertise: "127.0.0.1:\(proxy.open())")
    proxy.aim(at: cluster.servers[0].port)
    #expect(try cluster.leader() == 0)
    try cluster.add()
    let database = try cluster.client(of: 1)
    try await expectSurvival("a leader that its clients do not reach", in: database) {
      proxy.set(.cut)
    } then: { _ in
      let next = try cluster.leader()
      #expect(next == 1)
    }
    #expect(try !cluster.leads(0))
  }

  @Test("A restart of PostgreSQL loses or duplicates no write, and clients continue")
  func restarted() async throws {
    let postgres = try PostgresServer()
    let cluster = try Cluster(2, at: try postgres.makeDatabase())
    let leader = try cluster.leader()
    let database = try cluster.client(of: 1 - leader)
    try await expectSurvival("a restart of PostgreSQL", in: database) {
      postgres.stop()
      try postgres.start()
    }
    await database.close()
    postgres.stop()
  }

  @Test("After the primary crashes, the servers continue on the promoted standby")
  func failedOver() async throws {
    let primary = try PostgresServer(settings: ["synchronous_standby_names=*"])
    _ = try primary.sql(
      "ALTER SYSTEM SET synchronous_commit = 'local'",
      at: primary.url(of: "postgres")
    )
    let standby = try PostgresServer(standbyOf: primary)
    let url =
      "postgres://hearth@127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)/postgres"
      + "?target_session_attrs=read-write"
    let cluster = try Cluster(2, at: url)
    let leader = try cluster.leader()
    let database = try cluster.client(of: 1 - leader)
    try await expectSurvival("a failover of PostgreSQL", in: database) {
      primary.stop(isCrash: true)
      try standby.promote()
    }
    await database.close()
    standby.stop()
  }

  @Test("Data lost in an asynchronous failover is reported and no longer shown")
  func loss() throws {
    let primary = try PostgresServer()
    let standby = try PostgresServer(standbyOf: primary)
    let url =
      "postgres://hearth@127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)/postgres"
      + "?target_session_attrs=read-write"
    let cluster = try Cluster(2, at: url)
    let leader = try cluster.leader()
    func ask(_ query: String) throws -> String {
      try primary.sql(query, at: primary.url(of: "postgres"))
    }
    #expect(try cluster.servers[leader].request("PUT", "/x.json", "1").status == 200)
    let position = try ask("SELECT pg_current_wal_lsn()")
    try waitUntil("the standby has the first value", within: 30) {
      try ask("SELECT replay_lsn >= '\(position)' FROM pg_stat_replication") == "t"
    }
    standby.stop()
    #expect(try cluster.servers[leader].request("PUT", "/x.json", "2").status == 200)
    let before = try ask("SELECT min(renewal) FROM hearth.servers")
    try waitUntil("both servers have seen the second value", within: 30) {
      try ask("SELECT min(renewal) > \(before) + 1 FROM hearth.servers") == "t"
    }
    primary.stop(isCrash: true)
    try standby.start()
    try standby.promote()
    try waitUntil("the loss is told", within: 30) {
      try cluster.sandbox.hearth("cluster", "--store", url).output.contains("hearth  LOST")
    }
    try waitUntil("every server that answers has what is stored", within: 30) {
      try cluster.servers.map { try $0.request("GET", "/x.json") }
        .contains { $0.status == 200 && $0.body == "1" }
    }
    standby.stop()
  }

  @Test("A stopping leader hands over first")
  func handedOver() async throws {
    let postgres = try PostgresServer.shared.get()
    let cluster = try Cluster(2, at: try postgres.makeDatabase())
    let leader = try cluster.leader()
    let other = 1 - leader
    let database = try cluster.client(of: other)
    try await expectSurvival("a leader that stops", in: database) {
      cluster.signal(leader, SIGTERM)
    } then: { _ in
      #expect(cluster.servers[leader].process.wait() == 0)
    }
  }
}

/// A flag that is set once.
private final class Flag: @unchecked Sendable {
  // Safety: guarded by the lock.
  private let lock = NSLock()
  private var value = false

  var isSet: Bool { lock.withLock { value } }

  func set() { lock.withLock { value = true } }
}
