import RealtimeCore
import Testing

@testable import RealtimeServer

/// Listens that cost others more than their owner.
@Suite("TreeHub: attacks with listens")
struct ListenAttackTests {
  private static let rules = #"{"rules":{".read":true,".write":true,"posts":{".indexOn":["n"]}}}"#

  private static func hub(_ limits: ServerLimits = ServerLimits(), children: Int = 500) -> TreeHub {
    let posts = Node(
      sortedChildren: (0..<children).map { number in
        let key = ChildKey("p\(String(number + 1_000_000))")
        return (key: key, value: Node.empty.setting(ChildKey("n"), to: .integer(Int64(number))))
      }
    )
    let root = Node.empty.setting(ChildKey("posts"), to: posts)
    var hub = TreeHub(
      stored: StoredTree(root: root, rules: rules),
      limits: limits,
      verifier: TestVerifier()
    )
    for number in 0..<4 { hub.open(PeerID(number)) }
    return hub
  }

  /// Listens to a query, and returns whether it was granted.
  private static func listen(
    _ hub: inout TreeHub,
    _ query: Query,
    tag: Int,
    peer: Int = 0
  ) throws -> Bool {
    let listen = ListenRequest(path: "posts", query: query, tag: Int64(tag))
    let outputs = hub.handle(.request(id: 1, .listen(listen)), from: PeerID(peer), at: 0)
    guard case .send(_, let message)? = outputs.last,
      case .response(_, let response) = try ServerMessage(decoding: message.bytes)
    else { return false }
    return response.status == .ok
  }

  private static func signIn(_ hub: inout TreeHub, _ name: String, peer: Int) {
    let authentication = ClientRequest.Authentication(credential: name)
    _ = hub.handle(.request(id: 0, .authenticate(authentication)), from: PeerID(peer), at: 0)
  }

  /// A query that nobody else has.
  private static func window(_ number: Int, by index: Index = .child("n")) -> Query {
    Query(
      index: index,
      start: QueryBound(.integer(Int64(number))),
      limit: Query.Limit(1, side: .first)
    )
  }

  @Test("Undeclared indexes at one location are limited, and so is the work per commit")
  func orders() throws {
    var hub = Self.hub()
    Self.signIn(&hub, "ann", peer: 0)
    Self.signIn(&hub, "bob", peer: 1)
    var granted = 0
    for number in 0..<400 {
      let query = Self.window(0, by: .child(Path(wire: "x\(number)")))
      if try Self.listen(&hub, query, tag: number, peer: number % 2) { granted += 1 }
    }
    #expect(granted == ServerLimits().undeclaredOrders)
    let before = hub.listens.cache.visited
    hub.put(.integer(9), at: "posts/p1000007/n", from: 2)
    #expect(hub.listens.cache.visited - before <= granted + 1)
    // A declared order is for everybody.
    #expect(try Self.listen(&hub, Self.window(1), tag: 1, peer: 2))
    // What has ended makes room.
    _ = hub.close(PeerID(0), at: 0)
    let late = Self.window(0, by: .child(Path(wire: "late")))
    #expect(try Self.listen(&hub, late, tag: 1, peer: 2))
  }

  @Test("Many different windows at one location use up one user's budget, not that of others")
  func windows() throws {
    var hub = Self.hub()
    Self.signIn(&hub, "ann", peer: 0)
    Self.signIn(&hub, "bob", peer: 1)
    var granted = 0
    while try granted < 20_000 && Self.listen(&hub, Self.window(granted), tag: granted) {
      granted += 1
    }
    #expect((200..<2_000).contains(granted))
    #expect(try Self.listen(&hub, Self.window(30_000), tag: 1, peer: 1))
    // Further connections of the same user have the same budget, once it is used up to the last.
    var plain = -1
    while plain < hub.listenCount(of: PeerID(0)) {
      plain = hub.listenCount(of: PeerID(0))
      let request = ListenRequest(path: Path(["rooms", ChildKey("\(plain)")]))
      _ = hub.handle(.request(id: 1, .listen(request)), from: PeerID(0), at: 0)
    }
    for peer in 2...3 {
      Self.signIn(&hub, "ann", peer: peer)
      #expect(try !Self.listen(&hub, Self.window(40_000 + peer), tag: 1, peer: peer))
    }
    _ = hub.close(PeerID(0), at: 0)
    #expect(hub.listenCount == 1)
    #expect(try Self.listen(&hub, Self.window(50_000), tag: -1, peer: 2))
  }

  @Test("Unauthenticated peers share one budget, but each network keeps a few listens")
  func guests() throws {
    var limits = ServerLimits()
    limits.guestListens = 100
    limits.freeListens = 20
    var hub = Self.hub(limits)
    for peer in 10..<20 { hub.open(PeerID(peer), from: "10.0.0.\(peer / 5)") }
    func listens(of peer: Int) throws -> Int {
      var granted = 0
      while granted < 200 {
        let path = Path(["rooms", ChildKey("\(peer)x\(granted)")])
        let request = ClientMessage.request(id: 1, .listen(ListenRequest(path: path)))
        _ = hub.handle(request, from: PeerID(peer), at: 0)
        guard hub.listenCount(of: PeerID(peer)) > granted else { break }
        granted += 1
      }
      return granted
    }
    #expect(try listens(of: 0) == 100)
    #expect(try listens(of: 1) == 0)
    // However many connections a network has, it has the few listens once.
    #expect(try (10..<15).map(listens(of:)) == [20, 0, 0, 0, 0])
    #expect(try (15..<20).map(listens(of:)) == [20, 0, 0, 0, 0])
    _ = hub.close(PeerID(10), at: 0)
    #expect(try listens(of: 11) == 20)
    Self.signIn(&hub, "ann", peer: 2)
    #expect(try listens(of: 2) == 200)
    _ = hub.close(PeerID(0), at: 0)
    #expect(try listens(of: 3) == 60)
  }

  @Test("Windows can be closed in any order without affecting the others")
  func ends() throws {
    var hub = Self.hub()
    Self.signIn(&hub, "ann", peer: 0)
    for number in 0..<50 { #expect(try Self.listen(&hub, Self.window(number), tag: number)) }
    for number in stride(from: 0, to: 50, by: 2) {
      let end = ClientRequest.unlisten(path: "posts", query: Self.window(number), tag: nil)
      _ = hub.handle(.request(id: 3, end), from: PeerID(0), at: 0)
    }
    #expect(hub.listenCount(of: PeerID(0)) == 25)
    let outputs = hub.put(.integer(11_000), at: "posts/p1000011/n", from: 1)
    let pushed = outputs.count { output in
      if case .send(PeerID(0), _) = output { true } else { false }
    }
    #expect(pushed == 1)
  }

  @Test("A push is the same for everybody but for its tag", arguments: [true, false])
  func tags(isWindow: Bool) throws {
    var hub = Self.hub()
    let query: Query = isWindow ? Self.window(0) : .all
    let tags: [Int64] = [1, 22, .max, .min]
    for (peer, tag) in tags.enumerated() {
      #expect(try Self.listen(&hub, query, tag: Int(tag), peer: peer))
    }
    for node in [Node.leaf(.string("}}}")), .leaf(.integer(0)), .leaf(.string("{"))] {
      var pushes: [PeerID: [ServerPush]] = [:]
      for output in hub.put(node, at: "posts/p1000000/n", from: 3) {
        let (peers, bytes): ([PeerID], [UInt8])
        switch output {
        case .send(let peer, let message): (peers, bytes) = ([peer], message.bytes)
        case .broadcast(let all, let message): (peers, bytes) = (all, message.bytes)
        default: continue
        }
        guard case .push(let push) = try ServerMessage(decoding: bytes) else { continue }
        for peer in peers { pushes[peer, default: []].append(push) }
      }
      for (peer, tag) in tags.enumerated() {
        let found = try #require(pushes[PeerID(peer)])
        #expect(!found.isEmpty)
        for push in found {
          switch push {
          case .data(_, _, let own), .merge(_, _, let own): #expect(own == tag)
          default: Issue.record("\(push)")
          }
        }
      }
    }
  }
}
