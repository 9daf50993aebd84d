import NIOCore

/// Durable writes that are checked by the blog's rules and move in an index, beside Redis.
struct PutBenchmarks {
  /// How many connections, and how many writes of each are under way.
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

  private static let duration = TimeAmount.seconds(1)

  let place: Place

  var all: [Benchmark] {
    HearthServer.Transport.allCases.flatMap { transport in
      Self.loads.map { benchmark($0, transport) }
    }
  }

  private func benchmark(_ load: Load, _ transport: HearthServer.Transport) -> Benchmark {
    Benchmark(
      "server/put/\(transport.rawValue)/\(load.name)",
      against: redis(load, transport),
      .disk(in: place),
      aims: load.aims,
      prepare: {
        let generator = LoadGenerator()
        let server = try HearthServer(in: place, generator)
        let users = 0..<load.connections
        let connections = try generator.connect(
          to: try server.target(transport),
          users.map(HearthServer.opening(as:))
        )
        let lanes = RequestLanes(connections, try users.map(Self.puts(of:)))
        return {
          defer { withExtendedLifetime(server) {} }
          return try generator.run(lanes, depth: load.depth, for: Self.duration)
        }
      }
    )
  }

  /// A user stars all of its posts, then takes the stars away, and so on.
  private static func puts(of user: Int) throws -> [ByteBuffer] {
    let first = HearthServer.firstPost(of: user)
    let posts = first..<first + HearthServer.postsPerUser
    return try [true, false].flatMap { isStarred in
      try posts.map { try BlogWire.put($0, by: HearthServer.name(user), isStarred: isStarred) }
    }
  }

  private func redis(_ load: Load, _ transport: HearthServer.Transport) -> Yardstick {
    Yardstick(
      "Redis SET",
      prepare: {
        let server = try RedisServer(in: place)
        let generator = LoadGenerator()
        let users = 0..<load.connections
        let connections = try generator.connect(
          to: try server.target(transport),
          users.map { _ in [] }
        )
        let lanes = RequestLanes(
          connections,
          users.map { user in
            let first = HearthServer.firstPost(of: user)
            return (first..<first + HearthServer.postsPerUser).map(RedisWire.set)
          }
        )
        return {
          defer { withExtendedLifetime(server) {} }
          return try generator.run(lanes, depth: load.depth, for: Self.duration)
        }
      }
    )
  }
}
