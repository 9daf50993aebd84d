import RealtimeCore
import RealtimeServer

/// Posts of one size with the typical parts of real ones: text, numbers, a nested map.
enum SamplePosts {
  /// The key of a post; the keys ascend with the numbers.
  static func key(_ number: Int) -> ChildKey {
    let digits = String(number)
    return ChildKey("-P" + String(repeating: "0", count: 8 - digits.count) + digits)
  }

  /// The text of a post: eight fields, about 290 bytes.
  static func json(_ number: Int) -> String {
    """
    {"author":"ada \(number % 97)","body":"What the day was like, in a line or two, and why it \
    is worth telling to the others here: \(number).","starCount":\(number * 7_919 % 10_007),\
    "stars":{"u\(number % 31)":true},"time":\(1_700_000_000_000 + number),"title":"Post number \
    \(number) of many","uid":"u\(number % 97)"}
    """
  }

  static func node(_ number: Int) throws -> Node {
    try Node(json: JSONParser.parse(json(number)))
  }

  /// A map with this many posts.
  static func tree(_ count: Int) throws -> Node {
    var entries: [(key: ChildKey, value: Node)] = []
    entries.reserveCapacity(count)
    for number in 0..<count { entries.append((key(number), try node(number))) }
    return Node(sortedChildren: entries)
  }
}

/// A blog in memory, and a hub that contains it.
enum BlogTree {
  static let posts = ChildKey("posts")
  static let peer = PeerID(1)
  static let time: Int64 = 1_700_000_000_000

  /// A root with this many posts below `/posts`.
  static func root(_ count: Int) throws -> Node {
    Node(sortedChildren: [(posts, try SamplePosts.tree(count))])
  }

  /// A hub with posts, rules that declare an index of the stars, and a peer who may do everything.
  static func hub(_ count: Int) throws -> TreeHub {
    let rules = try RuleSet(source: "{\"rules\": {\"posts\": {\".indexOn\": [\"starCount\"]}}}")
    var hub = TreeHub(stored: StoredTree(root: try root(count)), rules: rules)
    hub.open(peer, as: .administrator)
    return hub
  }

  /// What the rules know about a user.
  static func auth(of uid: String) -> JSONValue {
    .object(
      ("uid", .string(uid)),
      ("provider", .string("custom")),
      ("token", .object(("sub", .string(uid))))
    )
  }

  /// The query for the posts with the most stars.
  static func mostStars(_ count: Int) -> Query {
    Query(index: .child(Path(["starCount"])), limit: Query.Limit(count, side: .last))
  }

  /// A message that gets these posts once.
  static func get(_ count: Int) -> ClientMessage {
    .request(id: 1, .get(path: Path([posts]), query: mostStars(count)))
  }

  /// Messages that change the star counts of posts, one write each.
  static func starWrites(_ writes: Int, of count: Int, round: Int) -> [ClientMessage] {
    (0..<writes).map { number in
      let path = Path([posts, SamplePosts.key(number * 7_919 % count), "starCount"])
      let stars = Node.integer(Int64((number + round) * 7_907 % 10_007))
      return .request(id: 2, .write(WriteRequest(path: path, operation: .set(stars))))
    }
  }
}

extension TreeHub {
  /// Answers messages, and makes them durable a hundred at a time, like a store without a disk.
  mutating func run(_ messages: [ClientMessage]) {
    for (number, message) in messages.enumerated() {
      keep(handle(message, from: BlogTree.peer, at: BlogTree.time).count)
      guard number % 100 == 99 else { continue }
      keep(takeBatch()?.commits.count ?? 0)
      keep(batchCommitted().count)
    }
  }
}
