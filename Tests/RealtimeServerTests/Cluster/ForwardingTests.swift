import NIOCore
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("Forwarding to the leader", .timeLimit(.minutes(2)), .cleansUp)
struct ForwardingTests {
  /// A cluster whose servers forward, or also answer from copies what clients read.
  private func cluster(_ count: Int = 2, withCopies: Bool) async throws -> TestCluster {
    let cluster = try await TestCluster(count, followClients: withCopies ? 1 : 0)
    if withCopies { try await cluster.followEverywhere() }
    return cluster
  }

  /// A client of a server that does not lead, and the greeting it received.
  private func stray(
    _ cluster: TestCluster
  ) async throws -> (client: ClientProbe, leader: TestCluster.Member, other: TestCluster.Member) {
    let (leader, other) = try await cluster.pair()
    let client = try await cluster.connect(other)
    let hello = try await client.next()
    // The client would come back to the host that the greeting names.
    #expect(hello.contains(#""h":"\#(other.host)""#), "\(hello)")
    return (client, leader, other)
  }

  @Test("A request for a server that is never reached is known not to be carried out")
  func unreached() async throws {
    let cluster = try await TestCluster()
    let core = try await cluster.pair().other.server.core
    let isKnown = try await core.eventLoop.flatSubmit { () -> EventLoopFuture<Bool> in
      let link = ForwardingLink(
        to: ConnectionTarget(host: "127.0.0.1", port: 1),
        server: "gone",
        ticket: "",
        trust: .system,
        context: core.value.context
      ) {}
      let request = HTTPRequest(
        forwarded: "PUT",
        target: "/x.json?ns=hearth",
        headerLines: [],
        body: Array("1".utf8),
        peer: .network(address: "127.0.0.1")
      )
      return link.forward(request, about: "hearth").map { _ in false }
        .flatMapErrorThrowing { $0 is ForwardingLink.NotLedThere }
    }.get()
    #expect(isKnown)
  }

  @Test("A read that is held by a leader without its storage is answered by the next one")
  func heldRead() async throws {
    let cluster = try await TestCluster(3)
    let (leader, others) = try await cluster.leader()
    let servers = cluster.storage.view().servers.filter { $0.host != leader.host }
    let next = Leadership.choice(for: "hearth", among: servers)
    // A server that begins to lead needs no word from the storage about who does.
    let other = try #require(others.first { $0.host != next?.host })
    try await cluster.ask(other, "GET", "/n.json", gives: 200)
    leader.store.cut()
    try await cluster.ask(leader, "PUT", "/n.json", "1", gives: 503)
    try await cluster.ask(other, "GET", "/n.json", gives: "null")
  }

  @Test(
    "Clients of several servers receive a burst of writes once and in order",
    arguments: [false, true]
  )
  func bursts(withCopies: Bool) async throws {
    let cluster = try await cluster(3, withCopies: withCopies)
    let (writer, leader, _) = try await stray(cluster)
    var listeners: [ClientProbe] = []
    for member in cluster.members {
      for _ in 0..<4 {
        let listener = try await cluster.client(at: member)
        try await listener.ask(1, "q", #"{"p":"/x","h":""}"#)
        listeners.append(listener)
      }
    }
    // One of them is told something of its own in between.
    let odd = listeners[4]
    try await odd.ask(2, "q", #"{"p":"/x/7","h":""}"#)
    let count = 40
    for number in 0..<count {
      writer.send(
        #"{"t":"d","d":{"r":\#(number + 1),"a":"p","b":{"p":"/x/\#(number)","d":"v\#(number)"}}}"#
      )
    }
    for listener in listeners {
      var values: [String] = []
      while values.count < count {
        let push = try await listener.next()
        guard push.contains(#""p":"x/"#),
          let value = push.split(separator: "\"").last(where: {
            $0.hasPrefix("v")
          })
        else { continue }
        if values.last != String(value) { values.append(String(value)) }
      }
      #expect(values == (0..<count).map { "v\($0)" })
      #expect(try await listener.hasNothing())
    }
    #expect(cluster.members.allSatisfy { !$0.hasLogged("has ended") }, "a link has broken")
    try await cluster.ask(leader, "GET", "/x.json?shallow=true", gives: 200)
  }

  @Test("A frame names the clients of the messages that follow it, or is invalid")
  func announcements() throws {
    for exchanges in [[1], [7, 8, 9], Array(1...LinkFrame.mostSharing)] {
      let bytes = LinkFrame.announcement(of: 3, to: exchanges)
      let following = try #require(LinkFrame(bytes)?.following)
      #expect(following.count == 3 && following.exchanges == exchanges)
      #expect(bytes.count < LinkFrame.pieceBytes)
    }
    for text in [
      "w1:", "w1:0", "w1:-1", "w1:x", "w1:1 x", "w1:1,2", "w1: ", "w1:99999999999999999999",
    ] {
      #expect(LinkFrame(Array(text.utf8))?.following == nil, "\(text)")
    }
  }

  @Test("Requests of every kind are answered as by the leader", arguments: [false, true])
  func requests(withCopies: Bool) async throws {
    let cluster = try await cluster(withCopies: withCopies)
    let (leader, other) = try await cluster.pair()
    try await cluster.ask(other, "PUT", "/a%20b/c.json?print=silent", "{\"x\":1}", gives: 204)
    for (method, target) in [
      ("GET", "/a%20b.json"), ("GET", "/a%20b.json?shallow=true"), ("GET", "/a.json?orderBy=1"),
      ("DELETE", "/none.json"), ("GET", "/x.json?ns=absent"), ("BREW", "/x.json"),
      ("GET", "/.settings/rules.json"), ("HEAD", "/a%20b.json"),
    ] {
      let here = try await cluster.ask(leader, method, target)
      let there = try await cluster.ask(other, method, target)
      #expect(here.status == there.status, "\(method) \(target)")
      #expect(here.body == there.body, "\(method) \(target)")
      #expect(here.lines["content-type"] == there.lines["content-type"])
    }
    let line = "X-Firebase-ETag: true"
    let tagged = try await cluster.ask(other, "GET", "/a%20b.json", lines: [line])
    let tag = try #require(tagged.lines["etag"])
    let match = ["if-match: \(tag)"]
    try await cluster.ask(other, "PUT", "/a%20b.json", "7", lines: match, gives: 200)
    try await cluster.ask(other, "PUT", "/a%20b.json", "8", lines: match, gives: 412)
  }

  @Test(
    "A body of a megabyte is forwarded, one over four megabytes is redirected",
    arguments: [false, true]
  )
  func sizes(withCopies: Bool) async throws {
    let cluster = try await cluster(withCopies: withCopies)
    let (leader, other) = try await cluster.pair()
    for count in [0, 1, 262_143, 262_144, 262_145, 1_048_576] {
      let text = "\"\(String(repeating: "é", count: count / 2))\(count % 2 == 1 ? "x" : "")\""
      try await cluster.ask(other, "PUT", "/t.json?print=silent", text, gives: 204)
      #expect(try await cluster.ask(other, "GET", "/t.json").body == text, "\(count) bytes")
    }
    let large = "\"\(String(repeating: "x", count: 5 * 1_048_576))\""
    let answer = try await cluster.ask(other, "PUT", "/t.json", large, gives: 307)
    #expect(answer.lines["location"] == "http://\(leader.host)/t.json?ns=hearth")
  }

  @Test(
    "A client's message of any length and content arrives unchanged and affects no other",
    arguments: [false, true]
  )
  func messages(withCopies: Bool) async throws {
    let cluster = try await cluster(withCopies: withCopies)
    let (client, leader, other) = try await stray(cluster)
    let neighbour = try await cluster.client(at: other)
    for (number, count) in [1, 16_384, 262_144, 3_000_000].enumerated() {
      let text = String(repeating: "x", count: count)
      try await client.ask(number, "p", #"{"p":"/m","d":"\#(text)"}"#)
      try await cluster.ask(leader, "GET", "/m.json", gives: "\"\(text)\"")
    }
    // Frames of the link, numbers, and what is not JSON at all.
    for text in ["w1:", "m2:{}", "e2:1000 bye", "7", "b0:", "{", "", "\u{0}"] {
      let rude = try await cluster.client(at: other)
      rude.send(text)
      rude.send(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/x","q":{}}}}"#)
      rude.close()
    }
    try await neighbour.ask(9, "p", #"{"p":"/k","d":1}"#)
  }

  @Test(
    "A client that resumes reading gets the newest data, and delays no other",
    arguments: [false, true]
  )
  func slow(withCopies: Bool) async throws {
    let cluster = try await cluster(withCopies: withCopies)
    let (neighbour, leader, other) = try await stray(cluster)
    let slow = try await RawWebSocket(try other.server.address)
    _ = try await slow.next()
    try await slow.ask(1, "q", #"{"p":"/big","h":""}"#)
    try await slow.setReading(false)
    let writer = try await cluster.client(at: leader)
    let filler = String(repeating: "x", count: 1_000_000)
    for number in 0..<24 {
      let body = #"{"p":"/big","d":"\#(number) \#(filler)"}"#
      try await writer.ask(number, "p", #"\#(body)"#)
      try await neighbour.ask(number, "p", #"{"p":"/k","d":1}"#)
    }
    try await slow.setReading(true)
    var count = 0
    while try await !slow.next().contains(#""d":"23 x"#) { count += 1 }
    #expect(count < 23)
  }
}
