/// Watches whether the servers that clients are redirected to can be reached.
///
/// A leader that its clients can no longer reach, but that still reaches the storage, would keep
/// leading without any clients. Clients that lost it come to another server, which would redirect
/// them back forever. Instead, that server checks for itself, and eventually asks for the database,
/// which the leader then hands over in an orderly way.
///
/// A value without a clock or sockets. A server is watched while clients are redirected to it. It
/// must have been reached at least once, or two servers that can never reach each other would keep
/// taking a database from each other. For the same reason, no server asks for the same database
/// twice within a short time.
package struct LeaderWatch: Sendable {
  package enum Input: Sendable {
    /// A client of a database was redirected to a server.
    case sent(String, to: ClusterServer)
    /// A check of a server has ended; `leads` names the databases that it leads under renewed
    /// leases.
    case looked(ServerID, isReached: Bool, leads: Set<String>)
    case time
  }

  /// An action to perform.
  package enum Output: Sendable, Equatable {
    /// Check whether a server can be reached at the host that clients are redirected to.
    ///
    /// The result becomes an input.
    case look(ClusterServer)
    /// Ask the leader of a database to hand it over to this server.
    case ask(String)
    /// A server that was asked to hand over is reached again.
    case reachedAgain(ClusterServer)
  }

  private struct Watched {
    let server: ClusterServer
    /// When a client of each database was last redirected to the server.
    var sent: [String: Duration] = [:]
    var wasReached = false
    var isLooking = false
    var lastLook: Duration?
    var failingSince: Duration?
    var failures = 0
    /// Whether it was asked to hand over and has not been reached since.
    var wasAsked = false

    /// When any client was last redirected to the server.
    var newest: Duration { sent.values.max() ?? .zero }
  }

  /// The time between two checks.
  private static let interval = Duration.seconds(1)
  /// How long a server must have been unreachable; this is longer than a lease.
  private static let patience = Duration.seconds(5)
  /// How many checks in a row must have failed.
  private static let leastFailures = 3
  /// How long a server is watched after a client was redirected to it.
  private static let attention = Duration.seconds(10)
  /// How long this server waits before it asks for the same database again.
  private static let pause = Duration.seconds(60)
  /// How long a server that was reached is remembered.
  private static let memory = Duration.seconds(86_400)

  private var servers: [ServerID: Watched] = [:]
  private var asked: [String: Duration] = [:]

  package init() {}

  /// Takes an input at a time by the server's clock, which never goes back.
  ///
  /// - Complexity: O(servers · databases)
  package mutating func handle(_ input: Input, at now: Duration) -> [Output] {
    var outputs: [Output] = []
    switch input {
    case .sent(let database, let server):
      var watched = servers[server.id] ?? Watched(server: server)
      if now - watched.newest > Self.attention {
        // Earlier checks say nothing about the time in between.
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

  /// When the next check is due.
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
      defer { watched.wasAsked = false }
      return watched.wasAsked ? [.reachedAgain(watched.server)] : []
    }
    watched.failures += 1
    let start = watched.failingSince ?? watched.lastLook ?? now
    watched.failingSince = start
    guard watched.wasReached, watched.failures >= Self.leastFailures, now - start >= Self.patience
    else { return [] }
    // A server that has died is unreachable as well, but another will lead in a moment.
    return databases.sorted().compactMap { database in
      guard let sent = watched.sent[database], sent >= start, now - sent <= Self.attention,
        asked[database].map({ now - $0 >= Self.pause }) ?? true
      else { return nil }
      asked[database] = now
      watched.wasAsked = true
      return .ask(database)
    }
  }
}
