/// Whether the servers that clients are sent on to can be reached at all.
///
/// A leader that its clients cannot reach any more, but that reaches the storage, goes on leading for nobody.
/// Clients that have lost it come to another server, which would send them back to it for ever. That server
/// looks for itself, and in the end asks for the database, which the leader then hands over in order.
///
/// A value without clock and sockets. A server is watched while clients are sent to it. It must have been
/// reached once before, or two servers that never reach each other would take a database from each other
/// for ever; for the same reason nobody asks for the same database twice in a short time.
package struct LeaderWatch: Sendable {
  /// What happens.
  package enum Input: Sendable {
    /// A client of a database is sent on to a server.
    case sent(String, to: ClusterServer)
    /// A look at a server has ended, which leads some databases and renews its leases, as the storage says.
    case looked(ServerID, isReached: Bool, leads: Set<String>)
    /// Time has gone by.
    case time
  }

  /// What is to be done.
  package enum Output: Sendable, Equatable {
    /// Look whether a server can be reached where clients are sent; the result is an input.
    case look(ClusterServer)
    /// Ask whoever leads a database to hand it over to this server.
    case ask(String)
  }

  private struct Watched {
    let server: ClusterServer
    /// When a client of each database was sent there last.
    var sent: [String: Duration] = [:]
    var wasReached = false
    var isLooking = false
    var lastLook: Duration?
    var failingSince: Duration?
    var failures = 0

    /// When a client was sent there last.
    var newest: Duration { sent.values.max() ?? .zero }
  }

  /// How often is looked.
  private static let interval = Duration.seconds(1)
  /// How long a server must have been out of reach, longer than a lease.
  private static let patience = Duration.seconds(5)
  /// How often it must have been out of reach.
  private static let leastFailures = 3
  /// How long a server is watched after a client was sent there.
  private static let attention = Duration.seconds(10)
  /// How long it takes until this server asks for the same database again.
  private static let pause = Duration.seconds(60)
  /// How long is remembered that a server was reached.
  private static let memory = Duration.seconds(86_400)

  private var servers: [ServerID: Watched] = [:]
  private var asked: [String: Duration] = [:]

  /// Makes a watch that has not seen anybody.
  package init() {}

  /// Takes an input.
  ///
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When, by the server's clock, which never goes back.
  /// - Returns: What is to be done.
  /// - Complexity: O(servers · databases)
  package mutating func handle(_ input: Input, at now: Duration) -> [Output] {
    var outputs: [Output] = []
    switch input {
    case .sent(let database, let server):
      var watched = servers[server.id] ?? Watched(server: server)
      if now - watched.newest > Self.attention {
        // What was seen before says nothing about the time between.
        watched.failingSince = nil
        watched.failures = 0
      }
      watched.sent[database] = now
      servers[server.id] = watched
    case .looked(let id, let isReached, let databases):
      outputs += looked(id, isReached: isReached, leads: databases, at: now)
    case .time: servers = servers.filter { now - $0.value.newest < Self.memory }
    }
    for id in servers.keys.sorted() { outputs += look(at: id, at: now) }
    return outputs
  }

  /// When the next look is due.
  package var deadline: Duration? {
    servers.values.compactMap { watched in
      guard !watched.isLooking, let last = watched.lastLook else { return nil }
      let next = last + Self.interval
      return next - watched.newest <= Self.attention ? next : nil
    }
    .min()
  }

  private mutating func look(at id: ServerID, at now: Duration) -> [Output] {
    guard let watched = servers[id], !watched.isLooking, now - watched.newest <= Self.attention,
      watched.lastLook.map({ now - $0 >= Self.interval }) ?? true
    else { return [] }
    servers[id]?.isLooking = true
    servers[id]?.lastLook = now
    return [.look(watched.server)]
  }

  private mutating func looked(
    _ id: ServerID,
    isReached: Bool,
    leads databases: Set<String>,
    at now: Duration
  ) -> [Output] {
    guard var watched = servers[id] else { return [] }
    defer { servers[id] = watched }
    watched.isLooking = false
    guard !isReached else {
      watched.wasReached = true
      watched.failingSince = nil
      watched.failures = 0
      return []
    }
    watched.failures += 1
    let start = watched.failingSince ?? watched.lastLook ?? now
    watched.failingSince = start
    guard watched.wasReached, watched.failures >= Self.leastFailures, now - start >= Self.patience
    else { return [] }
    // A server that has died is out of reach as well, and somebody else leads in a moment.
    return databases.sorted().compactMap { database in
      guard let sent = watched.sent[database], sent >= start, now - sent <= Self.attention,
        asked[database].map({ now - $0 >= Self.pause }) ?? true
      else { return nil }
      asked[database] = now
      return .ask(database)
    }
  }
}
