import HearthLab
import PostgresStorage
import RealtimeServer

/// The cost of storing in PostgreSQL instead of SQLite, on the same disk.
struct PostgresBenchmarks {
  let environment: BenchmarkEnvironment

  var all: [Benchmark] { [1, 10, 100].map(put) + [fanOut(to: 100), opening] }

  // MARK: Puts

  /// Durable writes of 300 bytes.
  private func put(_ connections: Int) -> Benchmark {
    let postgres = SharedPostgres(in: environment)
    return Benchmark(
      "postgres/put/\(connections)",
      against: Yardstick("SQLite", prepare: { try puts(connections, to: nil) }),
      .pgbench(clients: connections, at: postgres, in: environment),
      prepare: { try puts(connections, to: try postgres.server()) }
    )
  }

  private func puts(_ count: Int, to postgres: PostgresServer?) throws -> Benchmark.Pass {
    let server = try OpenServer(in: environment, store: try postgres?.makeDatabase())
    let users = 0..<count
    let connections = try server.target().connect(users.map { _ in [Exchange(BlogWire.upgrade)] })
    let lanes = RequestLanes(connections, sending: try users.map(PutBenchmarks.puts(of:)))
    return lanes.closedLoop(keeping: [server, postgres])
  }

  // MARK: Fan-out

  /// One client writes a post and many listen to it.
  private func fanOut(to listeners: Int) -> Benchmark {
    let postgres = SharedPostgres(in: environment)
    return Benchmark(
      "postgres/fan-out/\(listeners)",
      against: Yardstick("SQLite", prepare: { try fanOut(to: listeners, by: nil) }),
      prepare: { try fanOut(to: listeners, by: try postgres.server()) }
    )
  }

  private func fanOut(to count: Int, by postgres: PostgresServer?) throws -> Benchmark.Pass {
    let server = try OpenServer(in: environment, store: try postgres?.makeDatabase())
    let puts = try BlogWire.starring()
    let target = try server.target()
    let author = try target.connect([[Exchange(BlogWire.upgrade), Exchange(puts[1])]])
    let listeners = try target.connect(
      // The data comes first, then the response.
      (0..<count).map { _ in
        [Exchange(BlogWire.upgrade), Exchange(BlogWire.listen(to: 0), answers: 2)]
      }
    )
    let publisher = RequestLanes(author, sending: [puts])
    return publisher.fanOut(to: listeners, keeping: [server, postgres])
  }

  // MARK: Opening

  /// Reading a database as its next leader does.
  private var opening: Benchmark {
    let postgres = SharedPostgres(in: environment)
    return Benchmark(
      "postgres/open-1M-leaves",
      against: Yardstick(
        "SQLite",
        prepare: {
          let folder = try TemporaryFolder(in: environment.folder)
          return try StoreBenchmarks.filled {
            try SQLiteTreeStore(directory: folder.path, now: BlogTree.time)
          }
        }
      ),
      aims: [.atMost(.time(.seconds(3)))],
      prepare: {
        let server = try postgres.server()
        let stores = PostgresTreeStores(at: PostgresAddress(try server.makeDatabase()))
        _ = try stores.create("hearth")
        return try StoreBenchmarks.filled {
          defer { withExtendedLifetime(server) {} }
          guard let store = try stores.open("hearth") else {
            throw LoadError("the database is gone")
          }
          return store
        }
      }
    )
  }
}
