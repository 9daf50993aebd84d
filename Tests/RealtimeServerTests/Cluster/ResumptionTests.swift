import NIOCore
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// What clients of a server notice when the leader of their database changes.
@Suite("Resuming sessions", .timeLimit(.minutes(2)), .cleansUp)
struct ResumptionTests {
  /// A cluster of three, and a client of a server that does not lead.
  private struct Scene {
    let cluster: TestCluster
    let leader: TestCluster.Member
    let other: TestCluster.Member
    let client: ClientProbe

    init(withCopies: Bool) async throws {
      cluster = try await TestCluster(3, followClients: withCopies ? 1 : 0)
      if withCopies { try await cluster.followEverywhere() }
      let (leader, others) = try await cluster.leader()
      self.leader = leader
      other = try #require(others.first)
      client = try await cluster.connect(other)
      try await client.expect(#""t":"h""#)
    }

    /// Has the leader lost, and returns the next one.
    func lose(by loss: TestCluster.Loss) async throws -> TestCluster.Member {
      try await cluster.lose(leader, by: loss, askedAt: other)
    }
  }

  @Test("Many clients continue at the next leader, each in order")
  func many() async throws {
    let scene = try await Scene(withCopies: false)
    var clients: [ClientProbe] = []
    for _ in 0..<60 {
      let client = try await scene.cluster.client(at: scene.other)
      clients.append(client)
    }
    scene.leader.store.cut()
    for (number, client) in clients.enumerated() {
      for value in 1...3 {
        client.send(
          #"{"t":"d","d":{"r":\#(value),"a":"p","b":{"p":"/\#(number)","d":\#(value)}}}"#
        )
      }
    }
    _ = try await scene.lose(by: .cut)
    for client in clients {
      for value in 1...3 {
        try await client.expect(#""r":\#(value),"b":{"s":"ok""#)
      }
    }
  }

  @Test("A server forgets the data of a database that it no longer leads")
  func forgets() async throws {
    final class Memory {
      weak var database: DatabaseCore?
    }
    let scene = try await Scene(withCopies: false)
    let core = scene.leader.server.core
    let memory = try await core.eventLoop.submit {
      let memory = NIOLoopBoundBox(Memory(), eventLoop: core.eventLoop)
      memory.value.database = core.value.databases.opened("hearth")
      return memory
    }.get()
    #expect(try await core.eventLoop.submit { memory.value.database != nil }.get())
    _ = try await scene.lose(by: .move)
    try await eventually {
      try await core.eventLoop.submit { memory.value.database == nil }.get()
    }
  }

  @Test("A read whose answer was lost is answered by the next leader", arguments: ["GET", "HEAD"])
  func reads(method: String) async throws {
    let scene = try await Scene(withCopies: false)
    try await scene.cluster.ask(scene.leader, "PUT", "/n.json", "1", gives: 200)
    scene.leader.store.cut()
    async let answer = scene.cluster.ask(scene.other, method, "/n.json")
    await scene.leader.server.stop()
    #expect(try await answer.status == 200)
  }

  @Test(
    "The next leader or follower reads only what its copy lacks",
    arguments: TestCluster.Loss.allCases
  )
  func knows(loss: TestCluster.Loss) async throws {
    let scene = try await Scene(withCopies: true)
    let cluster = scene.cluster
    for number in 1...5 {
      try await cluster.ask(scene.leader, "PUT", "/n.json", "\(number)", gives: 200)
    }
    #expect(cluster.storage.known == [])
    let next = try await scene.lose(by: loss)
    let remaining = cluster.members.filter { $0.host != scene.leader.host }
    for member in remaining {
      try await cluster.ask(member, "GET", "/n.json", gives: "5")
    }
    if next.host != scene.other.host { try await cluster.follow(at: scene.other) }
    #expect(cluster.storage.known.first == 5)
    try await cluster.ask(next, "PUT", "/n.json", "6", gives: 200)
    for member in remaining {
      try await cluster.ask(member, "GET", "/n.json", gives: "6")
    }
  }

  @Test(
    "onDisconnect writes outlive the leader and are applied once when the client leaves",
    arguments: TestCluster.Loss.allCases,
    [false, true]
  )
  func scheduled(loss: TestCluster.Loss, withCopies: Bool) async throws {
    let scene = try await Scene(withCopies: withCopies)
    let (cluster, client) = (scene.cluster, scene.client)
    try await client.ask(1, "o", #"{"p":"/n","d":{".sv":{"increment":1}}}"#)
    var next = try await scene.lose(by: loss)
    try await client.ask(2, "om", #"{"p":"/","d":{"m":true}}"#)
    // The next leader goes on with it for good.
    try await Task.sleep(for: .seconds(2))
    try await cluster.ask(next, "GET", "/.json", gives: "null")
    next = try await cluster.leader().leader
    client.close()
    try await cluster.expect("/.json", #"{"m":true,"n":1}"#, at: next)
  }

  @Test("When a client reconnects elsewhere, its onDisconnect writes are applied first")
  func comesBackElsewhere() async throws {
    let scene = try await Scene(withCopies: false)
    let cluster = scene.cluster
    let link = try await FirstServer(running: scene.other.run, over: scene.leader)
    let name = try await link.open()
    try await link.ask(1, "o", #"{"p":"/here","d":null}"#)
    link.close()
    let client = try await scene.cluster.client(at: scene.other, goingOnFrom: name)
    try await client.ask(1, "p", #"{"p":"/here","d":true}"#)
    try await Task.sleep(for: .seconds(3))
    try await cluster.ask(scene.leader, "GET", "/here.json", gives: "true")
  }

  @Test("After a client reconnects elsewhere, its old session is ignored")
  func isReplaced() async throws {
    let scene = try await Scene(withCopies: false)
    let link = try await FirstServer(running: scene.other.run, over: scene.leader)
    let name = try await link.open()
    link.close()
    let client = try await scene.cluster.client(at: scene.other, goingOnFrom: name)
    try await client.ask(1, "p", #"{"p":"/n","d":"new"}"#)
    let next = try await FirstServer(running: scene.other.run, over: scene.leader)
    next.open(goingOnWith: name, hasScheduled: false)
    next.send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/n","d":"old"}}}"#)
    #expect(try await next.ended().contains("a newer connection took its place"))
    try await scene.cluster.ask(scene.leader, "GET", "/n.json", gives: #""new""#)
  }

  @Test("When the link to a running server is lost, its clients' onDisconnect writes wait")
  func waits() async throws {
    let scene = try await Scene(withCopies: false)
    let cluster = scene.cluster
    var link = try await FirstServer(running: scene.other.run, over: scene.leader)
    let name = try await link.open()
    try await link.ask(1, "o", #"{"p":"/gone","d":true}"#)
    link.close()
    try await Task.sleep(for: .seconds(3))
    try await cluster.ask(scene.leader, "GET", "/gone.json", gives: "null")
    // The session goes on over the next link, and what it has scheduled with it.
    link = try await FirstServer(running: scene.other.run, over: scene.leader)
    link.open(goingOnWith: name)
    link.settle()
    try await link.ask(2, "s", #"{"c":{}}"#)
    try await cluster.ask(scene.leader, "GET", "/gone.json", gives: "null")
    link.close()
    // The server has it no more.
    link = try await FirstServer(running: scene.other.run, over: scene.leader)
    link.settle()
    try await cluster.expect("/gone.json", "true", at: scene.leader)
    // A client that counts on it is let go.
    link.open(goingOnWith: name)
    link.send(#"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/n","d":1}}}"#)
    #expect(try await link.ended().contains("\(CloseCode.tryAgainLater)"))
    try await cluster.ask(scene.leader, "GET", "/n.json", gives: "null")
    link.close()
  }

  @Test("A leader does not end the session of a client that it refused before it led")
  func refusedBefore() async throws {
    let scene = try await Scene(withCopies: false)
    let cluster = scene.cluster
    let hosts = [scene.leader.host, scene.other.host]
    let third = try #require(cluster.members.first { !hosts.contains($0.host) })
    let old = try await FirstServer(running: scene.leader.run, over: scene.leader)
    let name = try await old.open()
    try await old.ask(1, "o", #"{"p":"/gone","d":true}"#)
    old.close()
    let link = try await FirstServer(running: scene.leader.run, over: third)
    link.open(goingOnWith: name)
    #expect(try await link.ended().contains("\(CloseCode.goingAway)"))
    let next = try #require(cluster.storage.view().servers.first { $0.host == third.host }).id
    cluster.storage.move("hearth", to: next)
    // A silent link would be given up.
    let beats = Task {
      while !Task.isCancelled {
        link.beat()
        try await Task.sleep(for: .milliseconds(300))
      }
    }
    defer { beats.cancel() }
    try await eventually { cluster.storage.view().leases.contains { $0.holder == next } }
    try await cluster.expect("/gone.json", "null", at: third)
    // What the server says before it hears of the refusal does not count.
    link.settle()
    #expect(try await link.settled().contains("\(CloseCode.goingAway)"))
    link.open(goingOnWith: name)
    try await link.ask(2, "s", #"{"c":{}}"#)
    try await cluster.ask(third, "GET", "/gone.json", gives: "null")
    link.settle()
    #expect(try await link.settled().contains("\(CloseCode.normal)"))
    link.close()
  }

  @Test("When a client's server has died, its onDisconnect writes are applied within seconds")
  func firstServerEnds() async throws {
    let scene = try await Scene(withCopies: false)
    let link = try await FirstServer(running: "ended", over: scene.leader)
    _ = try await link.open()
    try await link.ask(1, "o", #"{"p":"/gone","d":true}"#)
    // While the way to it is there, nobody asks whether it has shown itself to the storage.
    try await Task.sleep(for: .seconds(2))
    try await scene.cluster.ask(scene.leader, "GET", "/gone.json", gives: "null")
    link.close()
    try await scene.cluster.expect("/gone.json", "true", at: scene.leader)
  }
}

/// A server that a client has reached, as far as the leader sees it: a link with one exchange.
private final class FirstServer: MessageProbe, Sendable {
  private let link: ClientProbe
  private static let number = 1

  init(running server: String, over leader: TestCluster.Member) async throws {
    let core = leader.server.core
    let ticket = try await core.eventLoop.submit { () throws -> String? in
      let leaders = try #require(core.value.leaders)
      let ticket = LinkTicket(
        server: leaders.id,
        origin: server,
        end: try #require(leaders.storageTime) + RedirectTicket.lifetime
      )
      return ticket.sealed(with: try #require(core.value.identities.sharedSecret))
    }.get()
    link = try await ClientProbe(
      ConnectionTarget(host: "127.0.0.1", port: try #require(leader.server.port)),
      parameters: "&\(LinkTicket.parameter)=\(try #require(ticket))"
    )
    // Nothing is sent before the leader has greeted it.
    #expect(try await link.next() == "b0:")
  }

  /// Opens a session, and returns its name.
  func open() async throws -> String {
    send(.session, head(session: nil))
    let hello = try JSONParser.parse(Array(try await next().utf8))
    return try #require(hello["d"]?["d"]?["s"]?.string)
  }

  /// Goes on with a session.
  func open(goingOnWith name: String, hasScheduled: Bool = true) {
    send(.session, head(session: name, hasScheduled: hasScheduled))
  }

  private func head(session: String?, hasScheduled: Bool = false) -> [UInt8] {
    var request = HTTPRequest(
      forwarded: "GET",
      target: "/.ws?v=5&ns=hearth",
      headerLines: [],
      body: [],
      peer: .network(address: "127.0.0.1")
    )
    request.origin = HTTPRequest.Origin(server: "", session: session, hasScheduled: hasScheduled)
    return request.linkHead
  }

  func send(_ text: String) { send(.message, Array(text.utf8)) }

  func beat() { send(.beat, [], of: 0) }

  func settle() { send(.settled, Array("hearth".utf8), of: 2) }

  /// What the leader has answered to that.
  func settled() async throws -> String { try await end(of: 2) }

  /// The next message for the client.
  func next() async throws -> String {
    while true {
      let frame = try await link.next()
      if frame.hasPrefix("m\(Self.number):") { return String(frame.dropFirst(3)) }
      if frame.hasPrefix("w") { return try await link.next() }
      try #require(!frame.hasPrefix("e\(Self.number):"), "\(frame)")
    }
  }

  /// How the leader has ended the exchange.
  func ended() async throws -> String { try await end(of: Self.number) }

  private func end(of exchange: Int) async throws -> String {
    while true {
      let frame = try await link.next()
      if frame.hasPrefix("e\(exchange):") { return frame }
    }
  }

  private func send(_ kind: LinkFrame.Kind, _ payload: [UInt8], of exchange: Int = number) {
    link.send(String(decoding: LinkFrame.bytes(kind, exchange, payload), as: UTF8.self))
  }

  func close() { link.close() }
}
