/// What a connection costs that says nothing.
struct ConnectionBenchmarks {
  private static let count = 5_000

  let place: Place

  var all: [Benchmark] {
    [
      Benchmark(
        "server/memory-per-connection",
        against: redis,
        aims: [.atMost(.memory(8 * 1_024))]
      ) {
        let generator = LoadGenerator()
        let server = try HearthServer(in: place, generator)
        let before = server.memory
        let connections = try generator.connect(
          to: try server.target(.tcp),
          (0..<Self.count).map { user in
            HearthServer.opening(as: user) + [Exchange(BlogWire.listen(to: user), answers: 2)]
          }
        )
        let after = server.memory
        try generator.close(connections)
        return .memory(after - before, items: Self.count)
      }
    ]
  }

  private var redis: Yardstick {
    Yardstick("Redis with SUBSCRIBE") {
      let server = try RedisServer(in: place)
      let generator = LoadGenerator()
      let before = server.memory
      let connections = try generator.connect(
        to: try server.target(.tcp),
        (0..<Self.count).map { [Exchange(RedisWire.subscribe(to: $0))] }
      )
      let after = server.memory
      try generator.close(connections)
      return .memory(after - before, items: Self.count)
    }
  }
}
