import RealtimeCore

@testable import RealtimeServer

/// A deliberate mistake that the invariants have to detect.
enum ClusterMistake: CaseIterable {
  /// The storage accepts every commit.
  case fencingLeftOut
  /// A lease counts from the response, not from before the request.
  case renewedLate
  /// A new lease has the same identity as the previous one.
  case identityReused
  /// A lease is known by its number, which is granted again after the storage has gone back.
  case identityCounted
  /// A lease ends by the storage's clock, which differs after a failover and may be set.
  case storageClockBelieved
  /// A server that watches a lease goes on counting after the storage has changed its history.
  case historyIgnored
  /// A server does not check the clock before it answers.
  case clockNotAsked
  /// Clients are redirected to the first leader, even if another one leads by now.
  case redirectRemembered
  /// A server that cannot use the storage keeps the lease.
  case silenceEndured
  /// A batch names its lease, but not the batch that it follows.
  case predecessorAssumed
  /// A batch is acknowledged with its predecessor, before it is durable itself.
  case acknowledgedAhead
  /// A leader confirms marks without asking its clock whether its lease is still valid.
  case leaseNotAsked
  /// A leader acknowledges a batch before it tells its followers.
  case toldLate
  /// A follower leaves out what it is told while it reads the storage.
  case readingUnheard
  /// What an earlier copy held is used in another history of the storage.
  case lineageIgnored
  /// A copy belongs to the history that it was read from, whatever history its leader has read.
  case lineageAssumed
  /// A follower answers with all that it has read, even if the leader has not told it yet.
  case readAhead
  /// A follower answers reads without asking the leader.
  case markLeftOut
  /// A follower skips a commit.
  case commitSkipped
  /// A follower goes on when a stream works again that was broken.
  case streamResumed

  /// The promises that the mistake breaks.
  var broken: Set<ClusterPromise> {
    switch self {
    case .fencingLeftOut, .identityReused, .identityCounted, .predecessorAssumed:
      [.fenced, .current]
    case .clockNotAsked: [.current]
    case .renewedLate: [.current, .confirmed]
    // What is missing in the same history has been removed by a command.
    case .historyIgnored: [.current, .confirmed, .reported]
    case .storageClockBelieved: [.current, .confirmed, .served]
    case .redirectRemembered: [.found]
    case .silenceEndured: [.served]
    case .acknowledgedAhead: [.durable]
    case .leaseNotAsked, .markLeftOut: [.confirmed]
    case .readAhead: [.monotonic]
    case .toldLate, .readingUnheard: [.fresh, .monotonic]
    case .streamResumed: [.fresh, .monotonic, .served]
    case .lineageIgnored, .lineageAssumed: [.ordered, .fresh, .monotonic]
    case .commitSkipped: [.ordered]
    }
  }
}

/// A state of a database: how many commits led there, and a hash of these.
struct SimulatedVersion: Hashable {
  private(set) var revision: Int64 = 0
  private var hash: Int64 = 0

  /// The empty database.
  init() {}

  /// What a server has read.
  init(_ stored: StoredTree) {
    revision = stored.revision
    if case .leaf(.integer(let hash), _) = stored.root { self.hash = hash }
  }

  /// The state after another commit.
  func next(_ commit: Int64) -> SimulatedVersion {
    var next = self
    next.revision += 1
    next.hash = (hash ^ commit) &* 0x100_0000_01B3
    return next
  }

  /// The state as a storage of a certain history would have it.
  func stored(in lineage: String?) -> StoredTree {
    StoredTree(root: .integer(hash), revision: revision, lineage: lineage)
  }
}

/// The storage of a simulated cluster: the leases and commits.
///
/// It can go back to an earlier state, as when a standby without the last writes is promoted.
struct SimulatedStorage {
  struct Grant {
    var epoch: Int64 = 0
    var id = ""
    var holder: ServerID?
    var renewal: Int64 = 0
    var duration = Duration.zero
    /// The end by the storage's clock, which only a mistake relies on.
    var end = Duration.zero
    var wanted: ServerID?
    /// The number of leases so far, which no mistake and no loss affects, unlike the epoch.
    var count = 0
  }

  /// The commits of a database.
  struct Log {
    fileprivate var commits: [Int64] = []
    fileprivate var versions: [SimulatedVersion] = []
    /// How many of the first commits are no longer there one by one.
    fileprivate var folded: Int64 = 0

    fileprivate var last: SimulatedVersion { versions.last ?? SimulatedVersion() }

    fileprivate func has(_ version: SimulatedVersion) -> Bool {
      version.revision == 0
        || version.revision <= versions.count
          && versions[Int(version.revision) - 1] == version
    }
  }

  /// What is stored, and what is lost when the storage goes back.
  struct State {
    fileprivate(set) var grants: [String: Grant] = [:]
    fileprivate var servers: [ServerID: (server: ClusterServer, renewal: Int64)] = [:]
    /// The last commit of each database.
    fileprivate(set) var heads: [String: BatchPosition] = [:]
    fileprivate var logs: [String: Log] = [:]
    /// The last timeline that a server has seen for the duration of a lease.
    fileprivate var settled: Int64 = 1
  }

  let mistake: ClusterMistake?
  private(set) var state = State()
  /// Earlier states, to which it may go back.
  private var earlier: [(time: Duration, state: State)] = []
  private var timeline: Int64 = 1
  private var count = 0
  /// Everything that was ever stored, also before the storage went back.
  private var stored: Set<String> = []
  /// Every state that was ever stored, with the one before.
  private var predecessors: [SimulatedVersion: SimulatedVersion] = [:]
  /// How far the storage's clock is ahead.
  private var offset = Duration.zero

  init(mistake: ClusterMistake?) {
    self.mistake = mistake
  }

  var grants: [String: Grant] { state.grants }

  func revision(of name: String) -> Int64 { state.heads[name]?.revision ?? 0 }

  // MARK: Faults

  /// Remembers the present state.
  mutating func remember(at now: Duration) {
    earlier.removeAll { now - $0.time > .seconds(3) }
    earlier.append((now, state))
  }

  /// Continues from an earlier state, with another clock.
  mutating func goBack(by time: Duration, at now: Duration, clockMovesBy jump: Duration) {
    if let old = earlier.last(where: { $0.time <= now - time }) { state = old.state }
    earlier = []
    timeline += 1
    offset += jump
  }

  mutating func setClock(by jump: Duration) { offset += jump }

  // MARK: Servers and leases

  mutating func announce(
    _ server: ClusterServer,
    for duration: Duration,
    at now: Duration
  )
    -> ClusterView
  {
    state.servers[server.id] = (server, (state.servers[server.id]?.renewal ?? 0) + 1)
    for (name, grant) in grants where grant.holder == server.id {
      state.grants[name]?.renewal += 1
      state.grants[name]?.end = now + offset + duration
    }
    var view = ClusterView(
      servers: state.servers.values.map(\.server).sorted { $0.id < $1.id },
      leases: grants.keys.sorted().compactMap { name in
        guard let grant = grants[name], !hasEnded(grant, at: now) else { return nil }
        return lease(name, grant)
      },
      time: now + offset
    )
    view.announcements = state.servers.mapValues(\.renewal)
    view.positions = state.heads
    view.history = history
    view.isSettled = isSettled
    return view
  }

  private var history: StorageHistory {
    StorageHistory(timeline: mistake == .historyIgnored ? 1 : timeline, start: "")
  }

  private var isSettled: Bool { history.timeline == state.settled }

  private func hasEnded(_ grant: Grant, at now: Duration) -> Bool {
    mistake == .storageClockBelieved && grant.end <= now + offset
  }

  private func lease(_ name: String, _ grant: Grant) -> Lease? {
    grant.holder.map {
      Lease(
        database: name,
        id: grant.id,
        epoch: grant.epoch,
        holder: $0,
        renewal: grant.renewal,
        duration: grant.duration,
        wanted: grant.wanted
      )
    }
  }

  private mutating func grant(
    after old: Grant,
    to holder: ServerID?,
    for duration: Duration,
    end: Duration
  ) -> Grant {
    count += 1
    let id =
      switch mistake {
      case .identityReused: "1"
      case .identityCounted: "\(old.epoch + 1)"
      case _: "lease \(count)"
      }
    return Grant(
      epoch: old.epoch + 1,
      id: id,
      holder: holder,
      duration: duration,
      end: end,
      count: count
    )
  }

  mutating func acquire(
    _ name: String,
    by server: ServerID,
    for duration: Duration,
    insteadOf ended: LeaseMark?,
    knowing known: StorageHistory?,
    at now: Duration
  ) -> Lease? {
    if known == history { state.settled = history.timeline }
    guard isSettled else { return nil }
    let held = grants[name] ?? Grant()
    let isSeen = lease(name, held).map { LeaseMark($0, in: history) == ended } ?? true
    if held.holder == nil || held.holder == server || isSeen || hasEnded(held, at: now) {
      state.grants[name] = grant(
        after: held,
        to: server,
        for: duration,
        end: now + offset + duration
      )
    }
    return grants[name].flatMap { lease(name, $0) }
  }

  mutating func release(_ lease: Lease, to successor: ServerID?, at now: Duration) {
    guard let held = grants[lease.database], held.holder == lease.holder, held.id == lease.id else {
      return
    }
    state.grants[lease.database] = grant(
      after: held,
      to: successor,
      for: held.duration,
      end: held.end
    )
  }

  mutating func move(_ name: String, to server: ServerID) {
    state.grants[name]?.wanted = server
  }

  // MARK: Commits

  /// Whether a lease is the last one, according to the storage's fence.
  func isCurrent(_ lease: Lease) -> Bool {
    mistake == .fencingLeftOut || grants[lease.database]?.id == lease.id
  }

  /// Whether a commit was stored at some time.
  func hasStored(_ position: BatchPosition) -> Bool { stored.contains(position.id) }

  /// Stores a commit that follows another.
  ///
  /// - Returns: Whether it is stored, rather than refused.
  mutating func commit(
    _ next: BatchPosition,
    after head: BatchPosition?,
    under lease: Lease
  ) -> Bool {
    let follows =
      switch mistake {
      case .fencingLeftOut, .identityReused, .identityCounted, .predecessorAssumed: true
      case _: state.heads[lease.database]?.id == head?.id
      }
    guard isCurrent(lease), follows else { return false }
    state.heads[lease.database] = next
    stored.insert(next.id)
    let version = log(lease.database).last
    let after = version.next(next.number)
    predecessors[after] = version
    state.logs[lease.database, default: Log()].commits.append(next.number)
    state.logs[lease.database]?.versions.append(after)
    if next.number % 32 == 0 { state.logs[lease.database]?.folded = version.revision }
    return true
  }

  private func log(_ name: String) -> Log { state.logs[name] ?? Log() }

  // MARK: Reading

  /// Names the present history of a database.
  private func lineage(of name: String) -> String { "\(name) \(timeline)" }

  /// Whether a server that knows an earlier state reads only the commits since.
  func logReaches(back known: StoredTree, of name: String) -> Bool {
    let log = log(name)
    return (known.lineage == lineage(of: name) || mistake == .lineageIgnored)
      && (log.folded...Int64(log.commits.count)).contains(known.revision)
  }

  /// Reads a database, if possible without what is known.
  func load(_ name: String, since known: StoredTree?) -> StoredTree {
    let log = log(name)
    guard let known, logReaches(back: known, of: name) else {
      return log.last.stored(in: lineage(of: name))
    }
    return log.commits[Int(known.revision)...]
      .reduce(SimulatedVersion(known)) { $0.next($1) }
      .stored(in: lineage(of: name))
  }

  /// Whether a state was stored at some time: each commit once, in order.
  func hasStored(_ version: SimulatedVersion) -> Bool {
    version.revision == 0 || predecessors[version] != nil
  }

  /// Whether what a server holds is a state of the history that it is said to belong to, as far as
  /// that is the present one.
  func isRightlyNamed(_ held: StoredTree, of name: String) -> Bool {
    held.lineage != lineage(of: name) || log(name).has(SimulatedVersion(held))
  }

  /// The last state up to a given one that no failover has undone.
  func survivor(of version: SimulatedVersion, in name: String) -> SimulatedVersion {
    var version = version
    let log = log(name)
    while !log.has(version), let before = predecessors[version] { version = before }
    return version
  }

  /// Whether a state has all commits of another one.
  func includes(_ earlier: SimulatedVersion, in version: SimulatedVersion) -> Bool {
    var version = version
    while version.revision > earlier.revision, let before = predecessors[version] {
      version = before
    }
    return version == earlier
  }

  mutating func withdraw(_ server: ServerID) { state.servers[server] = nil }
}

extension BatchPosition {
  /// The number of a simulated batch.
  var number: Int64 { Int64(id.drop { !$0.isNumber }) ?? 0 }
}
