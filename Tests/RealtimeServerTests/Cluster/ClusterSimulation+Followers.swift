import TestSupport

@testable import RealtimeServer

/// Followers: servers that answer what clients read from copies of databases that others lead.
///
/// Each is told by its leader over a stream, whose messages arrive in order or not at all.
extension ClusterSimulation {
  /// A database that another server leads, and what is known of it.
  struct Copy {
    let stream: Int
    var machine = Following<Client>()
    var version = SimulatedVersion()
    /// The history that it was read from, which only a mistake relies on.
    var lineage: String?
  }

  /// What a leader tells a follower, and what that one asks.
  struct Stream {
    let database: String
    let follower: Int
    let follows: ServerID
    let leader: Int
    let leads: ServerID
    /// When the last message arrives at either end.
    var arrival = (there: Duration.zero, here: Duration.zero)
    var isBroken = false
    /// When the mark was asked for that the leader has confirmed last.
    var confirmed = Duration.zero
    var asked: [Int: Duration] = [:]
  }

  // MARK: Streams

  /// The streams that begin or end at a server.
  func streams(of index: Int) -> [Int] {
    streams.filter { _, stream in
      !stream.isBroken && (stream.follower == index || stream.leader == index)
    }.keys.sorted()
  }

  /// Loses what is under way over a stream; both ends notice it later.
  mutating func cut(_ number: Int?) {
    let working = streams.filter { !$0.value.isBroken }.keys.sorted()
    guard let number = number ?? working.randomElement(using: &random),
      streams[number]?.isBroken == false, let stream = streams[number]
    else { return }
    mark("cut")
    streams[number]?.isBroken = true
    for (index, run) in [(stream.follower, stream.follows), (stream.leader, stream.leads)] {
      let delay = Duration.milliseconds(Int.random(in: 5...6_000, using: &random))
      let end = Happening.streamEnded(number, isBroken: true)
      schedule(.at(server: index, run: run, end), at: now + delay)
    }
  }

  /// Sends a message over a stream.
  private mutating func send(_ happening: Happening, over number: Int, toLeader: Bool) {
    guard var stream = streams[number], !stream.isBroken else { return }
    let isSlow = now < Self.faultTime && Int.random(in: 0..<50, using: &random) == 0
    let arrival = now + .milliseconds(Int.random(in: 1...(isSlow ? 1_500 : 10), using: &random))
    if toLeader {
      stream.arrival.there = max(arrival, stream.arrival.there)
    } else {
      stream.arrival.here = max(arrival, stream.arrival.here)
    }
    streams[number] = stream
    let server = toLeader ? stream.leader : stream.follower
    let run = toLeader ? stream.leads : stream.follows
    schedule(
      .at(server: server, run: run, happening),
      at: toLeader ? stream.arrival.there : stream.arrival.here
    )
  }

  mutating func takeFromStream(_ happening: Happening, at index: Int) {
    switch happening {
    case .follow(let number): begin(number, at: index)
    case .asked(let mark, let number): confirm(mark, over: number, at: index)
    case .told(let message, let number):
      guard streams[number]?.isBroken == false else { return }
      perform(over: number, at: index) { [mistake] machine in
        if mistake == .readingUnheard, case .commits = message, !machine.isFollowing { return [] }
        return machine.receive(message, bytes: 1)
      }
    case .loaded(let stored, let number):
      perform(over: number, at: index) { [mistake] machine in
        if mistake == .readAhead, let revision = stored?.revision {
          let last = Commit(revision: revision, timestamp: 0, changes: [])
          _ = machine.receive(.commits([last]), bytes: 1)
        }
        return machine.loaded(stored)
      }
    case .turnEnded(let number):
      guard let name = streams[number]?.database, servers[index].copies[name]?.stream == number,
        let mark = servers[index].copies[name]?.machine.turnEnded()
      else { return }
      streams[number]?.asked[mark] = now
      send(.asked(mark: mark, stream: number), over: number, toLeader: true)
    case .streamEnded(let number, let isBroken):
      if isBroken, mistake == .streamResumed {
        streams[number]?.isBroken = false
        return
      }
      if streams[number]?.follower == index {
        perform(over: number, at: index) { $0.leaderChanged(because: "the stream has ended") }
      } else if let name = streams[number]?.database {
        servers[index].open[name]?.followers.removeAll { $0 == number }
      }
    case .timer, .input, .opened, .committed, .closedAtOnce, .client: break
    }
  }

  // MARK: Leaders

  private mutating func begin(_ number: Int, at index: Int) {
    guard let stream = streams[number], !stream.isBroken else { return }
    guard let open = servers[index].open[stream.database], open.isLoaded, !open.isLeaving,
      servers[index].clock(now) < open.until
    else { return send(.streamEnded(number, isBroken: false), over: number, toLeader: false) }
    servers[index].open[stream.database]?.followers.append(number)
    tell(.beginning(revision: open.head?.revision ?? 0, lineage: open.lineage), over: number)
  }

  private mutating func confirm(_ mark: Int, over number: Int, at index: Int) {
    guard let stream = streams[number], !stream.isBroken,
      let open = servers[index].open[stream.database], open.followers.contains(number),
      !open.isLeaving, mistake == .leaseNotAsked || servers[index].clock(now) < open.until
    else { return }
    if !isLast(open) {
      problem = (.confirmed, "s-\(index) confirms under lease \(open.lease.epoch), which is over")
    }
    streams[number]?.confirmed = stream.asked[mark] ?? .zero
    tell(.mark(mark), over: number)
  }

  mutating func tellFollowers(of open: Server.Open, _ commit: Commit) {
    for number in open.followers {
      if mistake == .toldLate {
        let delay = Duration.milliseconds(Int.random(in: 1...200, using: &random))
        schedule(.tell(commit, stream: number), at: now + delay)
      } else {
        tell(.commits([commit]), over: number)
      }
    }
  }

  mutating func tell(_ message: FollowerMessage, over number: Int) {
    send(.told(message, stream: number), over: number, toLeader: false)
  }

  mutating func endStreams(of open: Server.Open?) {
    for number in open?.followers ?? [] {
      send(.streamEnded(number, isBroken: false), over: number, toLeader: false)
    }
  }

  // MARK: Copies

  /// Begins to follow a database, if a client reads it here that another server leads.
  mutating func considerFollowing(_ client: Client, _ leader: ClusterServer, at index: Int) {
    let name = client.database
    guard !client.isWrite, servers[index].copies[name] == nil,
      now >= servers[index].unfollowed[name] ?? .zero, let host = Int(leader.host.dropFirst(2)),
      Bool.random(using: &random)
    else { return }
    runs += 1
    streams[runs] = Stream(
      database: name,
      follower: index,
      follows: servers[index].id,
      leader: host,
      leads: leader.id
    )
    servers[index].copies[name] = Copy(stream: runs)
    if servers[host].id == leader.id, !servers[host].isDead {
      send(.follow(stream: runs), over: runs, toLeader: true)
    } else {
      cut(runs)
    }
  }

  /// Ends a copy that was told by another server than the one that leads now.
  mutating func leaderChanged(of name: String, to leader: ServerID, at index: Int) {
    guard let number = servers[index].copies[name]?.stream, streams[number]?.leads != leader else {
      return
    }
    perform(over: number, at: index) { $0.leaderChanged(because: "another server leads it") }
  }

  /// Forgets the copies of a server that has died, and breaks its streams.
  mutating func loseCopies(at index: Int) {
    for name in servers[index].copies.keys.sorted() {
      guard let number = servers[index].copies[name]?.stream else { continue }
      perform(over: number, at: index) { $0.end(.unneeded, because: "the server has died") }
    }
    for number in streams(of: index) { cut(number) }
  }

  /// Has a read answered from a copy; returns whether there is one.
  mutating func isAskingCopy(_ client: Client, at index: Int) -> Bool {
    guard !client.isWrite, let copy = servers[index].copies[client.database],
      copy.machine.isFollowing
    else { return false }
    if mistake == .markLeftOut {
      answer(client, from: copy, at: index)
    } else {
      perform(over: copy.stream, at: index) { $0.ask(client) }
    }
    return true
  }

  private mutating func perform(
    over number: Int,
    at index: Int,
    _ event: (inout Following<Client>) -> [Following<Client>.Output]
  ) {
    guard let name = streams[number]?.database, servers[index].copies[name]?.stream == number,
      var machine = servers[index].copies[name]?.machine
    else { return }
    let outputs = event(&machine)
    servers[index].copies[name]?.machine = machine
    for output in outputs { perform(output, of: name, at: index) }
  }

  private mutating func perform(
    _ output: Following<Client>.Output,
    of name: String,
    at index: Int
  ) {
    guard let copy = servers[index].copies[name] else { return }
    switch output {
    case .load:
      send(
        .read(name, knowing: servers[index].known[name], stream: copy.stream),
        from: index
      )
    case .begin(let stored):
      servers[index].copies[name]?.version = SimulatedVersion(stored)
      servers[index].copies[name]?.lineage = stored.lineage
    case .commit(let commits):
      var version = copy.version
      for commit in commits {
        if mistake == .commitSkipped, Int.random(in: 0..<8, using: &random) == 0 { continue }
        version = version.next(commit.timestamp)
      }
      if problem == nil, !storage.hasStored(version) || version.revision != commits.last?.revision {
        problem = (.ordered, "s-\(index) copies \(version.revision) otherwise than it was stored")
      }
      servers[index].copies[name]?.version = version
    case .takeOver: mark("copy")
    case .awaitEndOfTurn:
      let delay = Duration.milliseconds(Int.random(in: 0...5, using: &random))
      schedule(
        .at(server: index, run: servers[index].id, .turnEnded(stream: copy.stream)),
        at: now + delay
      )
    case .answer(let clients): for client in clients { answer(client, from: copy, at: index) }
    case .refuse(let client): retry(client)
    case .setRules: break
    case .end(let ending, let clients, _):
      servers[index].copies[name] = nil
      streams[copy.stream]?.isBroken = true
      switch ending {
      case .leaderChanged(let lineage):
        guard let named = mistake == .lineageAssumed ? copy.lineage : lineage else { break }
        let held = copy.version.stored(in: named)
        if problem == nil, !storage.isRightlyNamed(held, of: name) {
          problem = (.ordered, "s-\(index) would go on with \(held.revision), which is lost")
        }
        servers[index].known[name] = held
      case .fault:
        mark("copy failed")
        servers[index].unfollowed[name] = now + .seconds(15)
      case .unneeded: break
      }
      for client in clients { retry(client) }
    }
  }

  // MARK: Reads

  /// Reads a database in the storage.
  mutating func load(_ name: String, knowing known: StoredTree?) -> StoredTree {
    if let known { mark(storage.logReaches(back: known, of: name) ? "caught up" : "read anew") }
    return storage.load(name, since: known)
  }

  private mutating func answer(_ client: Client, from copy: Copy, at index: Int) {
    mark("copy read")
    if client.begin > Self.faultTime + .seconds(15) { quietCopyReads += 1 }
    if let stream = streams[copy.stream], stream.confirmed < client.arrival {
      problem = (.confirmed, "s-\(index) answers a read that its leader has confirmed nothing for")
    }
    answer(client, with: copy.version, at: index)
  }

  /// Answers a read, from a copy or at the leader.
  mutating func answer(_ client: Client, with version: SimulatedVersion, at index: Int) {
    let name = client.database
    if problem == nil, !storage.hasStored(version) {
      problem = (.ordered, "s-\(index) has \(version.revision) otherwise than it was stored")
    }
    for (promise, floor) in [
      (ClusterPromise.fresh, client.acknowledged), (.monotonic, client.seen),
    ] where problem == nil {
      let left = storage.survivor(of: floor, in: name)
      guard !storage.includes(left, in: version) else { continue }
      problem = (promise, "s-\(index) answers with \(version.revision) after \(left.revision)")
    }
    note(version, of: name, in: \.read)
    done(client)
  }

  /// Notes a state that was acknowledged or read, unless a newer one is known.
  mutating func note(
    _ version: SimulatedVersion,
    of name: String,
    in list: WritableKeyPath<ClusterSimulation, [String: SimulatedVersion]>
  ) {
    let last = storage.survivor(of: self[keyPath: list][name] ?? version, in: name)
    if storage.survivor(of: version, in: name).revision >= last.revision {
      self[keyPath: list][name] = version
    }
  }
}
