import TestSupport

@testable import RealtimeServer

/// The promises of a cluster, by which a run's problem is named.
enum ClusterPromise {
  /// A server that answers as current holds the lease and has everything that was committed.
  case current
  /// Only the holder of the last lease commits, after all earlier commits.
  case fenced
  /// An acknowledged write has been stored.
  case durable
  /// Clients are redirected to the leader, and not endlessly.
  case found
  /// Once the faults are over, every client is soon served.
  case served
  /// A server opens a database once.
  case openedOnce
  /// A server that has seen what the storage no longer has says so.
  case reported
  /// A follower answers a read only after its leader has confirmed, under the last lease, that it
  /// has been told everything.
  case confirmed
  /// A read returns what was acknowledged before it arrived, unless the storage has lost it.
  case fresh
  /// Nothing that was read goes back, whichever server is read from next.
  case monotonic
  /// What a server has in memory is a state that was stored: no commit is left out or made twice.
  case ordered
}

/// Several servers, their clients and one storage, in virtual time: with clocks that differ and
/// drift, pauses, crashes, orderly stops, moves, networks that lose and delay messages, and a storage
/// whose clock is set and that goes back to an earlier state, as after an asynchronous failover.
///
/// A server sends up to three batches before the first is answered, over one connection. Servers
/// follow databases that others lead, and answer what clients read from their copies.
///
/// It checks that a server that answers as current holds the last lease at that moment, that a
/// server that commits holds the last lease and knows all earlier commits, that an acknowledged write
/// was stored, that a loss that was seen is reported, that what is read at any server is as fresh as
/// at the leader, and that once the faults are over, every client is served.
struct ClusterSimulation {
  /// One run of a server, and its open databases.
  struct Server {
    struct Open {
      var lease: Lease
      /// How many leases the storage had granted, including this one.
      var count: Int
      var until: Duration
      /// Whether the database is read.
      var isLoaded = false
      /// The last commit that it knows of.
      var head: BatchPosition?
      /// The data in memory, and the history of the storage that it was read from.
      var version = SimulatedVersion()
      var lineage: String?
      /// The streams to servers that follow it.
      var followers: [Int] = []
      /// The batches that are sent and not answered.
      var underWay: [BatchPosition] = []
      /// When the last message on the connection arrives at the storage, and the last answer here.
      var arrival = (there: Duration.zero, here: Duration.zero)
      var isLeaving = false
      var waiting: [Client] = []
    }

    var id: ServerID
    var machine: Leadership
    var open: [String: Open] = [:]
    var asking: [Int: Client] = [:]
    var isDead = false
    var isPaused = false
    var isCutOff = false
    /// Whether the storage answers nothing but what concerns servers and leases.
    var isStuck = false
    /// What arrives while it is paused.
    var missed: [Happening] = []
    let offset: Duration
    /// By how many thousandths its clock runs fast.
    let drift: Int
    var timer = 0
    /// The virtual time at which the current timer fires, if one is set.
    var alarm: Duration?
    /// The last batches in its last view.
    var seen: [String: BatchPosition] = [:]
    var copies: [String: Copy] = [:]
    /// What copies held that have ended.
    var known: [String: StoredTree] = [:]
    /// Until when databases are not followed that could not be.
    var unfollowed: [String: Duration] = [:]

    func clock(_ now: Duration) -> Duration { offset + now + now * drift / 1_000 }
  }

  /// A read or a write in progress.
  struct Client {
    let number: Int
    let database: String
    let isWrite: Bool
    let begin: Duration
    var hops = 0
    /// When it arrived at the server, and what had been acknowledged and read by then.
    var arrival = Duration.zero
    var acknowledged = SimulatedVersion()
    var seen = SimulatedVersion()
  }

  enum Happening {
    case timer(Int)
    case input(Leadership.Input, sent: Duration)
    case opened(String, Lease, count: Int, isValid: Bool, BatchPosition?, StoredTree)
    /// Whether a batch is stored; nil if that is unknown.
    case committed(String, Lease, BatchPosition, Bool?, Client)
    case closedAtOnce(String)
    case client(Client)
    /// What a leader hears from a server that follows, or is about to.
    case follow(stream: Int)
    case asked(mark: Int, stream: Int)
    /// What a follower hears from the leader, from the storage and from its event loop.
    case told(FollowerMessage, stream: Int)
    case loaded(StoredTree?, stream: Int)
    case turnEnded(stream: Int)
    /// A stream was ended by the leader, or has broken.
    case streamEnded(Int, isBroken: Bool)

    /// The connection over which it comes in order; nil if there is none.
    var connection: Int? {
      switch self {
      case .committed: 0
      case .follow(let stream), .asked(_, let stream), .told(_, let stream),
        .streamEnded(let stream, _):
        stream
      case .timer, .input, .opened, .closedAtOnce, .client, .loaded, .turnEnded: nil
      }
    }
  }

  enum Event {
    case at(server: Int, run: ServerID, Happening)
    case storage(server: Int, run: ServerID, Request, sent: Duration)
    /// Another client arrives.
    case arrival
    case client(Client, server: Int)
    case fault
    case stick
    case restart(Int)
    case heal(Int)
    case loosen(Int)
    case wake(Int)
    /// The storage's state is copied to its standby.
    case copy
    /// A stream breaks: any one, unless it is named.
    case cut(Int?)
    /// A leader tells its followers late.
    case tell(Commit, stream: Int)
  }

  enum Request {
    case announce
    case acquire(String, LeaseMark?, StorageHistory?)
    case release(Lease, ServerID?)
    case load(Lease, knowing: StoredTree?)
    /// A follower reads.
    case read(String, knowing: StoredTree?, stream: Int)
    case commit(Lease, BatchPosition, after: BatchPosition?, Client)
    case withdraw

    /// Whether it reads or writes the data of a database.
    var isForData: Bool {
      switch self {
      case .load, .read, .commit: true
      case .announce, .acquire, .release, .withdraw: false
      }
    }
  }

  private static let names = ["one", "two", "three", "four"]
  private static let readOnly: Set = ["three", "four"]
  static let faultTime = Duration.seconds(40)
  static let quietTime = Duration.seconds(25)

  let timing = LeaseTiming()
  /// How long a client takes to the server that it is sent to.
  private let redirectTime = Duration.milliseconds(2)
  let mistake: ClusterMistake?
  var random: SplitMix64
  var storage: SimulatedStorage
  var servers: [Server] = []
  /// A heap of pending events, the next one at the root: microseconds, then the number of the
  /// event.
  private var queue: [UInt64] = []
  private var events: [Event?] = []
  var runs = 0
  private(set) var now = Duration.zero
  var problem: (promise: ClusterPromise, text: String)?
  /// The server to which a client was first redirected, for each database.
  private var firstRedirects: [String: Int] = [:]
  /// How many reads and writes were answered, and how often each kind of event occurred.
  private(set) var marks: [String: Int] = [:]
  /// The leases that were lost with a state of the storage, and that nobody has taken over yet.
  private var lostLeases: [String: Set<Int>] = [:]
  /// The clients that are not served yet, with their arrival.
  private var unserved: [Int: Duration] = [:]
  /// What followers hear, by number.
  var streams: [Int: Stream] = [:]
  /// The newest states that were acknowledged or read, for each database.
  var acknowledged: [String: SimulatedVersion] = [:]
  var read: [String: SimulatedVersion] = [:]
  /// How many reads were answered from copies after the faults.
  var quietCopyReads = 0
  /// The longest wait of a client since the faults ended.
  private(set) var longestQuietWait = Duration.zero

  init(seed: UInt64, mistake: ClusterMistake? = nil, count: Int = 3) {
    random = SplitMix64(seed: seed)
    self.mistake = mistake
    storage = SimulatedStorage(mistake: mistake)
    for index in 0..<count { servers.append(makeServer(index)) }
  }

  private mutating func makeServer(_ index: Int) -> Server {
    runs += 1
    let id = ServerID("run-\(runs)")
    return Server(
      id: id,
      machine: Leadership(ClusterServer(id: id, host: "s-\(index)"), timing: timing),
      offset: .milliseconds(Int.random(in: 0...5_000_000, using: &random)),
      drift: Int.random(in: -40...40, using: &random)
    )
  }

  /// Runs to the end; returns the broken promise and a description, or nil.
  mutating func run() -> (promise: ClusterPromise, text: String)? {
    for index in servers.indices { feed(index, .time) }
    for _ in 0..<16 {
      schedule(.fault, at: .milliseconds(Int.random(in: 2_000...38_000, using: &random)))
    }
    for _ in 0..<12 {
      schedule(.cut(nil), at: .milliseconds(Int.random(in: 2_000...38_000, using: &random)))
    }
    schedule(.arrival, at: .milliseconds(5))
    schedule(.copy, at: .zero)
    // In every other run one server can store and read nothing from then on.
    if Bool.random(using: &random) { schedule(.stick, at: Self.faultTime) }
    let end = Self.faultTime + Self.quietTime + .seconds(5)
    while problem == nil, now < end, let event = pop() { perform(event) }
    for begin in unserved.values where begin > Self.faultTime + .seconds(15) {
      longestQuietWait = max(longestQuietWait, now - begin)
    }
    // From the last fault to the end of the lease it leaves behind, and to the next leader.
    if problem == nil, longestQuietWait > .seconds(3) {
      problem = (.served, "a client waited for \(longestQuietWait) without a fault")
    }
    if problem == nil, quietCopyReads == 0 {
      problem = (.served, "no follower answered without a fault")
    }
    return problem.map { ($0.promise, "\($0.text) at \(now)") }
  }

  // MARK: Events

  mutating func schedule(_ event: Event, at time: Duration) {
    let (seconds, attoseconds) = time.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let key = UInt64(microseconds) << 32 | UInt64(events.count)
    events.append(event)
    var hole = queue.count
    queue.append(key)
    while hole > 0 {
      let parent = (hole - 1) >> 1
      let above = queue[parent]
      if above < key { break }
      queue[hole] = above
      hole = parent
    }
    queue[hole] = key
  }

  /// Removes the next event, and advances to its time.
  private mutating func pop() -> Event? {
    guard let first = queue.first, let last = queue.popLast() else { return nil }
    let count = queue.count
    var hole = 0
    while count > 0 {
      var child = 2 * hole + 1
      if child >= count { break }
      if child + 1 < count, queue[child + 1] < queue[child] { child += 1 }
      let least = queue[child]
      if last < least { break }
      queue[hole] = least
      hole = child
    }
    if count > 0 { queue[hole] = last }
    now = .microseconds(Int64(first >> 32))
    let number = Int(first & 0xFFFF_FFFF)
    defer { events[number] = nil }
    return events[number]
  }

  private mutating func perform(_ event: Event) {
    switch event {
    case .at(let index, let run, let happening):
      guard servers[index].id == run, !servers[index].isDead else {
        if case .client(let client) = happening { retry(client) }
        if case .committed(_, _, _, _, let client) = happening { retry(client) }
        return
      }
      if servers[index].isPaused {
        servers[index].missed.append(happening)
      } else {
        take(happening, at: index)
      }
    case .storage(let index, let run, let request, let sent):
      ask(request, from: index, run: run, sent: sent)
    case .arrival:
      let name = Self.names[Int.random(in: 0..<Self.names.count, using: &random)]
      runs += 1
      unserved[runs] = now
      let client = Client(
        number: runs,
        database: name,
        // If clients write, a server that is cut off notices it before its lease ends.
        isWrite: !Self.readOnly.contains(name) && Bool.random(using: &random),
        begin: now
      )
      schedule(.client(client, server: Int.random(in: 0..<servers.count, using: &random)), at: now)
      guard now < Self.faultTime + Self.quietTime else { return }
      schedule(.arrival, at: now + .milliseconds(Int.random(in: 20...200, using: &random)))
    case .client(let client, let index):
      guard !servers[index].isDead else { return retry(client) }
      schedule(
        .at(server: index, run: servers[index].id, .client(client)),
        at: now + .milliseconds(2)
      )
    case .fault: injectFault()
    case .stick: servers[Int.random(in: 0..<servers.count, using: &random)].isStuck = true
    case .restart(let index):
      servers[index] = makeServer(index)
      feed(index, .time)
    case .heal(let index): servers[index].isCutOff = false
    case .loosen(let index): servers[index].isStuck = false
    case .copy:
      storage.remember(at: now)
      if now < Self.faultTime { schedule(.copy, at: now + .milliseconds(50)) }
    case .wake(let index):
      servers[index].isPaused = false
      let missed = servers[index].missed
      servers[index].missed = []
      let run = servers[index].id
      // What comes over one connection keeps its order.
      var ordered = Dictionary(grouping: missed) { $0.connection }
      for happening in missed.shuffled(using: &random) {
        let next = happening.connection.flatMap { ordered[$0]?.removeFirst() } ?? happening
        perform(.at(server: index, run: run, next))
      }
    case .cut(let number): cut(number)
    case .tell(let commit, let stream): tell(.commits([commit]), over: stream)
    }
  }

  mutating func retry(_ client: Client) {
    var client = client
    client.hops = 0
    mark("retry")
    let delay = Duration.milliseconds(Int.random(in: 100...1_000, using: &random))
    schedule(
      .client(client, server: Int.random(in: 0..<servers.count, using: &random)),
      at: now + delay
    )
  }

  mutating func done(_ client: Client) {
    mark(client.isWrite ? "write" : "read")
    unserved[client.number] = nil
    if client.begin > Self.faultTime + .seconds(15) {
      longestQuietWait = max(longestQuietWait, now - client.begin)
    }
  }

  mutating func mark(_ name: String) { marks[name, default: 0] += 1 }

  // MARK: Faults

  private mutating func injectFault() {
    let index = Int.random(in: 0..<servers.count, using: &random)
    if Int.random(in: 0..<4, using: &random) == 0 { return injectStorageFault() }
    guard !servers[index].isDead, !servers[index].isPaused else { return }
    let length = Duration.milliseconds(Int.random(in: 200...9_000, using: &random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0, 1:
      mark("pause")
      servers[index].isPaused = true
      schedule(.wake(index), at: now + length)
      // Its streams count as lost once they have been silent for long.
      if length > .seconds(7) {
        for number in streams(of: index) { schedule(.cut(number), at: now + .seconds(7)) }
      }
    case 2:
      mark("kill")
      kill(index)
      schedule(.restart(index), at: now + length)
    case 3:
      mark("cut off")
      servers[index].isCutOff = true
      schedule(.heal(index), at: now + length)
    case 4:
      mark("stuck")
      servers[index].isStuck = true
      schedule(.loosen(index), at: now + length)
    case 5:
      mark("stop")
      feed(index, .stop)
    case _:
      mark("move")
      let name = Self.names[Int.random(in: 0..<Self.names.count, using: &random)]
      storage.move(name, to: servers[index].id)
    }
  }

  private mutating func injectStorageFault() {
    let jump = Duration.milliseconds(Int.random(in: -60_000...60_000, using: &random))
    guard Bool.random(using: &random) else {
      mark("clock set")
      return storage.setClock(by: jump)
    }
    mark("storage back")
    let before = storage.grants
    let length = Duration.milliseconds(Int.random(in: 50...2_500, using: &random))
    storage.goBack(by: length, at: now, clockMovesBy: jump)
    // Nobody can take the place of a holder before it has stopped, even if its lease is lost.
    for (name, grant) in before where storage.grants[name]?.count != grant.count {
      lostLeases[name, default: []].insert(grant.count)
    }
  }

  private mutating func kill(_ index: Int) {
    servers[index].isDead = true
    let waiting =
      servers[index].asking.values.map { $0 } + servers[index].open.values.flatMap(\.waiting)
    for client in waiting.sorted(by: { $0.begin < $1.begin }) { retry(client) }
    servers[index].asking = [:]
    servers[index].open = [:]
    loseCopies(at: index)
  }

  // MARK: A server

  private mutating func take(_ happening: Happening, at index: Int) {
    switch happening {
    case .timer(let number):
      guard number == servers[index].timer else { return }
      servers[index].alarm = nil
      feed(index, .time)
    case .input(let input, let sent):
      let inflation = now - sent + timing.margin
      if case .announced(.success(let view)) = input { expectReports(of: view, at: index) }
      let id = servers[index].id
      feed(index, mistake == .renewedLate ? input.inflated(by: inflation, for: id) : input)
      if !missing.isEmpty { problem = (.reported, "s-\(index) does not report \(missing)") }
    case .opened(let name, let lease, let count, let isValid, let head, let stored):
      opened(name, lease, count: count, isValid: isValid, head, stored, at: index)
    case .committed(let name, let lease, let head, let isStored, let client):
      committed(name, lease, head, isStored, client, at: index)
    case .closedAtOnce(let name): feed(index, .closed(name))
    case .follow, .asked, .told, .loaded, .turnEnded, .streamEnded:
      takeFromStream(happening, at: index)
    case .client(var client):
      client.arrival = now
      client.acknowledged = acknowledged[client.database] ?? client.acknowledged
      client.seen = read[client.database] ?? client.seen
      if isAskingCopy(client, at: index) { return }
      // A connected client does not ask again who leads.
      if servers[index].open[client.database]?.isLoaded == true { return serve(client, at: index) }
      runs += 1
      servers[index].asking[runs] = client
      feed(index, .asked(client.database, request: runs))
    }
  }

  /// The databases whose loss the server has to report now.
  private var missing: Set<String> = []

  private mutating func expectReports(of view: ClusterView, at index: Int) {
    for (name, seen) in servers[index].seen {
      let found = view.positions[name]
      if found.map({ $0.batch < seen.batch || $0.batch == seen.batch && $0.id != seen.id }) ?? true
      {
        missing.insert(name)
      }
    }
    servers[index].seen = view.positions
  }

  private mutating func feed(_ index: Int, _ input: Leadership.Input) {
    let clock = servers[index].clock(now)
    for output in servers[index].machine.handle(input, at: clock) { perform(output, at: index) }
    guard !servers[index].isDead, let deadline = servers[index].machine.deadline else { return }
    let delay = max(.zero, deadline - servers[index].clock(now)) * 1_000
    let time = now + delay / (1_000 + servers[index].drift) + .milliseconds(1)
    // A timer that fires too early does no harm.
    if let alarm = servers[index].alarm, alarm <= time { return }
    servers[index].alarm = time
    servers[index].timer += 1
    schedule(.at(server: index, run: servers[index].id, .timer(servers[index].timer)), at: time)
  }

  private mutating func perform(_ output: Leadership.Output, at index: Int) {
    switch output {
    case .announce: send(.announce, from: index)
    case .acquire(let name, let ended, let history):
      send(.acquire(name, ended, history), from: index)
    case .report(let loss):
      mark("report")
      missing.remove(loss.database)
    case .release(let lease, let successor): send(.release(lease, successor), from: index)
    case .answer(let request, let leader):
      if let client = servers[index].asking.removeValue(forKey: request) {
        answer(client, leader, at: index)
      }
    case .open(let lease, let until):
      if let old = servers[index].open[lease.database], !old.isLeaving {
        problem = (.openedOnce, "a database was opened that was open")
      }
      servers[index].open[lease.database] = Server.Open(lease: lease, count: 0, until: until)
      leaderChanged(of: lease.database, to: servers[index].id, at: index)
      let known = servers[index].known.removeValue(forKey: lease.database)
      send(.load(lease, knowing: known), from: index)
    case .extend(let lease, let until): servers[index].open[lease.database]?.until = until
    case .giveUp(let name, .orderly):
      servers[index].open[name]?.isLeaving = true
      leaveIfPossible(name, at: index)
    case .giveUp(let name, .atOnce): abandon(name, at: index)
    case .farewell(let name, _): mark(name.isEmpty ? "" : "farewell")
    case .stopped:
      send(.withdraw, from: index)
      kill(index)
      schedule(
        .restart(index),
        at: now + .milliseconds(Int.random(in: 100...3_000, using: &random))
      )
    }
  }

  private mutating func answer(_ client: Client, _ leader: DatabaseLeader, at index: Int) {
    switch leader {
    case .here:
      guard servers[index].open[client.database] != nil else { return retry(client) }
      serve(client, at: index)
    case .there(let server):
      mark("redirect")
      leaderChanged(of: client.database, to: server.id, at: index)
      considerFollowing(client, server, at: index)
      var client = client
      client.hops += 1
      // Once the storage has lost a lease, servers that saw it still believe in it for a moment.
      let most = 8 + Int(timing.freshness * 5 / 4 / redirectTime)
      if client.hops > most {
        problem = (.found, "a client was sent in circles")
      }
      var host = Int(server.host.dropFirst(2)) ?? 0
      if mistake == .redirectRemembered {
        host = firstRedirects[client.database] ?? host
        firstRedirects[client.database] = host
      }
      schedule(.client(client, server: host), at: now + redirectTime)
    case .nowhere, .absent: retry(client)
    }
  }

  private mutating func serve(_ client: Client, at index: Int) {
    let name = client.database
    guard let open = servers[index].open[name], !open.isLeaving else { return retry(client) }
    guard open.isLoaded, open.underWay.count < (client.isWrite ? 3 : 1) else {
      servers[index].open[name]?.waiting.append(client)
      return
    }
    guard mistake == .clockNotAsked || servers[index].clock(now) < open.until else {
      return retry(client)
    }
    if client.isWrite {
      let last = open.underWay.last ?? open.head
      let revision = (last?.revision ?? 0) + 1
      runs += 1
      let next = BatchPosition(batch: revision, id: "batch \(runs)", revision: revision)
      if !open.underWay.isEmpty { mark("batch behind") }
      servers[index].open[name]?.underWay.append(next)
      send(.commit(open.lease, next, after: last, client), from: index)
      return
    }
    let revision = open.head?.revision ?? 0
    if !isLast(open) {
      problem = (
        .current, "s-\(index) answers as current under lease \(open.lease.epoch), which is over"
      )
    } else if storage.revision(of: name) > revision {
      problem = (.current, "s-\(index) answers with \(revision), which is old")
    }
    answer(client, with: open.version, at: index)
  }

  /// Whether a server leads under the last lease, or under one that the storage has lost.
  func isLast(_ open: Server.Open) -> Bool {
    let name = open.lease.database
    return storage.grants[name]?.count == open.count
      || lostLeases[name]?.contains(open.count) == true
  }

  private mutating func serveNext(_ name: String, at index: Int) {
    while let open = servers[index].open[name], let client = open.waiting.first,
      open.underWay.count < (client.isWrite ? 3 : 1)
    {
      servers[index].open[name]?.waiting.removeFirst()
      serve(client, at: index)
    }
  }

  private mutating func opened(
    _ name: String,
    _ lease: Lease,
    count: Int,
    isValid: Bool,
    _ head: BatchPosition?,
    _ stored: StoredTree,
    at index: Int
  ) {
    guard servers[index].open[name]?.lease == lease else { return }
    guard isValid else {
      abandon(name, at: index, isTold: false)
      feed(index, .lost(name, lease, loss(at: index)))
      return
    }
    servers[index].open[name]?.isLoaded = true
    servers[index].open[name]?.head = head
    servers[index].open[name]?.version = SimulatedVersion(stored)
    servers[index].open[name]?.lineage = stored.lineage
    servers[index].open[name]?.count = count
    serveNext(name, at: index)
    leaveIfPossible(name, at: index)
  }

  private mutating func committed(
    _ name: String,
    _ lease: Lease,
    _ head: BatchPosition,
    _ isStored: Bool?,
    _ client: Client,
    at index: Int
  ) {
    guard let open = servers[index].open[name], open.lease == lease else { return retry(client) }
    guard isStored == true else {
      retry(client)
      mark(isStored == nil ? "unknown" : "deposed")
      abandon(name, at: index, isTold: false)
      return feed(index, .lost(name, lease, isStored == nil ? loss(at: index) : .outdated))
    }
    let acknowledged = mistake == .acknowledgedAhead ? open.underWay : [head]
    if let lost = acknowledged.first(where: { !storage.hasStored($0) }) {
      problem = (.durable, "commit \(lost.revision) is acknowledged, and not stored")
    }
    servers[index].open[name]?.underWay.removeAll { $0.revision <= head.revision }
    servers[index].open[name]?.head = head
    let version = open.version.next(head.number)
    servers[index].open[name]?.version = version
    tellFollowers(of: open, Commit(revision: head.revision, timestamp: head.number, changes: []))
    note(version, of: name, in: \.acknowledged)
    done(client)
    serveNext(name, at: index)
    leaveIfPossible(name, at: index)
  }

  /// Why a server has lost a database.
  private func loss(at index: Int) -> LeaseLoss {
    mistake == .silenceEndured || !servers[index].isStuck ? .outdated : .stuck
  }

  /// Closes a database without answering the clients that wait.
  private mutating func abandon(_ name: String, at index: Int, isTold: Bool = true) {
    let open = servers[index].open.removeValue(forKey: name)
    for client in open?.waiting ?? [] { retry(client) }
    endStreams(of: open)
    if isTold { mark("abandoned") }
    schedule(
      .at(server: index, run: servers[index].id, .closedAtOnce(name)),
      at: now + .milliseconds(Int.random(in: 1...60, using: &random))
    )
  }

  private mutating func leaveIfPossible(_ name: String, at index: Int) {
    guard let open = servers[index].open[name], open.isLeaving, open.underWay.isEmpty,
      open.isLoaded
    else { return }
    servers[index].open[name] = nil
    for client in open.waiting { retry(client) }
    endStreams(of: open)
    schedule(.at(server: index, run: servers[index].id, .closedAtOnce(name)), at: now)
  }

  // MARK: The storage

  mutating func send(_ request: Request, from index: Int) {
    // Some commits are in transit for longer than a lease, and followers read when they can connect.
    let longest =
      switch request {
      case .commit where now < Self.faultTime && Int.random(in: 0..<8, using: &random) == 0: 9_000
      case .read where now < Self.faultTime && Int.random(in: 0..<4, using: &random) == 0: 3_000
      case .announce, .acquire, .release, .load, .read, .commit, .withdraw: 30
      }
    let delay = Duration.milliseconds(Int.random(in: 1...longest, using: &random))
    var arrival = now + delay
    if case .commit(let lease, _, _, _) = request {
      arrival = max(arrival, servers[index].open[lease.database]?.arrival.there ?? .zero)
      servers[index].open[lease.database]?.arrival.there = arrival
    }
    schedule(.storage(server: index, run: servers[index].id, request, sent: now), at: arrival)
  }

  private mutating func ask(
    _ request: Request,
    from index: Int,
    run: ServerID,
    sent: Duration
  ) {
    let isStuck = servers[index].id == run && servers[index].isStuck && request.isForData
    let isCutOff = servers[index].id == run && servers[index].isCutOff || isStuck
    // A message sent before the network failed may or may not arrive.
    let arrives = !isCutOff || Int.random(in: 0..<4, using: &random) == 0
    let happening = arrives ? carryOut(request, from: index, run: run) : failure(of: request)
    // Occasionally an operation takes very long, and sometimes a response is lost.
    let oneIn =
      switch request {
      case .read: 4
      case .commit: 20
      case .announce, .acquire, .release, .load, .withdraw: 100
      }
    let isSlow = now < Self.faultTime && Int.random(in: 0..<oneIn, using: &random) == 0
    let delay = Int.random(in: isCutOff || isSlow ? 500...3_000 : 1...30, using: &random)
    let isAnswered = !isCutOff || !isStuck && Bool.random(using: &random)
    let answer = isAnswered ? happening : failure(of: request)
    guard var answer else { return }
    if case .input(let input, _) = answer { answer = .input(input, sent: sent) }
    var arrival = now + .milliseconds(delay)
    if case .commit(let lease, _, _, _) = request, servers[index].id == run,
      let open = servers[index].open[lease.database], open.lease == lease
    {
      arrival = max(arrival, open.arrival.here)
      servers[index].open[lease.database]?.arrival.here = arrival
    }
    schedule(.at(server: index, run: run, answer), at: arrival)
  }

  private func failure(of request: Request) -> Happening? {
    let error = StoreError(.failed, description: "cut off")
    switch request {
    case .announce: return .input(.announced(.failure(error)), sent: now)
    case .acquire(let name, _, _): return .input(.acquired(name, .failure(error)), sent: now)
    case .release(let lease, _): return .input(.released(lease.database), sent: now)
    case .load(let lease, _):
      return .opened(lease.database, lease, count: 0, isValid: false, nil, StoredTree())
    case .read(_, _, let stream): return .loaded(nil, stream: stream)
    case .commit(let lease, let next, _, let client):
      return .committed(lease.database, lease, next, nil, client)
    case .withdraw: return nil
    }
  }

  private mutating func carryOut(
    _ request: Request,
    from index: Int,
    run: ServerID
  ) -> Happening? {
    switch request {
    case .announce:
      let server = ClusterServer(id: run, host: "s-\(index)")
      let view = storage.announce(server, for: timing.lease, at: now)
      return .input(.announced(.success(view)), sent: now)
    case .acquire(let name, let ended, let history):
      let before = storage.grants[name]?.count
      let lease = storage.acquire(
        name,
        by: run,
        for: timing.lease,
        insteadOf: ended,
        knowing: history,
        at: now
      )
      // From now on nobody may answer under a lease that was lost.
      if storage.grants[name]?.count != before { lostLeases[name] = nil }
      return lease.map { .input(.acquired(name, .success($0)), sent: now) } ?? failure(of: request)
    case .release(let lease, let successor):
      storage.release(lease, to: successor, at: now)
      return .input(.released(lease.database), sent: now)
    case .load(let lease, let known):
      return .opened(
        lease.database,
        lease,
        count: storage.grants[lease.database]?.count ?? 0,
        isValid: storage.isCurrent(lease),
        storage.state.heads[lease.database],
        load(lease.database, knowing: known)
      )
    case .read(let name, let known, let stream):
      return .loaded(load(name, knowing: known), stream: stream)
    case .commit(let lease, let next, let head, let client):
      let before = storage.state.heads[lease.database]
      let isStored = storage.commit(next, after: head, under: lease)
      if isStored {
        if storage.grants[lease.database]?.holder != run {
          problem = (.fenced, "s-\(index) commits under lease \(lease.epoch), which is another's")
        } else if before?.id != head?.id {
          problem = (.fenced, "commit \(next.revision) follows another than it was made for")
        }
      }
      return .committed(lease.database, lease, next, isStored, client)
    case .withdraw:
      storage.withdraw(run)
      return nil
    }
  }
}

extension Leadership.Input {
  /// The same input, as if the time in transit did not count for the leases of a server.
  fileprivate func inflated(by time: Duration, for server: ServerID) -> Leadership.Input {
    switch self {
    case .announced(.success(var view)):
      for index in view.leases.indices where view.leases[index].holder == server {
        view.leases[index].duration += time
      }
      return .announced(.success(view))
    case .acquired(let name, .success(var lease)):
      if lease.holder == server { lease.duration += time }
      return .acquired(name, .success(lease))
    case .announced, .acquired, .asked, .released, .lost, .closed, .stop, .time: return self
    }
  }
}
