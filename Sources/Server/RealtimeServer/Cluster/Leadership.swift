/// Decides which databases a server leads, and tracks which servers lead the others.
///
/// A value without a clock, threads or storage: it takes inputs with their times, and returns what
/// must be done. Each database that it deals with goes through these states:
///
///     undecided → acquiring → leading → handing over → releasing → parting
///         ↑___________|___________|____________|______________________|
///                            (through closing, when the lease is lost)
///
/// A server that cannot use the storage for a database, though it renews the lease, gives the lease
/// away (yielding). One that finds the data damaged keeps the lease, and leaves the data alone for a
/// while (resting).
///
/// Times come from the server's own clock, which may start anywhere; no other clock is believed. A
/// lease counts from before the server asked for it, and the server stops leading a margin before
/// it ends. Another server takes the lease over once it has seen the same renewal of it, in the same
/// history of the storage, for a whole duration by its own clock. What it saw first happened after
/// the holder had asked for it, so the holder has stopped by then. The clocks of two servers need
/// not agree, as long as they run at about the same rate.
package struct Leadership: Sendable {
  package enum Input: Sendable {
    /// A request asks for a database that exists.
    case asked(String, request: Int)
    /// The storage answered an announcement, or could not be reached.
    case announced(Result<ClusterView, StoreError>)
    /// The storage answered a request for a lease.
    case acquired(String, Result<Lease, StoreError>)
    /// A lease was released, or the storage could not be reached.
    case released(String)
    /// A database can no longer be served under its lease, and is being closed.
    case lost(String, Lease, LeaseLoss)
    /// A database that was released or lost is closed; none of its writes are in progress any more.
    case closed(String)
    case stop
    case time
  }

  /// An action to perform.
  package enum Output: Sendable, Equatable {
    /// Announce the server; the storage's answer becomes an input.
    case announce
    /// Ask for a lease, in place of one that has ended, and in a history that has lasted for the
    /// duration of a lease; the storage's answer becomes an input.
    case acquire(String, insteadOf: LeaseMark?, knowing: StorageHistory?)
    /// Release a lease; the storage's answer becomes an input.
    case release(Lease, to: ServerID?)
    case answer(request: Int, DatabaseLeader)
    /// Open a database, which this server leads until the given time.
    case open(Lease, until: Duration)
    /// A lease is valid until a later time.
    case extend(Lease, until: Duration)
    /// Close a database; its clients stay connected, but get no more answers.
    case giveUp(String, Departure)
    /// Redirect the clients of a closed database; without a server, only disconnect them.
    case farewell(String, to: ClusterServer?)
    case report(StorageLoss)
    /// No database is led any more, so the server may end.
    case stopped
  }

  /// How a database is released.
  package enum Departure: Sendable, Equatable {
    /// Pending writes are stored and answered first, because the lease is still valid.
    case orderly
    /// Nothing more is stored or answered, because another server may hold the lease.
    case atOnce
  }

  private enum Phase: Equatable {
    case undecided
    case acquiring(sent: Duration)
    case leading(Lease, since: Duration, until: Duration)
    case handingOver(Lease, until: Duration, to: ClusterServer?)
    case releasing(to: ClusterServer?)
    /// The database's clients wait until no other server still believes that this one leads it.
    case parting(to: ClusterServer?, at: Duration)
    case closing
    /// The database is being closed, and its lease given to another server at the same time.
    case yielding(isClosed: Bool, isReleased: Bool)
    /// The stored data is damaged, and is not read again before a certain time.
    case resting(Lease, until: Duration)
  }

  private struct Database {
    var phase = Phase.undecided
    var waiting: [(number: Int, arrival: Duration)] = []
    /// Whether requests are waiting because the holder of the lease may have died.
    var isLeaderless = false
    /// Only a view that was requested at or after this time may decide.
    var staleUntil: Duration?

    /// Whether a view is recent enough to decide for the waiting requests.
    func isDecided(by observation: Observation?, freshness: Duration) -> Bool {
      guard let observation, let newest = waiting.last else { return false }
      return observation.sent + freshness >= newest.arrival
        && staleUntil.map { observation.sent >= $0 } ?? true
    }
  }

  /// The last view from the storage, when it was requested, and when it arrived.
  private struct Observation {
    /// The live servers, and the leases that may still be valid.
    var view: ClusterView
    let sent: Duration
    let arrival: Duration
    /// What was seen of the leases that have ended.
    var ended: [String: LeaseMark] = [:]
  }

  /// Something that lasts for as long as it keeps changing.
  private struct Pulse<Mark: Equatable & Sendable>: Sendable {
    let mark: Mark
    /// When it was first seen like this.
    let since: Duration

    /// The same pulse if nothing has changed, or a new one.
    func next(_ mark: Mark, at now: Duration) -> Pulse {
      mark == self.mark ? self : Pulse(mark: mark, since: now)
    }
  }

  private let me: ClusterServer
  private let timing: LeaseTiming
  private var databases: [String: Database] = [:]
  private var observation: Observation?
  /// What is known of the leases and of the servers, by database and server.
  private var leasePulses: [String: Pulse<LeaseMark>] = [:]
  private var serverPulses: [ServerID: Pulse<Int64>] = [:]
  private var historyPulse: Pulse<StorageHistory>?
  /// When the announcement in progress was sent.
  private var announcement: Duration?
  private var lastAnnouncement: Duration?
  private var hasFailed = false
  private var isStopping = false
  private var hasStopped = false
  private var outputs: [Output] = []

  package init(_ me: ClusterServer, timing: LeaseTiming = LeaseTiming()) {
    self.me = me
    self.timing = timing
  }

  package var view: ClusterView? { observation?.view }

  /// Whether the last attempt to reach the storage failed.
  package var isCutOff: Bool { hasFailed }

  /// How long a lease may still be valid, as far as is known; zero for an unknown one.
  package func remaining(_ lease: Lease, at now: Duration) -> Duration {
    max(.zero, end(of: lease).map { $0 - now } ?? .zero)
  }

  /// Whether the holder of a lease was alive at the time of the last view.
  package func isTrusted(_ lease: Lease) -> Bool {
    guard let observation, let pulse = leasePulses[lease.database] else { return true }
    return observation.arrival - pulse.since <= timing.renewal * 3 / 2
  }

  /// The server that leads under a lease of the last view: another one, which lives.
  package func leader(under lease: Lease) -> ClusterServer? {
    let holder = observation?.view.servers.first { $0.id == lease.holder }
    // A holder with this server's host is an earlier run of it, which no longer answers.
    guard let holder, holder.host != me.host, isTrusted(lease) else { return nil }
    return holder
  }

  /// The age of the last view, counted from when it was requested.
  package func lag(at now: Duration) -> Duration? { observation.map { now - $0.sent } }

  /// The time by the storage's clock: the time in the last view, plus the time since then here.
  ///
  /// It is ahead by at most the time that the answer took.
  package func storageTime(at now: Duration) -> Duration? {
    observation.map { $0.view.time + now - $0.sent }
  }

  /// Takes an input at a time by the server's clock, which never goes back.
  ///
  /// - Returns: The actions to perform, in order.
  /// - Complexity: O(databases + servers · databases without a leader)
  package mutating func handle(_ input: Input, at now: Duration) -> [Output] {
    endLeases(at: now)
    switch input {
    case .asked(let name, let request):
      databases[name, default: Database()].waiting.append((request, now))
    case .announced(.success(let view)): announced(view, at: now)
    case .announced(.failure):
      announcement = nil
      hasFailed = true
    case .acquired(let name, let result): acquired(name, with: result, at: now)
    case .released(let name): released(name, at: now)
    case .lost(let name, let lease, let loss): lost(name, lease: lease, by: loss, at: now)
    case .closed(let name): closed(name, at: now)
    case .stop: stop()
    case .time: break
    }
    for name in databases.keys.sorted() { decide(name, at: now) }
    announceIfDue(at: now)
    stopIfPossible()
    defer { outputs = [] }
    return outputs
  }

  /// When ``Input/time`` is due, if no other input comes first.
  package var deadline: Duration? {
    guard !hasStopped else { return nil }
    var times: [Duration] = []
    if announcement == nil { times.append(nextAnnouncement) }
    for database in databases.values {
      switch database.phase {
      case .leading(_, _, let until), .handingOver(_, let until, _): times.append(until)
      case .parting(_, let time): times.append(time)
      case .undecided, .acquiring, .releasing, .closing, .yielding, .resting: break
      }
      if let first = database.waiting.first { times.append(first.arrival + timing.patience) }
    }
    return times.min()
  }

  // MARK: Leases

  /// Drops databases whose leases have ended, and sends the farewells that are due.
  private mutating func endLeases(at now: Duration) {
    for name in databases.keys.sorted() {
      switch databases[name]?.phase {
      case .leading(_, _, let until) where now >= until,
        .handingOver(_, let until, _) where now >= until:
        drop(name)
      case .parting(let successor, let time) where now >= time:
        databases[name]?.phase = .undecided
        outputs.append(.farewell(name, to: successor))
      case .leading, .handingOver, .undecided, .acquiring, .releasing, .parting, .closing,
        .yielding, .resting, nil:
        break
      }
    }
  }

  private mutating func drop(_ name: String) {
    databases[name]?.phase = .closing
    outputs.append(.giveUp(name, .atOnce))
  }

  private mutating func announced(_ view: ClusterView, at now: Duration) {
    guard let sent = announcement else { return }
    announcement = nil
    hasFailed = false
    let before = observation
    let view = look(at: view, sent: sent, at: now)
    let leases = Dictionary(view.leases.map { ($0.database, $0) }) { first, _ in first }
    for name in databases.keys.sorted() {
      guard let phase = databases[name]?.phase else { continue }
      switch phase {
      case .leading(let held, let since, _) where since <= sent:
        renew(name, holding: held, by: leases[name], sent: sent, at: now)
      case .handingOver(let held, let until, let successor):
        guard let lease = leases[name], isMine(lease, as: held) else { continue }
        let later = max(until, sent + lease.duration - timing.margin)
        databases[name]?.phase = .handingOver(held, until: later, to: successor)
        outputs.append(.extend(held, until: later))
      case .resting(let held, _):
        rest(name, holding: held, by: leases[name])
      case .leading, .undecided, .acquiring, .releasing, .parting, .closing, .yielding: break
      }
    }
    if !isStopping { adopt(from: leases, before: before?.view, at: now) }
  }

  /// Remembers a view, without the servers and leases that have ended by this server's clock.
  private mutating func look(at all: ClusterView, sent: Duration, at now: Duration) -> ClusterView {
    reportLosses(in: all)
    historyPulse =
      historyPulse?.next(all.history, at: now) ?? Pulse(mark: all.history, since: now)
    var observation = Observation(view: all, sent: sent, arrival: now)
    var servers: [ServerID: Pulse<Int64>] = [:]
    for (id, count) in all.announcements {
      servers[id] = serverPulses[id]?.next(count, at: now) ?? Pulse(mark: count, since: now)
    }
    serverPulses = servers
    observation.view.servers.removeAll { server in
      servers[server.id].map { now - $0.since >= timing.lease } ?? false
    }
    var leases: [String: Pulse<LeaseMark>] = [:]
    for lease in all.leases {
      let (name, mark) = (lease.database, LeaseMark(lease, in: all.history))
      let pulse = leasePulses[name]?.next(mark, at: now) ?? Pulse(mark: mark, since: now)
      leases[name] = pulse
      if now - pulse.since >= lease.duration, lease.holder != me.id {
        observation.ended[name] = mark
      }
    }
    leasePulses = leases
    observation.view.leases.removeAll { observation.ended[$0.database] != nil }
    self.observation = observation
    return observation.view
  }

  /// Reports each database whose last batch is not the one that was seen, nor a later one.
  private mutating func reportLosses(in view: ClusterView) {
    // Within one history, only commands take batches away: they remove or rename a database, and its
    // name may be used again at once.
    guard let old = observation?.view, old.history != view.history else { return }
    for (name, seen) in old.positions.sorted(by: { $0.key < $1.key }) {
      let found = view.positions[name]
      if let found, found.batch > seen.batch || found == seen { continue }
      let loss = StorageLoss(
        name,
        seen: seen,
        found: found,
        oldTimeline: old.history.timeline,
        newTimeline: view.history.timeline
      )
      outputs.append(.report(loss))
      // What this server has in memory is no longer what is stored.
      switch databases[name]?.phase {
      case .leading, .handingOver: drop(name)
      case .undecided, .acquiring, .releasing, .parting, .closing, .yielding, .resting, nil: break
      }
    }
  }

  private func isMine(_ lease: Lease, as held: Lease) -> Bool {
    lease.holder == me.id && lease.id == held.id
  }

  private mutating func renew(
    _ name: String,
    holding held: Lease,
    by lease: Lease?,
    sent: Duration,
    at now: Duration
  ) {
    guard let lease, isMine(lease, as: held) else { return drop(name) }
    let until = sent + lease.duration - timing.margin
    guard case .leading(_, let since, let known) = databases[name]?.phase else { return }
    databases[name]?.phase = .leading(held, since: since, until: max(known, until))
    outputs.append(.extend(held, until: max(known, until)))
    if let successor = successor(wantedBy: lease) { handOver(name, to: successor) }
  }

  /// The tool, or the live server, that has asked for a database.
  private func successor(wantedBy lease: Lease) -> ClusterServer? {
    guard let wanted = lease.wanted, wanted != me.id else { return nil }
    if wanted.isTool { return ClusterServer(id: wanted, host: "") }
    return view?.servers.first { $0.id == wanted }
  }

  /// Keeps the lease of a damaged database, unless another server took it or is to try.
  private mutating func rest(_ name: String, holding held: Lease, by lease: Lease?) {
    guard let lease, isMine(lease, as: held) else {
      databases[name]?.phase = .undecided
      return
    }
    guard let successor = successor(wantedBy: lease) else { return }
    databases[name]?.phase = .releasing(to: successor)
    outputs.append(.release(held, to: successor.id))
  }

  private mutating func handOver(_ name: String, to successor: ClusterServer?) {
    guard case .leading(let lease, _, let until) = databases[name]?.phase else { return }
    databases[name]?.phase = .handingOver(lease, until: until, to: successor)
    outputs.append(.giveUp(name, .orderly))
  }

  /// Takes over databases that were handed to this server, and its share of those without a leader.
  private mutating func adopt(
    from leases: [String: Lease],
    before: ClusterView?,
    at now: Duration
  ) {
    let handed = leases.values.filter { $0.holder == me.id }.map(\.database)
    let orphans = before?.leases.map(\.database).filter {
      leases[$0] == nil && preferred(for: $0)?.id == me.id
    }
    for name in (handed + (orphans ?? [])).sorted() {
      guard databases[name] == nil else { continue }
      databases[name] = Database()
      acquire(name, at: now)
    }
  }

  /// Asks for a lease, unless another server may lead under one that the storage has lost.
  private mutating func acquire(_ name: String, at now: Duration) {
    let isKnown = historyPulse.map { now - $0.since >= timing.lease } ?? false
    guard isKnown || observation?.view.isSettled == true else { return }
    databases[name]?.phase = .acquiring(sent: now)
    let history = isKnown ? historyPulse?.mark : nil
    outputs.append(.acquire(name, insteadOf: observation?.ended[name], knowing: history))
  }

  private mutating func acquired(
    _ name: String,
    with result: Result<Lease, StoreError>,
    at now: Duration
  ) {
    guard case .acquiring(let sent) = databases[name]?.phase else { return }
    databases[name]?.phase = .undecided
    switch result {
    case .success(let lease) where lease.holder == me.id:
      let until = sent + lease.duration - timing.margin
      note(lease)
      guard until > now else { return }
      databases[name]?.phase = .leading(lease, since: now, until: until)
      outputs.append(.open(lease, until: until))
      if isStopping { handOver(name, to: successor(for: name)) }
    case .success(let lease): note(lease)
    case .failure(let error) where error.kind == .missing: send(name, to: .absent)
    case .failure:
      // Earlier views do not count: the storage has to be reached first.
      hasFailed = true
      databases[name]?.staleUntil = now
    }
  }

  /// Adds a lease to the view, in place of any other for the same database.
  private mutating func note(_ lease: Lease) {
    observation?.ended[lease.database] = nil
    if leasePulses[lease.database]?.mark.lease != lease.id { leasePulses[lease.database] = nil }
    observation?.view.leases.removeAll { $0.database == lease.database }
    observation?.view.leases.append(lease)
  }

  private mutating func lost(_ name: String, lease: Lease, by loss: LeaseLoss, at now: Duration) {
    switch databases[name]?.phase {
    case .leading(lease, _, _), .handingOver(lease, _, _): break
    case .leading, .handingOver, .undecided, .acquiring, .releasing, .parting, .closing, .yielding,
      .resting, nil:
      return
    }
    switch loss {
    case .outdated: databases[name]?.phase = .closing
    case .damaged where isStopping:
      giveAway(lease)
    case .damaged: databases[name]?.phase = .resting(lease, until: now + timing.rest)
    case .stuck:
      databases[name]?.phase = .closing
      // Without another server, this one had better try again.
      guard let next = next(for: name) else { return }
      databases[name]?.phase = .yielding(isClosed: false, isReleased: false)
      // The storage refuses whatever may still be on its way, so there is no need to wait for the
      // database to be closed, which takes long while the storage is silent.
      outputs.append(.release(lease, to: next.id))
    }
  }

  private mutating func closed(_ name: String, at now: Duration) {
    switch databases[name]?.phase {
    case .handingOver(let lease, _, let successor):
      databases[name]?.phase = .releasing(to: successor)
      outputs.append(.release(lease, to: successor?.id))
    case .closing: databases[name]?.phase = .undecided
    case .yielding(_, let isReleased): yield(name, isClosed: true, isReleased: isReleased, at: now)
    case .leading, .undecided, .acquiring, .releasing, .parting, .resting, nil: break
    }
  }

  private mutating func released(_ name: String, at now: Duration) {
    switch databases[name]?.phase {
    case .releasing(let successor):
      databases[name]?.phase = .parting(to: successor, at: now + timing.freshness * 5 / 4)
    case .yielding(let isClosed, _): yield(name, isClosed: isClosed, isReleased: true, at: now)
    case .leading, .handingOver, .undecided, .acquiring, .parting, .closing, .resting, nil: break
    }
  }

  /// Continues once a database is closed and its lease released, or could not be.
  private mutating func yield(_ name: String, isClosed: Bool, isReleased: Bool, at now: Duration) {
    databases[name]?.phase = .yielding(isClosed: isClosed, isReleased: isReleased)
    guard isClosed, isReleased else { return }
    // Earlier views of others show this server as the holder.
    databases[name]?.phase = .parting(to: nil, at: now + timing.freshness * 5 / 4)
    databases[name]?.staleUntil = now
  }

  // MARK: Requests

  private mutating func decide(_ name: String, at now: Duration) {
    guard let database = databases[name] else { return }
    if case .leading = database.phase {
      for request in database.waiting {
        outputs.append(.answer(request: request.number, .here))
      }
      databases[name]?.waiting = []
      databases[name]?.isLeaderless = false
      return
    }
    let late = database.waiting.prefix { $0.arrival + timing.patience <= now }
    answer(late.map(\.number), with: .nowhere("no server leads the database at the moment"))
    databases[name]?.waiting.removeFirst(late.count)
    if case .resting(let lease, let end) = database.phase {
      return rest(name, lease, until: end, at: now)
    }
    guard database.phase == .undecided else { return }
    guard let left = databases[name], !left.waiting.isEmpty else {
      databases[name] = nil
      return
    }
    guard !isStopping else { return send(name, to: .nowhere("the server is stopping")) }
    guard let observation, left.isDecided(by: observation, freshness: timing.freshness) else {
      return
    }
    guard let lease = observation.view.leases.first(where: { $0.database == name }) else {
      if !database.isLeaderless, let other = preferred(for: name), other.id != me.id {
        return send(name, to: .there(other))
      }
      return acquire(name, at: now)
    }
    guard lease.holder != me.id else { return acquire(name, at: now) }
    if let holder = leader(under: lease) { return send(name, to: .there(holder)) }
    databases[name]?.isLeaderless = true
  }

  /// Reads a damaged database again for the first request after its rest.
  private mutating func rest(_ name: String, _ lease: Lease, until end: Duration, at now: Duration)
  {
    guard let waiting = databases[name]?.waiting, !waiting.isEmpty else { return }
    guard now < end else { return acquire(name, at: now) }
    answer(waiting.map(\.number), with: .nowhere("the stored data is damaged"))
    databases[name]?.waiting = []
  }

  private mutating func send(_ name: String, to leader: DatabaseLeader) {
    answer((databases[name]?.waiting ?? []).map(\.number), with: leader)
    databases[name] = nil
  }

  private mutating func answer(_ requests: [Int], with leader: DatabaseLeader) {
    for request in requests { outputs.append(.answer(request: request, leader)) }
  }

  // MARK: Announcements

  /// The shortest time between two announcements, however many requests wait for one.
  private static let pause = Duration.milliseconds(20)
  /// How often the storage is asked while a request waits for a lease to end.
  private static let watch = Duration.milliseconds(100)

  private var nextAnnouncement: Duration {
    guard let last = lastAnnouncement else { return .zero }
    if hasFailed || observation == nil { return last + timing.retry }
    var next = last + timing.renewal
    for (name, database) in databases where database.phase == .undecided {
      guard !database.waiting.isEmpty else { continue }
      let isFresh = database.isDecided(by: observation, freshness: timing.freshness)
      next = min(next, last + (isFresh ? Self.watch : Self.pause))
      guard isFresh, let lease = observation?.view.leases.first(where: { $0.database == name }),
        let end = end(of: lease)
      else { continue }
      next = min(next, max(last + Self.pause, end + Self.pause))
    }
    // A holder that has not renewed its lease may have died, so the storage is asked as the lease
    // ends.
    for lease in observation?.view.leases ?? [] where lease.holder != me.id && !isTrusted(lease) {
      guard let end = end(of: lease) else { continue }
      next = min(next, max(last + Self.pause, end + Self.pause))
    }
    return next
  }

  /// When another server's lease ends unless it is renewed; nil while that is unknown.
  private func end(of lease: Lease) -> Duration? {
    leasePulses[lease.database].map { $0.since + lease.duration }
  }

  private mutating func announceIfDue(at now: Duration) {
    guard announcement == nil, !hasStopped, now >= nextAnnouncement else { return }
    announcement = now
    lastAnnouncement = now
    outputs.append(.announce)
  }

  // MARK: End

  private mutating func stop() {
    guard !isStopping else { return }
    isStopping = true
    for name in databases.keys.sorted() {
      switch databases[name]?.phase {
      case .leading: handOver(name, to: successor(for: name))
      case .resting(let lease, _):
        giveAway(lease)
      case .handingOver, .undecided, .acquiring, .releasing, .parting, .closing, .yielding, nil:
        break
      }
    }
  }

  /// Releases the lease of a database that is not open.
  private mutating func giveAway(_ lease: Lease) {
    let successor = successor(for: lease.database)
    databases[lease.database]?.phase = .releasing(to: successor)
    outputs.append(.release(lease, to: successor?.id))
  }

  private mutating func stopIfPossible() {
    guard isStopping, !hasStopped, databases.isEmpty else { return }
    hasStopped = true
    outputs.append(.stopped)
  }

  // MARK: Spreading

  /// The server that should lead a database without a leader; nil before the first view.
  private func preferred(for name: String) -> ClusterServer? {
    guard let observation else { return nil }
    return Self.choice(
      for: name,
      among: observation.view.servers.filter { $0.host != me.host } + [me]
    )
  }

  /// The server that should lead a database after this one stops.
  private func successor(for name: String) -> ClusterServer? {
    Self.choice(for: name, among: (view?.servers ?? []).filter { $0.host != me.host })
  }

  /// The server that comes after this one, when the servers try a database one after the other.
  private func next(for name: String) -> ClusterServer? {
    let others = (view?.servers ?? []).filter { $0.host != me.host }
    let mine = (Self.weight(of: me, for: name), me.id)
    return Self.choice(
      for: name,
      among: others.filter { (Self.weight(of: $0, for: name), $0.id) < mine }
    ) ?? Self.choice(for: name, among: others)
  }

  /// Chooses a server by rendezvous hashing.
  ///
  /// Each server gets about the same number of databases, and when one leaves, only its databases
  /// move.
  ///
  /// - Complexity: O(servers)
  package static func choice(
    for name: String,
    among servers: [ClusterServer]
  ) -> ClusterServer? {
    servers.max {
      let (left, right) = (weight(of: $0, for: name), weight(of: $1, for: name))
      return (left, $0.id) < (right, $1.id)
    }
  }

  private static func weight(of server: ClusterServer, for name: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in "\(name) \(server.host)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    // The last bytes have not affected the high bits yet.
    hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ hash >> 33
  }
}
