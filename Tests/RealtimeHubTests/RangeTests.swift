import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@Suite("TreeHub: hash ranges")
struct RangeTests {
  private static func data(_ count: Int) -> Node {
    Node(
      sortedChildren: (0..<count).map {
        (key: ChildKey(String($0)), value: Node.string("some text of a fair length"))
      }
    )
  }

  /// Listens with a client's existing data, and returns the pushes that precede the response.
  private static func listen(
    _ request: ListenRequest,
    to root: Node
  ) throws -> [ServerMessage] {
    var hub = TreeHub(stored: StoredTree(root: root))
    hub.open(PeerID(0))
    let outputs = hub.handle(.request(id: 1, .listen(request)), from: PeerID(0), at: 0)
    return try outputs.dropLast().compactMap {
      if case .send(_, let message) = $0 { try ServerMessage(decoding: message.bytes) } else { nil }
    }
  }

  private static func request(_ path: Path, _ known: Node, tag: Int64? = nil) -> ListenRequest {
    let compound = CompoundHash(of: known)
    return ListenRequest(
      path: path,
      query: tag == nil ? .all : Query(limit: Query.Limit(150, side: .first)),
      tag: tag,
      hash: known.hash,
      compoundHash: compound
    )
  }

  @Test("A listener with a compound hash gets the ranges that differ", arguments: [nil, 7])
  func differs(tag: Int64?) throws {
    let known = Self.data(150)
    let now = known.setting(Path(["70"]), to: .empty).setting(Path(["z"]), to: .bool(true))
    let root = Node.empty.setting(Path(["a"]), to: now)
    let pushes = try Self.listen(Self.request("a", known, tag: tag), to: root)
    guard pushes.count == 1, case .push(.rangeMerge("a", let ranges, tag: tag)) = pushes[0]
    else { throw Unexpected("\(pushes)") }
    let merged = ranges.reduce(known) {
      $1.applied(to: $0)
    }
    #expect(merged == now)
    #expect(ranges.reduce(0) { $0 + $1.node.childCount } < 100)
  }

  @Test("If the ranges match but the hash does not, all data is sent")
  func hidden() throws {
    let known = Self.data(150).withPriority(.integer(1))
    let now = known.withPriority(nil)
    let pushes = try Self.listen(Self.request(.root, known), to: now)
    #expect(pushes == [.push(.data(path: .root, now, tag: nil))])
  }

  @Test("A listener whose ranges all match gets nothing, although other data may have its hash")
  func matching() throws {
    let known = Self.data(150).setting(Path(["12:30"]), to: .bool(true))
    #expect(known.exactHash != known.hash)
    #expect(try Self.listen(Self.request(.root, known), to: known).isEmpty)
  }
}
