import Glibc
import HearthLab
import PostgresStorage
import RealtimeServer

/// Several servers on one PostgreSQL, and databases that they lead in turn.
final class BenchmarkCluster {
  private static let patience = Duration.seconds(30)

  private let postgres: PostgresServer
  let servers: [OpenServer]

  /// Starts servers, and returns when each leads its databases, which are assigned in turn.
  init(
    _ count: Int,
    leading databases: [String],
    redirects: Bool = false,
    followClients: Int = 0,
    at shared: SharedPostgres,
    in environment: BenchmarkEnvironment
  ) throws {
    postgres = try shared.server()
    let store = try postgres.makeDatabase()
    let stores = PostgresTreeStores(at: PostgresAddress(store))
    for name in databases { _ = try stores.create(name) }
    servers = try (0..<count).map { _ in
      try OpenServer(
        in: environment,
        store: store,
        redirects: redirects,
        followClients: followClients
      )
    }
    for (number, name) in databases.enumerated() {
      // A server opens a database when a request arrives and no other server leads it; then the
      // database is moved.
      for server in servers {
        _ = try WaitingConnection(port: server.port).request("GET", at: "/.json?ns=\(name)")
      }
      try lead(name, by: servers[number % count], in: stores)
    }
  }

  private func lead(_ name: String, by server: OpenServer, in stores: PostgresTreeStores) throws {
    let deadline = ContinuousClock.now + Self.patience
    var isAsked = false
    while ContinuousClock.now < deadline {
      let view = try stores.view()
      let wanted = view.servers.first { $0.host.hasSuffix(":\(server.port)") }?.id
      let lease = view.leases.first { $0.database == name }
      if let wanted, let lease {
        // A successor holds the lease before it has read the database.
        if lease.holder == wanted, try server.open(name) { return }
        if !isAsked { try stores.move(name, to: wanted) }
        isAsked = true
      }
      usleep(50_000)
    }
    throw LoadError("port \(server.port) does not come to lead the database \(name)")
  }
}
