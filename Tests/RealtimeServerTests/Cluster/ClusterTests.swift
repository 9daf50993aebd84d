import NIOConcurrencyHelpers
import NIOCore
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("A cluster with shared storage", .timeLimit(.minutes(2)), .cleansUp)
struct ClusterTests {
  @Test("Databases are spread across the servers")
  func shares() async throws {
    // The choice depends on the ports of the servers, which differ between runs. With 36 databases,
    // a server is left without one in about one run in a million.
    let names = (0..<36).map { "d\($0)" }
    let cluster = try await TestCluster(3, databases: names)
    for name in names { _ = try await cluster.leader(of: name) }
    let holders = cluster.storage.view().leases.map(\.holder)
    #expect(Set(holders).count == 3)
  }

  @Test("What is written while a leader hands over is stored", arguments: [false, true])
  func writtenMeanwhile(atLeader: Bool) async throws {
    let cluster = try await TestCluster()
    let (leader, next) = try await cluster.pair()
    let id = try #require(cluster.storage.view().servers.first { $0.host == next.host }?.id)
    let member = atLeader ? leader : next
    cluster.storage.move("hearth", to: id)
    var number = 0
    repeat {
      number += 1
      try await cluster.ask(member, "PUT", "/x/n\(number).json", "1", gives: 200)
    } while try await cluster.leader().leader.host != next.host
    let body = try await cluster.ask(member, "GET", "/x.json?shallow=true").body
    #expect(try JSONParser.parse(Array(body.utf8)).members?.count == number)
  }

  @Test("A server is reached at its address while its databases have no leader")
  func reachWithoutLeader() async throws {
    let cluster = try await TestCluster(1)
    let (member, _) = try await cluster.leader()
    member.store.cut()
    try await cluster.until("nobody leads") { member.hasLogged("a lease has ended") }
    let reach = ServerReach(on: member.server.core.eventLoop, isSecure: false)
    #expect(await reach.isReached(member.host))
    member.store.mend()
  }

  @Test("A server at a socket alone does not look for itself at an address")
  func socketAlone() async throws {
    let directory = try TemporaryDirectory()
    let cluster = try await TestCluster(0)
    let store = CuttableStore(cluster.storage)
    let log = NIOLockedValueBox<[String]>([])
    _ = try await DatabaseServer.start(
      .init(socketPath: directory.file("s")),
      stores: store,
      logger: .collecting(log)
    ).endingWithTest()
    try await cluster.until("it has announced itself") { store.answers >= 3 }
    #expect(!log.withLockedValue { $0 }.contains { $0.contains("does not reach itself") })
  }

  @Test("A server of a cluster does not start on a port in use, and says so")
  func portInUse() async throws {
    let cluster = try await TestCluster(1)
    let port = try #require(cluster.members.first?.server.port)
    await expectError(\DatabaseServerError.kind, .addressInUse) {
      try await DatabaseServer.start(.init(port: port), stores: CuttableStore(cluster.storage))
    }
  }

  @Test("The log says once that no lease is to be had")
  func refusedLeases() async throws {
    let cluster = try await TestCluster(1, databases: ["other"])
    let member = try #require(cluster.members.first)
    member.store.refuseLeases(because: .notWritable)
    let http = try await HTTPProbe(member.server.address)
    http.send(HTTPProbe.text("GET", "/x.json?ns=other"))
    try await cluster.until("several leases are refused") { member.store.refusals > 3 }
    let lines = member.log.withLockedValue { $0 }
    #expect(lines.count { $0.contains("cannot use the storage") } == 1)
    #expect(!member.hasLogged("the storage is reached again"))
  }

  @Test("A request for a database that has gone is not kept, and no trouble of the storage")
  func absentDatabase() async throws {
    let cluster = try await TestCluster(1, databases: ["other"])
    let member = try #require(cluster.members.first)
    member.store.refuseLeases(because: .missing)
    try await cluster.ask(member, "GET", "/x.json?ns=other", gives: 404)
    #expect(member.store.refusals == 1)
    #expect(!member.hasLogged("cannot use the storage"))
  }

  @Test("Clocks that are days apart affect neither leases, handovers nor links")
  func clocksApart() async throws {
    let cluster = try await TestCluster(0)
    for days in [0, 40, 3] { try await cluster.add(ahead: .seconds(days * 86_400)) }
    let (leader, others) = try await cluster.leader()
    try await cluster.ask(leader, "PUT", "/x.json", "1", gives: 200)
    let epoch = cluster.storage.view().leases.first?.epoch ?? 0
    leader.store.cut()
    try await cluster.until("another leads") {
      cluster.storage.view().leases.contains { $0.epoch > epoch }
    }
    for other in others {
      try await cluster.ask(other, "GET", "/x.json", gives: "1")
    }
    let next = try await cluster.leader().leader
    #expect(next.host != leader.host)
    leader.store.mend()
    try await cluster.until("the one that was cut off sends clients on") {
      cluster.storage.view().servers.count == 3
    }
    try await cluster.ask(leader, "GET", "/x.json", gives: "1")
    await next.server.stop()
    #expect(try await cluster.leader().leader.host != next.host)
  }

  @Test("The log says when a database cannot be opened and when it can be again")
  func opensAgain() async throws {
    let cluster = try await TestCluster(0, databases: ["broken"])
    let member = try await cluster.add(rest: .milliseconds(100))
    member.store.damage()
    try await cluster.ask(member, "GET", "/.json?ns=broken", gives: 503)
    #expect(member.hasLogged("a database cannot be opened"))
    #expect(!member.hasLogged("a database can be opened again"))
    member.store.damage(false)
    while try await cluster.ask(member, "GET", "/.json?ns=broken").status != 200 {}
    #expect(member.hasLogged("a database can be opened again"))
  }

  @Test("A damaged database is not opened again for each request")
  func damaged() async throws {
    let cluster = try await TestCluster(1, databases: ["broken"])
    let member = try await cluster.leader().leader
    member.store.damage()
    let before = member.store.openings
    for _ in 0..<30 {
      try await cluster.ask(member, "GET", "/.json?ns=broken", gives: 503)
    }
    // Several renewals, each of which might take the database up again.
    let answers = member.store.answers
    try await cluster.until("the lease is renewed") { member.store.answers > answers + 6 }
    let last = try await cluster.ask(member, "GET", "/.json?ns=broken")
    #expect(last.body.contains("the stored data is damaged"), "\(last.body)")
    #expect(member.store.openings == before + 1)
  }

  @Test("A leader frozen beyond its lease neither answers nor commits when it resumes")
  func frozen() async throws {
    let cluster = try await TestCluster()
    let (leader, others) = try await cluster.leader()
    try await cluster.ask(leader, "PUT", "/x.json", "1", gives: 200)
    let reader = try await cluster.connect(leader)
    let writer = try await cluster.connect(leader)
    _ = try await (reader.next(), writer.next())
    let http = try await HTTPProbe(try leader.server.address)
    try await http.request("GET", "/x.json", gives: "1")
    // Its clock leaps as after a suspension of the process: no timer has run in between.
    leader.clock.leap(by: .seconds(30))
    reader.send(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/x","q":{}}}}"#)
    writer.send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/x","d":9}}}"#)
    let late = try await http.request("GET", "/x.json")
    #expect(late.status != 200 || late.body != "1" || cluster.storage.view().leases[0].epoch > 1)
    #expect(try await reader.messagesUntilClosed().isEmpty)
    #expect(try await writer.messagesUntilClosed().isEmpty)
    let (next, _) = try await cluster.leader()
    try await cluster.ask(next, "GET", "/x.json", gives: "1")
    #expect(others.count == 1)
  }
}
