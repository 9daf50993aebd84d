import NIOCore
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// That copies take part in everything that forwarding promises is tested by ``ForwardingTests``.
@Suite("Following the leader", .timeLimit(.minutes(2)), .cleansUp)
struct FollowingTests {
  /// A cluster in which one server follows the other.
  private func pair() async throws -> (
    cluster: TestCluster, leader: TestCluster.Member, follower: TestCluster.Member
  ) {
    let cluster = try await TestCluster(followClients: 1)
    let (leader, others) = try await cluster.leader()
    try await cluster.ask(leader, "PUT", "/old.json", "\"before\"", gives: 200)
    try await cluster.followEverywhere()
    return (cluster, leader, try #require(others.first))
  }

  @Test("A client reads its own writes and everything acknowledged to others")
  func ownWrites() async throws {
    let (cluster, leader, follower) = try await pair()
    let writer = try await cluster.client(at: follower)
    for number in 0..<50 {
      // Neither waits for an answer before it asks.
      writer.send(
        #"{"t":"d","d":{"r":\#(2 * number),"a":"p","b":{"p":"/n","d":\#(number)}}}"#
      )
      writer.send(#"{"t":"d","d":{"r":\#(2 * number + 1),"a":"g","b":{"p":"/n","q":{}}}}"#)
      try await writer.expect(#""r":\#(2 * number),"b":{"s":"ok""#)
      try await writer.expect(#""d":\#(number)"#)
      try await cluster.ask(leader, "PUT", "/m.json", "\(number)", gives: 200)
      try await cluster.ask(follower, "GET", "/m.json", gives: "\(number)")
    }
  }

  @Test("A client receives its own write before the acknowledgement")
  func order() async throws {
    let (cluster, _, follower) = try await pair()
    let writer = try await cluster.client(at: follower)
    try await writer.ask(1, "q", #"{"p":"/n","h":""}"#)
    for number in 2..<40 {
      writer.send(#"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/n/\#(number)","d":7}}}"#)
      try await writer.expect(#""p":"n/\#(number)""#)
      try await writer.expect(#""r":\#(number),"b":{"s":"ok""#)
    }
  }

  @Test("Responses from the leader do not overtake earlier reads of the copy")
  func answersInOrder() async throws {
    let (cluster, _, follower) = try await pair()
    let client = try await cluster.client(at: follower)
    let write = #""a":"p","b":{"p":"/n","d":1,"k":"once"}"#
    for number in 0..<20 {
      // The leader refuses the first condition, and knows the second write from the second round on.
      client.send(#"{"t":"d","d":{"r":\#(4 * number),"a":"g","b":{"p":"/old","q":{}}}}"#)
      client.send(
        #"{"t":"d","d":{"r":\#(4 * number + 1),"a":"p","b":{"p":"/n","d":2,"h":"other"}}}"#
      )
      client.send(#"{"t":"d","d":{"r":\#(4 * number + 2),"a":"g","b":{"p":"/old","q":{}}}}"#)
      client.send(#"{"t":"d","d":{"r":\#(4 * number + 3),\#(write)}}"#)
    }
    for number in 0..<80 {
      try await client.expect(#""r":\#(number),"#)
    }
  }

  @Test("Forwarded clients move to the copy and receive each change once, in order")
  func takenOver() async throws {
    let cluster = try await TestCluster(followClients: 4)
    let (leader, follower) = try await cluster.pair()
    let writer = try await cluster.client(at: leader)
    var listeners: [ClientProbe] = []
    for number in 0..<3 {
      let listener = try await cluster.client(at: follower)
      try await listener.ask(1, "q", #"{"p":"/n","h":""}"#)
      let query = #"{"l":2,"vf":"r","i":".key"}"#
      try await listener.ask(2, "q", #"{"p":"/m","q":\#(query),"t":\#(number),"h":""}"#)
      listeners.append(listener)
    }
    let before = try await leader.serves { $0.listens }
    // The next client is the one that makes the server follow, while somebody writes.
    listeners.append(try await cluster.client(at: follower))
    let count = 300
    for number in 1...count {
      writer.send(#"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/n","d":\#(number)}}}"#)
      if number % 20 == 0 { try await writer.expect(#""s":"ok""#) }
    }
    // What another client writes from now on comes after all of it.
    while try await !writer.next().contains(#""r":\#(count),"#) {}
    try await cluster.follow(at: follower)
    try await eventually { try await leader.serves { $0.listens } == before - 6 }
    #expect(try await follower.serves { $0.listens } == 6)
    try await cluster.ask(leader, "PUT", "/m/k.json", "7", gives: 200)
    for (number, listener) in listeners.prefix(3).enumerated() {
      var values: [Int] = []
      while values.last != count {
        let push = try await listener.next()
        try #require(push.contains(#""p":"n""#), "\(push)")
        let digits = push.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
        values.append(try #require(Int(digits), "\(push)"))
      }
      #expect(values == Array(1...count))
      try await listener.expect(#""p":"m/k","d":7"#, #""t":\#(number)"#)
      // What it asks for from now on is in order, too.
      listener.send(#"{"t":"d","d":{"r":8,"a":"p","b":{"p":"/own\#(number)","d":1}}}"#)
      listener.send(#"{"t":"d","d":{"r":9,"a":"g","b":{"p":"/own\#(number)","q":{}}}}"#)
      try await listener.expect(#""r":8,"b":{"s":"ok""#)
      try await listener.expect(#""r":9,"b":{"s":"ok","d":1}"#)
      #expect(try await listener.hasNothing())
    }
    #expect(cluster.members.allSatisfy { !$0.hasLogged("has ended") }, "a link has broken")
  }

  @Test("A user who signed in before the copy existed is notified once of the deletion")
  func signedOutOnce() async throws {
    let cluster = try await TestCluster(followClients: 2)
    let (leader, follower) = try await cluster.pair()
    let client = try await cluster.client(at: follower)
    let token = try await cluster.signUp(at: follower)
    try await client.ask(1, "auth", #"{"cred":"\#(token)"}"#)
    let second = try await cluster.client(at: follower)
    try await cluster.follow(at: follower)
    try await eventually { try await follower.serves { $0.signedIn } > 0 }
    try await cluster.deleteAccount(of: token, at: follower)
    try await client.expect(#""a":"ac""#)
    for member in [leader, follower] {
      try await eventually { try await member.serves { $0.signedIn } == 0 }
    }
    // What it asks for now is answered next, so nothing else was said.
    client.send(#"{"t":"d","d":{"r":2,"a":"s","b":{"c":{}}}}"#)
    try await client.expect(#""r":2"#)
    second.close()
  }

  @Test("A client's open requests arrive at another server unchanged, and nothing else does")
  func states() throws {
    let query = Query(index: .child("a/b"), limit: Query.Limit(7, side: .last))
    let state = SessionState(
      identity: .user(.object(("uid", .string("é")))),
      expires: 7,
      hasDoneNothing: false,
      listens: [
        ListenRequest(path: .root), ListenRequest(path: "a/b", query: query, tag: 3),
      ]
    )
    #expect(SessionState(state.encoded) == state)
    let blank = SessionState(
      identity: .administrator,
      expires: nil,
      hasDoneNothing: true,
      listens: []
    )
    #expect(SessionState(blank.encoded) == blank)
    for text in ["", "{}", "7", #"{"i":7,"l":[],"n":true}"#, #"{"i":null,"l":[7],"n":true}"#] {
      #expect(SessionState(Array(text.utf8)) == nil, "\(text)")
    }
  }

  @Test("An unreadable database is forwarded as before and not retried for every client")
  func unreadable() async throws {
    let cluster = try await TestCluster(followClients: 1)
    let follower = try #require(try await cluster.leader().others.first)
    follower.store.hide()
    for number in 0..<8 {
      let client = try await cluster.client(at: follower)
      try await client.ask(1, "p", #"{"p":"/n","d":\#(number)}"#)
      client.send(#"{"t":"d","d":{"r":2,"a":"g","b":{"p":"/n","q":{}}}}"#)
      try await client.expect(#""d":\#(number)}"#)
    }
    #expect(follower.hasLogged("the storage cannot be read"))
    // Once, or a few times more on a machine that takes a minute for this.
    #expect(follower.store.readings < 4)
  }

  @Test("A missing or mismatched commit ends the copy instead of corrupting it")
  func gaps() throws {
    var hub = TreeHub(stored: StoredTree(root: .empty, revision: 4))
    let first = Commit(revision: 5, timestamp: 1, changes: [Change("a", to: .integer(1))])
    #expect(hub.follow([first]) != nil)
    #expect(hub.snapshot["a" as Path] == .integer(1) && hub.revision == 5)
    var other = hub
    #expect(
      other.follow([Commit(revision: 7, timestamp: 1, changes: [Change("a", to: .integer(2))])])
        == nil
    )
    other = hub
    // It would change nothing here, as the leader's commits never do.
    #expect(
      other.follow([Commit(revision: 6, timestamp: 1, changes: [Change("a", to: .integer(1))])])
        == nil
    )
    other = hub
    #expect(other.follow([Commit(revision: 6, timestamp: 1, changes: [])]) == nil)
  }

  @Test("Messages from the leader decode to what was encoded, and nothing else decodes")
  func messages() throws {
    let commits = [
      Commit(
        revision: 8,
        timestamp: 1,
        changes: [Change("a", to: .integer(1)), Change("b", to: .string("x"))]
      ),
      Commit(revision: 9, timestamp: 2, changes: [Change("a", to: .empty)]),
    ]
    guard case .commits(commits)? = FollowerMessage(try FollowerMessage.commits(commits).encoded())
    else { throw Unexpected("the commits differ") }
    let beginning = FollowerMessage.beginning(revision: 9, lineage: nil)
    let named = FollowerMessage.beginning(revision: 9, lineage: "1 2")
    guard case .mark(7)? = FollowerMessage(try FollowerMessage.mark(7).encoded()),
      case .beginning(revision: 9, lineage: nil)? = FollowerMessage(try beginning.encoded()),
      case .beginning(revision: 9, lineage: "1 2")? = FollowerMessage(try named.encoded()),
      case .rules(source: "{é}")? = FollowerMessage(
        try FollowerMessage.rules(source: "{é}").encoded()
      )
    else { throw Unexpected("a message differs") }
    for text in [
      "", "x", "b", "bx", "b blog", "m", "m-", "c", "c9:", "c9", "c:", "cx:y",
      "m99999999999999999999",
    ] {
      #expect(FollowerMessage(Array(text.utf8)) == nil, "\(text)")
    }
  }
}
