import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("TreeHub: indexes")
struct IndexTests {
  static let rules = """
    {"rules": {".read": true, ".write": true,
      "posts": {".indexOn": ["n", "by/name"]},
      "lists": {"$uid": {".indexOn": ".value"}}
    }}
    """

  private static func node(_ count: Int) -> Node {
    Node(
      sortedChildren: (0..<count).map { number in
        let value = Node.integer(Int64((number * 7_919) % count))
        return (
          key: ChildKey("p\(String(number + 1_000_000))"),
          value: Node.empty.setting(ChildKey("n"), to: value)
        )
      }
    )
  }

  private static func hub(_ count: Int, rules: String? = rules) -> TreeHub {
    let root = Node.empty.setting(ChildKey("posts"), to: node(count))
    var hub = TreeHub(stored: StoredTree(root: root, rules: rules))
    hub.open(PeerID(0))
    return hub
  }

  private static let lastHundred = Query(
    index: .child("n"),
    limit: Query.Limit(100, side: .last)
  )

  private static func get(_ hub: inout TreeHub, _ query: Query = lastHundred) throws -> Node {
    let request = ClientMessage.request(id: 1, .get(path: "posts", query: query))
    guard case .send(_, let answer)? = hub.handle(request, from: PeerID(0), at: 0).first,
      case .response(_, let response) = try ServerMessage(decoding: answer.bytes),
      case .json(let json) = response.payload
    else { return .empty }
    #expect(response.status == .ok)
    return try Node(json: json)
  }

  @Test("The last hundred of many children by a child value are read without a scan")
  func noScan() throws {
    let count = Thoroughness.rounds(100_000)
    var hub = Self.hub(count)
    #expect(hub.listens.cache.visited == 0)
    let first = try Self.get(&hub)
    #expect(first.children?.count == 100)
    #expect(first == Self.lastHundred.evaluate(hub.snapshot[ChildKey("posts")]))
    // The index is built once, and every write costs as many steps as it changes children.
    #expect(hub.listens.cache.visited == count)
    for number in 1...50 {
      let value = Int64(count + number)
      hub.put(.integer(value), at: Path(wire: "posts/p\(1_000_000 + number)/n"))
      #expect(try Self.get(&hub) == Self.lastHundred.evaluate(hub.snapshot[ChildKey("posts")]))
    }
    #expect(hub.listens.cache.visited == count + 50)
  }

  @Test("A listen and gets share an index, which outlives the listen")
  func sharing() throws {
    var hub = Self.hub(1_000)
    let listen = ListenRequest(path: "posts", query: Self.lastHundred, tag: 1)
    _ = hub.handle(.request(id: 1, .listen(listen)), from: PeerID(0), at: 0)
    #expect(hub.listens.cache.visited == 1_000)
    _ = try Self.get(&hub)
    let unlisten = ClientRequest.unlisten(path: "posts", query: Self.lastHundred, tag: 1)
    _ = hub.handle(.request(id: 2, unlisten), from: PeerID(0), at: 0)
    hub.put(.integer(5_000), at: "posts/x/n")
    #expect(try Self.get(&hub).hasChild("x"))
    let first = Query(index: .child("n"), limit: Query.Limit(1, side: .first))
    #expect(try Self.get(&hub, first).children?.count == 1)
    #expect(hub.listens.cache.visited == 1_001)
  }

  @Test("An index follows writes above and below it and is rebuilt when all children change")
  func following() throws {
    var hub = Self.hub(100)
    _ = try Self.get(&hub)
    for (path, node) in [
      (Path(wire: "posts/p1000003"), Node.empty), ("posts/p1000004/n", .string("text")),
      ("posts/p1000005/other", .integer(1)), ("posts", Self.node(150)), ("/", .empty),
      ("posts/new/n", .integer(1)), ("posts", .integer(4)),
    ] {
      hub.put(node, at: path)
      #expect(try Self.get(&hub) == Self.lastHundred.evaluate(hub.snapshot[ChildKey("posts")]))
    }
  }

  @Test("A failed batch rolls the index back")
  func rollback() throws {
    var hub = Self.hub(10)
    _ = try Self.get(&hub)
    let write = WriteRequest(path: "posts/x/n", operation: .set(.integer(99)))
    _ = hub.handle(.request(id: 2, .write(write)), from: PeerID(0), at: 0)
    _ = hub.takeBatch()
    _ = hub.batchFailed(StoreError(.full, description: "no"), at: 0)
    #expect(try !Self.get(&hub).hasChild("x"))
  }

  @Test(
    "The stored tree changes only when a batch is stored, and not when one fails",
    arguments: 1...6 as ClosedRange<UInt64>
  )
  func reversal(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var hub = Self.hub(1_000)
    var stored = hub.snapshot
    for _ in 0..<30 {
      var applied = stored
      var batches = 0
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          let operation = Self.anyOperation(&random)
          let write = WriteRequest(path: "posts", operation: operation)
          _ = hub.handle(.request(id: 2, .write(write)), from: PeerID(0), at: 0)
          guard case .merge(let changes) = operation else { continue }
          for change in changes {
            applied.update(at: ("posts" as Path).appending(change.path), to: change.node)
          }
          if Int.random(in: 0..<4, using: &random) == 0 { #expect(hub.snapshot == stored) }
        }
        if hub.takeBatch() != nil { batches += 1 }
      }
      #expect(hub.snapshot == stored)
      if batches > 0, Bool.random(using: &random) {
        _ = hub.batchFailed(StoreError(.full, description: "no"), at: 0)
      } else {
        _ = hub.batchCommitted(batches)
        stored = applied
      }
      #expect(hub.snapshot == stored)
      #expect(try Self.get(&hub) == Self.lastHundred.evaluate(stored[ChildKey("posts")]))
    }
  }

  /// New, changed and removed posts, and parts of them, mostly one at a time.
  private static func anyOperation(_ random: inout SplitMix64) -> WriteOperation {
    let count = Int.random(in: 0..<4, using: &random) == 0 ? 2 : 1
    var changes: [Change] = []
    while changes.count < count {
      let key = ChildKey("p\(Int.random(in: 999_900...1_001_000, using: &random))")
      guard !changes.contains(where: { $0.path.first == key }) else { continue }
      let value = Node.integer(Int64.random(in: 0..<2_000, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: changes.append(Change(Path([key]), to: .empty))
      case 1...2: changes.append(Change(Path([key, "n"]), to: value))
      case 3: changes.append(Change(Path([key, "by", "name"]), to: value))
      default:
        let post = Node.empty.setting(ChildKey("n"), to: value)
        changes.append(Change(Path([key]), to: post.withPriority(.integer(1))))
      }
    }
    return .merge(changes)
  }

  @Test("Without rules every index is available, and nothing is refused for lack of one")
  func withoutRules() throws {
    var hub = Self.hub(20_000, rules: nil)
    #expect(try Self.get(&hub).children?.count == 100)
    #expect(try Self.get(&hub).children?.count == 100)
    #expect(hub.listens.cache.visited == 20_000)
  }
}
