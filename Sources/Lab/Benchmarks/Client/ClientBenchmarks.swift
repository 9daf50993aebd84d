import RealtimeCore
import RealtimeDatabase

enum ClientBenchmarks {
  private static let posts = Path(["posts"])

  static var all: [Benchmark] {
    let sizes = [("1k", 1_000), ("10k", 10_000), ("100k", 100_000), ("1M", 1_000_000)]
    return sizes.map { updates($0, count: $1) } + sizes.map { localSet($0, count: $1) }
      + [multiPathUpdate, decoding, hashing, memory, fill]
  }

  /// Server updates of an indexed child, seen through a window of the last hundred.
  private static func updates(_ label: String, count: Int) -> Benchmark {
    Benchmark(
      "client/server-update/\(label)",
      against: .dictionary,
      prepare: {
        var client = try windowed(count)
        let updates = 10_000
        let stars = ChildKey("starCount")
        var round = 0
        return {
          round += 1
          let changes = (0..<updates).map { number in
            let path = posts.appending(SamplePosts.key(number * 7_919 % count)).appending(stars)
            return (path, Node.integer(Int64((number + round) * 31 % 20_011)))
          }
          defer { keep(client.events) }
          return .time(over: updates) { client.push(changes[$0].1, at: changes[$0].0) }
        }
      }
    )
  }

  /// A client that holds all posts and watches the hundred with the most stars.
  private static func windowed(_ count: Int) throws -> BenchmarkClient {
    var client = BenchmarkClient()
    client.observe(posts, events: [.value])
    client.push(try SamplePosts.tree(count), at: posts)
    client.observe(
      posts,
      query: BlogTree.mostStars(100),
      events: [.childAdded, .childChanged, .childMoved, .childRemoved]
    )
    return client
  }

  /// A local write, up to the event at the client's own listener.
  private static func localSet(_ label: String, count: Int) -> Benchmark {
    Benchmark(
      "client/local-set/\(label)",
      against: .dictionary,
      prepare: {
        var client = BenchmarkClient()
        client.observe(posts, events: [.value])
        client.push(try SamplePosts.tree(count), at: posts)
        return { [client] in
          var copy = client
          let before = copy.events
          defer { keep(copy.events - before) }
          return .time(over: 200) { number in
            let path = posts.appending(SamplePosts.key(number * 7_919 % count))
            copy.write(.set(.integer(Int64(number))), at: path.appending(ChildKey("starCount")))
          }
        }
      }
    )
  }

  /// One update of 500 paths, which a listener sees as one event.
  private static var multiPathUpdate: Benchmark {
    Benchmark(
      "client/update-of-500-paths",
      against: .dictionary,
      aims: [.atMost(.time(.milliseconds(5)))]
    ) {
      var client = BenchmarkClient()
      client.observe(posts, events: [.value])
      client.push(try SamplePosts.tree(10_000), at: posts)
      let changes = (0..<500).map { number in
        Change(Path([SamplePosts.key(number * 17), "starCount"]), to: .integer(Int64(number)))
      }
      let time = ContinuousClock().measure { client.write(.merge(changes), at: posts) }
      keep(client.events)
      return .time(time, operations: 1)
    }
  }

  /// Decoding the bytes of a listen response into data that the engine accepts.
  private static var decoding: Benchmark {
    Benchmark(
      "client/decode-50-KB",
      against: .copy,
      aims: [.atLeast(.throughput(300_000_000, in: .seconds(1)))]
    ) {
      let bytes = try message(of: 175)
      let rounds = 200
      let time = try ContinuousClock().measure {
        for _ in 0..<rounds {
          if case .push = try ServerMessage(decoding: bytes) { continue }
          keep(0)
        }
      }
      return .throughput(bytes.count * rounds, in: time)
    }
  }

  /// Both hashes of posts that the client already has, as sent with each listen.
  private static var hashing: Benchmark {
    Benchmark("client/hash-50-KB", against: .copy) {
      let node = try SamplePosts.tree(175)
      let bytes = ServerMessage.push(.data(path: posts, node, tag: nil)).encoded().count
      let rounds = 20
      let time = ContinuousClock().measure {
        for _ in 0..<rounds {
          keep(node.hash.utf8.count)
          keep(CompoundHash.worthSending(of: node)?.posts.count ?? 0)
        }
      }
      return .throughput(bytes * rounds, in: time)
    }
  }

  /// The bytes of the message with which a server sends posts.
  private static func message(of count: Int) throws -> [UInt8] {
    ServerMessage.push(.data(path: posts, try SamplePosts.tree(count), tag: nil)).encoded()
  }

  /// Memory of a post in a client's cache, including the parts of the message that packed posts
  /// keep alive.
  private static var memory: Benchmark {
    Benchmark("client/memory-per-post", against: .postJSON, aims: [.atMost(.memory(1_024))]) {
      let count = 100_000
      let before = ResidentMemory.bytes()
      var client = BenchmarkClient()
      client.observe(posts, events: [.value])
      try client.takeIn(message(of: count))
      let after = ResidentMemory.bytes()
      keep(client.events)
      return .memory(after - before, items: count)
    }
  }

  /// Taking in 100,000 posts at once, from bytes to the listener's event; the time per post.
  private static var fill: Benchmark {
    Benchmark("client/take-in-100k-posts", against: .dictionary) {
      let count = 100_000
      let bytes = try message(of: count)
      var client = BenchmarkClient()
      client.observe(posts, events: [.value])
      let time = try ContinuousClock().measure { try client.takeIn(bytes) }
      keep(client.events)
      return .time(time, operations: count)
    }
  }
}

/// An engine without a connection: the benchmark itself feeds it with messages.
struct BenchmarkClient {
  private var core: RepoCore
  private var connection = ConnectionID(0)
  private var last: Int64 = 0
  private let time = RepoTime(wall: 1_700_000_000_000, monotonic: 0, random: 0.5)
  private(set) var events = 0

  /// Creates an engine whose connection has received the server's greeting.
  init() {
    core = RepoCore(
      configuration: RepoConfiguration(clientID: "bench", statisticsName: "sdk.swift.1-0-0")
    )
  }

  /// Feeds an input, and connects when the engine requests it.
  mutating func feed(_ input: RepoInput) {
    for output in core.handle(input, at: time) {
      switch output {
      case .raise: events += 1
      case .connect(let id, _): connect(id)
      case .disconnect, .send, .sendKeepalive, .schedule, .cancelTimer, .listenerCancelled,
        .writeCompleted, .getCompleted, .transactionCompleted, .credentialRejected,
        .credentialAccepted, .persist, .log:
        break
      }
    }
  }

  private mutating func connect(_ id: ConnectionID) {
    connection = id
    feed(.transportOpened(id))
    let hello = ServerHello(timestamp: time.wall, host: "localhost", session: "s", extensions: [])
    feed(.message(id, .hello(hello)))
  }

  mutating func observe(_ path: Path, query: Query = .all, events: Set<DataEventType>) {
    last += 1
    feed(.observe(ListenerID(last), path: path, query: query, events: events))
  }

  /// Feeds a value that the server sends for a path.
  mutating func push(_ node: Node, at path: Path) {
    feed(.message(connection, .push(.data(path: path, node, tag: nil))))
  }

  /// Takes in a value from the bytes of a message, of which only the client keeps anything.
  mutating func takeIn(_ bytes: [UInt8]) throws {
    if case .push(.data(let path, let node, _)) = try ServerMessage(decoding: bytes) {
      push(node, at: path)
    }
  }

  mutating func write(_ operation: WriteOperation, at path: Path) {
    last += 1
    feed(.write(RequestToken(last), path: path, operation))
  }
}
