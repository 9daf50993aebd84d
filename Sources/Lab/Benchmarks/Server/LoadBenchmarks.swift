import NIOCore

/// Durable writes that the blog's rules check and that move in an index, compared with Redis.
struct PutBenchmarks {
  /// The number of connections, and of concurrent writes on each.
  private struct Load {
    let connections: Int
    let depth: Int
    var aims: [Aim] = []

    var name: String { depth == 1 ? "\(connections)" : "\(connections)x\(depth)" }
  }

  private static let loads = [
    Load(connections: 1, depth: 1),
    Load(connections: 10, depth: 1, aims: [.ratio(1)]),
    Load(connections: 100, depth: 1, aims: [.ratio(1), .p99(.milliseconds(4))]),
    Load(connections: 50, depth: 16),
  ]

  let environment: BenchmarkEnvironment

  var all: [Benchmark] {
    LoadTransport.allCases.flatMap { transport in
      Self.loads.map { benchmark($0, over: transport) }
    }
  }

  private func benchmark(_ load: Load, over transport: LoadTransport) -> Benchmark {
    Benchmark(
      "server/put/\(transport.rawValue)/\(load.name)",
      against: [redis(load, over: transport), .disk(in: environment)]
        + (transport == .tcp && load.depth == 1 ? [etcd(load)] : []),
      aims: load.aims,
      prepare: {
        let server = try HearthServer(in: environment)
        let users = 0..<load.connections
        let connections = try server.target(transport)
          .connect(users.map(HearthServer.opening(as:)))
        let lanes = RequestLanes(connections, sending: try users.map(Self.puts(of:)))
        return lanes.closedLoop(depth: load.depth, keeping: [server])
      }
    )
  }

  /// The writes by which a user stars all of its posts and then removes the stars again.
  static func puts(of user: Int) throws -> [ByteBuffer] {
    let first = HearthServer.firstPost(of: user)
    let posts = first..<first + HearthServer.postsPerUser
    return try [true, false].flatMap { isStarred in
      try posts.map { try BlogWire.put($0, by: HearthServer.name(user), isStarred: isStarred) }
    }
  }

  private func etcd(_ load: Load) -> Yardstick {
    Yardstick(
      "etcd put by its gateway",
      prepare: {
        let server = try EtcdServer(in: environment)
        let users = 0..<load.connections
        let lanes = RequestLanes(
          try server.target.connect(users.map { _ in [] }),
          sending: users.map { [EtcdWire.put(HearthServer.firstPost(of: $0))] }
        )
        return lanes.closedLoop(keeping: [server])
      }
    )
  }

  private func redis(_ load: Load, over transport: LoadTransport) -> Yardstick {
    Yardstick(
      "Redis SET",
      prepare: {
        let server = try RedisServer(in: environment)
        let users = 0..<load.connections
        let connections = try server.target(transport).connect(users.map { _ in [] })
        let lanes = RequestLanes(
          connections,
          sending: users.map { user in
            let first = HearthServer.firstPost(of: user)
            return (first..<first + HearthServer.postsPerUser).map(RedisWire.set)
          }
        )
        return lanes.closedLoop(depth: load.depth, keeping: [server])
      }
    )
  }
}

/// One client writes a post and many listen to it, compared with a transaction of Redis that stores
/// a value and publishes it, and whose messages leave once the disk has it.
struct FanOutBenchmarks {
  let environment: BenchmarkEnvironment

  var all: [Benchmark] {
    LoadTransport.allCases.flatMap { transport in
      [100, 1_000].flatMap { listeners in
        [1, 8].map { benchmark(listeners: listeners, depth: $0, over: transport) }
      }
    }
  }

  private func benchmark(
    listeners: Int,
    depth: Int,
    over transport: LoadTransport
  ) -> Benchmark {
    Benchmark(
      "server/fan-out/\(transport.rawValue)/\(listeners)x\(depth)",
      // A watcher of etcd may get several changes in one message, which nobody could count.
      against: [redis(listeners: listeners, depth: depth, over: transport)]
        + (transport == .tcp && depth == 1 ? [etcd(listeners: listeners)] : []),
      aims: [.ratio(0.75)],
      prepare: {
        let server = try HearthServer(in: environment)
        let target = try server.target(transport)
        let author = try target.connect([HearthServer.opening(as: 0)])
        let publisher = RequestLanes(author, sending: [try BlogWire.starring()])
        let all = try target.connect(
          (1...listeners).map { user in
            // The data comes first, then the response.
            HearthServer.opening(as: user) + [Exchange(BlogWire.listen(to: 0), answers: 2)]
          }
        )
        return publisher.fanOut(to: all, depth: depth, keeping: [server])
      }
    )
  }

  private func etcd(listeners: Int) -> Yardstick {
    Yardstick(
      "etcd watch by its gateway",
      prepare: {
        let server = try EtcdServer(in: environment)
        let publisher = RequestLanes(
          try server.target.connect([[]]),
          sending: [[EtcdWire.put(0)]]
        )
        let all = try server.target.connect(
          // The head of the response comes first, then the news that the watcher is there.
          (1...listeners).map { _ in [Exchange(EtcdWire.watch(0), answers: 2)] }
        )
        return publisher.fanOut(to: all, keeping: [server])
      }
    )
  }

  private func redis(
    listeners: Int,
    depth: Int,
    over transport: LoadTransport
  ) -> Yardstick {
    Yardstick(
      "Redis MULTI SET PUBLISH EXEC",
      prepare: {
        let server = try RedisServer(in: environment)
        let target = try server.target(transport)
        let publisher = RequestLanes(
          try target.connect([[]]),
          sending: [[RedisWire.setAndPublish(0)]]
        )
        let all = try target.connect(
          (1...listeners).map { _ in [Exchange(RedisWire.subscribe(to: 0))] }
        )
        return publisher.fanOut(to: all, depth: depth, keeping: [server])
      }
    )
  }
}

/// The cost of an idle connection.
struct ConnectionBenchmarks {
  private static let count = 5_000

  let environment: BenchmarkEnvironment

  var all: [Benchmark] {
    [
      Benchmark(
        "server/memory-per-connection",
        against: redis,
        aims: [.atMost(.memory(8 * 1_024))]
      ) {
        let server = try HearthServer(in: environment)
        let before = server.memory
        let connections = try server.target(.tcp).connect(
          (0..<Self.count).map { user in
            HearthServer.opening(as: user) + [Exchange(BlogWire.listen(to: user), answers: 2)]
          }
        )
        return withExtendedLifetime(connections) {
          .memory(server.memory - before, items: Self.count)
        }
      }
    ]
  }

  private var redis: Yardstick {
    Yardstick("Redis with SUBSCRIBE") {
      let server = try RedisServer(in: environment)
      let before = server.memory
      let connections = try server.target(.tcp).connect(
        (0..<Self.count).map { [Exchange(RedisWire.subscribe(to: $0))] }
      )
      return withExtendedLifetime(connections) {
        .memory(server.memory - before, items: Self.count)
      }
    }
  }
}
