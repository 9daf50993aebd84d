import NIOCore

/// One writes a post, many listen to it, beside Redis `PUBLISH`, which stores nothing.
struct FanOutBenchmarks {
  private static let duration = TimeAmount.seconds(1)

  let place: Place

  var all: [Benchmark] {
    HearthServer.Transport.allCases.flatMap { transport in
      [100, 1_000].flatMap { listeners in
        [1, 8].map { benchmark(listeners, depth: $0, transport) }
      }
    }
  }

  private func benchmark(
    _ listeners: Int,
    depth: Int,
    _ transport: HearthServer.Transport
  ) -> Benchmark {
    Benchmark(
      "server/fan-out/\(transport.rawValue)/\(listeners)x\(depth)",
      against: redis(listeners, depth: depth, transport),
      aims: [.ratio(0.75)],
      prepare: {
        let generator = LoadGenerator()
        let server = try HearthServer(in: place, generator)
        let target = try server.target(transport)
        let author = try generator.connect(to: target, [HearthServer.opening(as: 0)])
        let puts = try [true, false].map {
          try BlogWire.put(0, by: HearthServer.name(0), isStarred: $0)
        }
        let publisher = RequestLanes(author, [puts])
        let all = try generator.connect(
          to: target,
          (1...listeners).map { user in
            // The data come first, then the answer.
            HearthServer.opening(as: user) + [Exchange(BlogWire.listen(to: 0), answers: 2)]
          }
        )
        return {
          defer { withExtendedLifetime(server) {} }
          return try generator.fanOut(publisher, to: all, depth: depth, for: Self.duration)
        }
      }
    )
  }

  private func redis(
    _ listeners: Int,
    depth: Int,
    _ transport: HearthServer.Transport
  ) -> Yardstick {
    Yardstick(
      "Redis PUBLISH",
      prepare: {
        let server = try RedisServer(in: place)
        let target = try server.target(transport)
        let generator = LoadGenerator()
        let publisher = RequestLanes(
          try generator.connect(to: target, [[]]),
          [[RedisWire.publish(0)]]
        )
        let all = try generator.connect(
          to: target,
          (1...listeners).map { _ in [Exchange(RedisWire.subscribe(to: 0))] }
        )
        return {
          defer { withExtendedLifetime(server) {} }
          return try generator.fanOut(publisher, to: all, depth: depth, for: Self.duration)
        }
      }
    )
  }
}
