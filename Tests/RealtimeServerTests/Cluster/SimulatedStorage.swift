import RealtimeHub
import RealtimeServer

/// A deliberate mistake that the invariants have to detect.
enum ClusterMistake: CaseIterable {
  /// The storage accepts every commit.
  case fencingLeftOut
  /// A lease counts from the response, not from before the request.
  case renewedLate
  /// A new lease has the same epoch as the previous one.
  case epochReused
  /// A server does not check the clock before it answers.
  case clockNotAsked
  /// Clients are redirected to the first leader, even if another one leads by now.
  case redirectRemembered

  /// The promises that the mistake breaks.
  var broken: Set<ClusterPromise> {
    switch self {
    case .fencingLeftOut, .epochReused: [.fenced]
    case .renewedLate, .clockNotAsked: [.current]
    case .redirectRemembered: [.found]
    }
  }
}

/// The storage of a simulated cluster: the leases and commits, by its own clock.
struct SimulatedStorage {
  struct Grant {
    var epoch: Int64 = 0
    var holder: ServerID?
    var end = Duration.zero
    var wanted: ServerID?
    /// The number of leases so far, which no mistake affects, unlike the epoch.
    var count = 0
  }

  let mistake: ClusterMistake?
  private(set) var grants: [String: Grant] = [:]
  private var servers: [ServerID: (server: ClusterServer, end: Duration)] = [:]
  /// The revision of the last commit of each database.
  private(set) var revisions: [String: Int64] = [:]

  init(mistake: ClusterMistake?) {
    self.mistake = mistake
  }

  mutating func announce(
    _ server: ClusterServer,
    for duration: Duration,
    at now: Duration
  )
    -> ClusterView
  {
    servers[server.id] = (server, now + duration)
    for (name, grant) in grants where grant.holder == server.id && grant.end > now {
      grants[name]?.end = max(grant.end, now + duration)
    }
    return ClusterView(
      servers: servers.values.filter { $0.end > now }.map(\.server).sorted { $0.id < $1.id },
      leases: grants.keys.sorted().compactMap { name in
        guard let grant = grants[name], grant.end > now else { return nil }
        return lease(name, grant, at: now)
      },
      time: now
    )
  }

  private func lease(_ name: String, _ grant: Grant, at now: Duration) -> Lease? {
    grant.holder.map {
      Lease(
        database: name,
        epoch: grant.epoch,
        holder: $0,
        remaining: grant.end - now,
        wanted: grant.wanted
      )
    }
  }

  mutating func acquire(
    _ name: String,
    by server: ServerID,
    for duration: Duration,
    at now: Duration
  ) -> Lease {
    var grant = grants[name] ?? Grant()
    if grant.holder == nil || grant.holder == server || grant.end <= now {
      grant = Grant(
        epoch: mistake == .epochReused ? max(grant.epoch, 1) : grant.epoch + 1,
        holder: server,
        end: now + duration,
        count: grant.count + 1
      )
      grants[name] = grant
    }
    return Lease(
      database: name,
      epoch: grant.epoch,
      holder: grant.holder ?? server,
      remaining: grant.end - now,
      wanted: grant.wanted
    )
  }

  mutating func release(_ lease: Lease, to successor: ServerID?, at now: Duration) {
    guard let grant = grants[lease.database], grant.holder == lease.holder,
      grant.epoch == lease.epoch, grant.end > now
    else { return }
    grants[lease.database] = Grant(
      epoch: mistake == .epochReused ? grant.epoch : grant.epoch + 1,
      holder: successor,
      end: successor == nil ? now : grant.end,
      count: grant.count + 1
    )
  }

  mutating func move(_ name: String, to server: ServerID, at now: Duration) {
    guard let grant = grants[name], grant.end > now else { return }
    grants[name]?.wanted = server
  }

  /// Whether a lease is the last one, according to the storage's fence.
  func isCurrent(_ lease: Lease) -> Bool {
    mistake == .fencingLeftOut || grants[lease.database]?.epoch == lease.epoch
  }

  /// Stores a commit; false when it is refused.
  mutating func commit(_ revision: Int64, under lease: Lease) -> Bool {
    guard isCurrent(lease) else { return false }
    revisions[lease.database] = revision
    return true
  }

  mutating func withdraw(_ server: ServerID) { servers[server] = nil }
}
