import RealtimeCore
import RealtimeServer

/// The costs of the server's parts, without sockets and disk.
struct HubBenchmarks {
  private static let count = 100_000

  let environment: BenchmarkEnvironment

  var all: [Benchmark] { [parsing, rules, listenAnswer, lastByIndex, indexUpkeep, memory] }

  /// A write of 300 bytes, from its text to a value.
  private var parsing: Benchmark {
    Benchmark(
      "server/parse-put",
      against: .dictionary,
      aims: [.atMost(.time(.nanoseconds(800)))]
    ) {
      let bytes = try BlogWire.message(1, by: "u1", isStarred: true)
      return try .time(over: 100_000) { _ in
        if case .request = try ClientMessage(decoding: bytes) { return }
        keep(0)
      }
    }
  }

  /// Evaluating the blog's rules for a write of a post.
  private var rules: Benchmark {
    Benchmark(
      "server/rules-of-a-put",
      against: .dictionary,
      prepare: {
        let put = try RulesWork(environment, posts: 10_000)
        return { .time(over: 20_000) { _ in keep(put.isAllowed() ? 1 : 0) } }
      }
    )
  }

  /// A listen to the last hundred of many posts, up to the bytes of the response.
  private var listenAnswer: Benchmark {
    Benchmark(
      "server/listen-100-of-100k",
      against: .dictionary,
      prepare: {
        var hub = try BlogTree.hub(Self.count)
        let path = Path([BlogTree.posts])
        let query = Query(index: .key, limit: Query.Limit(100, side: .last))
        return {
          .time(over: 200) { _ in
            let listen = ListenRequest(path: path, query: query, tag: 1)
            hub.run([
              .request(id: 1, .listen(listen)),
              .request(id: 2, .unlisten(path: path, query: query, tag: 1)),
            ])
          }
        }
      }
    )
  }

  /// The hundred posts with the most stars, up to the bytes of the response.
  private var lastByIndex: Benchmark {
    Benchmark(
      "server/limitToLast-100-by-child",
      against: .dictionary,
      prepare: {
        var hub = try BlogTree.hub(Self.count)
        let gets = [ClientMessage](repeating: BlogTree.get(100), count: 200)
        hub.run(gets)
        return { .time(ContinuousClock().measure { hub.run(gets) }, operations: gets.count) }
      }
    )
  }

  /// The cost that an index adds to a write that moves a post in it.
  private var indexUpkeep: Benchmark {
    Benchmark(
      "server/index-upkeep-per-write",
      against: .dictionary,
      aims: [.atMost(.time(.nanoseconds(1_500)))],
      prepare: {
        var plain = try BlogTree.hub(Self.count)
        var indexed = try BlogTree.hub(Self.count)
        indexed.run([BlogTree.get(1)])
        var round = 0
        return {
          round += 1
          let writes = BlogTree.starWrites(20_000, of: Self.count, round: round)
          let clock = ContinuousClock()
          let without = clock.measure { plain.run(writes) }
          let with = clock.measure { indexed.run(writes) }
          return .time(with - without, operations: writes.count)
        }
      }
    )
  }

  /// The memory of a small post in the tree and in one index.
  private var memory: Benchmark {
    Benchmark(
      "server/memory-per-post",
      against: .postJSON,
      aims: [.atMost(.memory(600))]
    ) {
      let before = ResidentMemory.bytes()
      var hub = try BlogTree.hub(Self.count)
      hub.run([BlogTree.get(1)])
      let after = ResidentMemory.bytes()
      keep(Int(hub.revision))
      return .memory(after - before, items: Self.count)
    }
  }
}

/// One write of a post that is checked against the blog's rules.
struct RulesWork {
  private let rules: RuleSet
  private let paths: [Path]
  private let before: Node
  private let after: Node
  private let subject: RuleSubject

  /// Creates a tree of posts and a write that stars one of them.
  init(_ environment: BenchmarkEnvironment, posts: Int) throws {
    rules = try environment.blogRules()
    let number = posts / 2
    let path = BlogWire.path(number)
    var tree = try BlogTree.root(posts)
    tree.update(at: path, to: try BlogWire.post(number, by: "u1", isStarred: false))
    before = tree
    tree.update(at: path, to: try BlogWire.post(number, by: "u1", isStarred: true))
    after = tree
    paths = [path]
    subject = RuleSubject(BlogTree.auth(of: "u1"))
    guard isAllowed() else { throw LoadError("the rules forbid what the benchmark writes") }
  }

  func isAllowed() -> Bool {
    rules.canWrite(paths, by: subject, now: BlogTree.time, from: before, to: after).isAllowed
  }
}

/// Opening a large database.
struct StoreBenchmarks {
  /// The number of posts, each of which has eight leaves.
  private static let posts = 125_000

  let environment: BenchmarkEnvironment

  var all: [Benchmark] {
    [
      Benchmark(
        "server/open-1M-leaves",
        against: .millionKeys,
        aims: [.atMost(.time(.milliseconds(500)))],
        prepare: {
          let folder = try TemporaryFolder(in: environment.folder)
          return try Self.filled {
            try SQLiteTreeStore(directory: folder.path, now: BlogTree.time)
          }
        }
      )
    ]
  }

  /// Fills a store; a pass then opens it and reads everything.
  static func filled(_ open: @escaping () throws -> any TreeStore) throws -> Benchmark.Pass {
    try fill(try open())
    return {
      let clock = ContinuousClock()
      let begin = clock.now
      let store = try open()
      let tree = try store.load()
      let time = clock.now - begin
      keep(Int(tree.revision))
      try store.close()
      return .time(time)
    }
  }

  /// Writes the posts, a thousand at a time, and closes the store, which folds everything.
  private static func fill(_ store: any TreeStore) throws {
    let width = 1_000
    for (number, first) in stride(from: 0, to: Self.posts, by: width).enumerated() {
      let changes = try (first..<first + width).map { post in
        Change(Path([BlogTree.posts, SamplePosts.key(post)]), to: try SamplePosts.node(post))
      }
      let commit = Commit(revision: Int64(number + 1), timestamp: BlogTree.time, changes: changes)
      try store.commit(CommitBatch(commits: [commit]))
    }
    try store.close()
  }
}
