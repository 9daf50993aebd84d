import Foundation
private import NIOConcurrencyHelpers
private import NIOCore
private import RealtimeCore
import RealtimeTransport

/// Several servers of a swarm, and the PostgreSQL that they share.
///
/// Clients know the address of a load balancer. Each server announces its own address, and reaches
/// PostgreSQL through its own proxy. Both can be cut without the load balancer knowing.
package actor SwarmCluster {
  /// Looks up in the store at an address which host the leader of the database announces; nil while
  /// there is none.
  package typealias LeaderLookup = @Sendable (_ store: String) throws -> String?

  /// A server, and the proxies on either side of it.
  struct Member: Sendable {
    let server: SwarmServer
    /// Between clients and the server.
    let network: FaultyNetwork
    /// Between the server and PostgreSQL.
    let way: FaultyNetwork
    let host: String
    let target: ConnectionTarget
    let socket: String
  }

  private struct Attention {
    var leader: Int?
    var frozen: Set<Int> = []
    var isOver = false
  }

  /// How long it may take until a server leads the database.
  private static let patience = Duration.seconds(60)
  /// How often the leader is looked up.
  private static let interval = Duration.milliseconds(200)
  /// How late messages arrive on connections that a fault delays.
  private static let delay = TimeAmount.milliseconds(300)

  /// The address of the store, without a proxy.
  nonisolated let store: String
  /// The port of the load balancer.
  nonisolated let port: Int
  nonisolated let members: [Member]
  private let postgres: PostgresServer
  private let front: FaultyNetwork
  private let history: HistoryWriter
  private let lookup: LeaderLookup
  private nonisolated let attention = NIOLockedValueBox(Attention())
  /// What leaders did when they woke after their lease had expired.
  private(set) var awakenings = Awakenings()
  private var isPostgresDown = false

  /// Starts PostgreSQL and the servers, one of which leads.
  init(
    _ count: Int,
    for seconds: Double,
    in directory: String,
    rules: String,
    history: HistoryWriter,
    lookup: @escaping LeaderLookup,
    tell: @escaping @Sendable (String) -> Void
  ) async throws {
    self.history = history
    self.lookup = lookup
    tell("starting a PostgreSQL and \(count) servers")
    (postgres, store) = try await Blocking.run { () throws -> (PostgresServer, String) in
      do {
        let postgres = try PostgresServer()
        return (postgres, try postgres.makeDatabase())
      } catch {
        throw SwarmProblem("there is no PostgreSQL for the servers: \(error)")
      }
    }
    var files = SwarmServer.Files(directory: directory, rules: rules)
    // A server that leads nothing may have no clients throughout the run.
    files.idleSeconds = 600 + Int(seconds)
    var members: [Member] = []
    for number in 0..<count {
      members.append(
        try await Self.member(
          number,
          files: files,
          postgres: postgres,
          store: store,
          history: history
        )
      )
    }
    self.members = members
    front = FaultyNetwork(
      toAnyOf: members.map { .tcp(host: "127.0.0.1", port: $0.network.port) }
    )
    port = try front.open()
    do {
      try await begin()
    } catch {
      _ = await stop()
      throw error
    }
  }

  private static func member(
    _ number: Int,
    files: SwarmServer.Files,
    postgres: PostgresServer,
    store: String,
    history: HistoryWriter
  ) async throws -> Member {
    let network = FaultyNetwork()
    let host = "127.0.0.1:\(try network.open())"
    let way = try FaultyNetwork(to: postgres.port)
    var files = files
    files.name = "server\(number)"
    files.sharing = (way.url(of: store), host)
    let server = SwarmServer(files, history: history)
    do {
      try await server.start()
      network.aim(at: await server.port)
    } catch {
      _ = await server.stop()
      throw error
    }
    return Member(
      server: server,
      network: network,
      way: way,
      host: host,
      target: ConnectionTarget(unixSocket: files.socket, namespace: "hearth"),
      socket: files.socket
    )
  }

  /// Makes one of the servers lead the database, and keeps track of the leader from then on.
  private func begin() async throws {
    let deadline = Moment.now.advanced(by: Self.patience)
    while (try? await admin.get("/swarm-probe")) == nil {
      guard Moment.now < deadline else {
        throw SwarmProblem("none of the servers leads the database; see their logs")
      }
      await Pause.lasting(.milliseconds(100))
    }
    Task { [weak self, attention] in
      while !attention.withLockedValue(\.isOver) {
        await self?.look()
        await Pause.lasting(Self.interval)
      }
    }
  }

  /// Reports to an observer whatever may have broken connections.
  func attach(_ observer: LogObserver) async {
    for member in members { await member.server.attach(observer) }
  }

  // MARK: Who leads

  private func look() async {
    if isPostgresDown { return }
    guard let host = try? await Blocking.run({ [lookup, store] in try lookup(store) }) else {
      return
    }
    attention.withLockedValue { $0.leader = members.firstIndex { $0.host == host } }
  }

  /// The sockets of the servers that are not frozen, the leader's first.
  private nonisolated var answering: [ConnectionTarget] {
    let (leader, frozen) = attention.withLockedValue { ($0.leader, $0.frozen) }
    let others = members.indices.filter { $0 != leader }
    return ((leader.map { [$0] } ?? []) + others).filter { !frozen.contains($0) }
      .map { members[$0].target }
  }

  /// An administrator's client that finds the leader.
  nonisolated var admin: AdminClient {
    AdminClient(members[0].target, orAnyOf: { [weak self] in self?.answering ?? [] })
  }

  /// The server that a fault hits: usually the leader, since the others do little.
  private func victim(of fault: PlannedFault) async -> (number: Int, isLeader: Bool) {
    await look()
    let leader = attention.withLockedValue(\.leader)
    // Freezing a server that does not lead has no visible effect.
    if let leader, fault.strength < 80 || fault.kind == .freeze { return (leader, true) }
    let number = fault.process % members.count
    return (number, number == leader)
  }

  /// The process ID of the leader; nil while there is none.
  var leadingProcess: pid_t? {
    get async {
      guard let leader = attention.withLockedValue(\.leader) else { return nil }
      return await members[leader].server.processID
    }
  }

  var states: [ServerState] {
    get async {
      let (leader, frozen) = attention.withLockedValue { ($0.leader, $0.frozen) }
      var states: [ServerState] = []
      for (number, member) in members.enumerated() {
        if await member.server.processID == nil {
          states.append(.down)
        } else if frozen.contains(number) {
          states.append(.frozen)
        } else {
          states.append(number == leader ? .leads : .up)
        }
      }
      return states
    }
  }

  /// How often servers were killed or ended on their own.
  var ends: Int {
    get async {
      var sum = 0
      for member in members { sum += await member.server.ends }
      return sum
    }
  }

  // MARK: Faults

  /// Injects a planned fault and reverts it when its time is over; false if it cannot be injected.
  func perform(_ fault: PlannedFault) async throws -> Bool {
    switch fault.kind {
    case .kill:
      let server = members[await victim(of: fault).number].server
      guard await server.processID != nil else { return false }
      try await server.killAndRestart(after: fault.duration)
    case .freeze: return await freeze(for: fault)
    case .partition: await cutOff(await victim(of: fault).number, for: fault)
    case .delay:
      // The copies of the database then differ in age.
      let network = members[await victim(of: fault).number].network
      network.set(.uneven(Self.delay))
      await Pause.lasting(fault.duration)
      network.set(.sound)
    case .postgres: try await restartPostgres(fault)
    case _: return false
    }
    return true
  }

  /// Cuts a server off from PostgreSQL or from its clients.
  private func cutOff(_ number: Int, for fault: PlannedFault) async {
    let start = Moment.now
    let member = members[number]
    if fault.strength.isMultiple(of: 2) {
      member.way.set(fault.strength.isMultiple(of: 4) ? .silent : .cut)
      await Pause.lasting(fault.duration)
      member.way.set(.sound)
    } else {
      member.network.set(.cut)
      await Pause.lasting(fault.duration)
      member.network.set(.sound)
    }
    await member.server.noteChange(since: start)
  }

  private func restartPostgres(_ fault: PlannedFault) async throws {
    guard !isPostgresDown else { return }
    let start = Moment.now
    isPostgresDown = true
    defer { isPostgresDown = false }
    try await Blocking.run { [postgres] in
      postgres.stop(isCrash: fault.strength.isMultiple(of: 2))
      usleep(UInt32(fault.lasting))
      try postgres.start()
    }
    await members[0].server.noteChange(since: start)
  }

  /// Freezes a server for longer than its lease, and examines what it says and does when it wakes.
  private func freeze(for fault: PlannedFault) async -> Bool {
    let (number, isLeader) = await victim(of: fault)
    let isFirst = attention.withLockedValue { $0.frozen.insert(number).inserted }
    guard isFirst, let process = await members[number].server.processID else { return false }
    let start = Moment.now
    let probe = WakeProbe(number: fault.at, admin: admin, history: history)
    let line = isLeader ? await probe.connect(to: members[number].socket) : nil
    await members[number].server.send(SIGSTOP)
    await Self.waitUntilFrozen(process)
    await Pause.lasting(fault.duration)
    // The freeze counts only if another server leads by now, which this write shows.
    let isDeposed = await probe.write(within: .seconds(15))
    if isDeposed, let line { probe.ask(on: line) }
    // The requests wait in the socket of the frozen process until it wakes.
    await Pause.lasting(.milliseconds(200))
    await members[number].server.send(SIGCONT)
    attention.withLockedValue { _ = $0.frozen.remove(number) }
    if isDeposed, let line {
      awakenings.add(await probe.judge(line, of: "server \(number)"))
    }
    await members[number].server.noteChange(since: start)
    return true
  }

  /// Waits until every thread of a process has stopped, which happens after the signal returns.
  private static func waitUntilFrozen(_ process: pid_t) async {
    let tasks = "/proc/\(process)/task"
    for _ in 0..<200 {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      let areFrozen = threads.allSatisfy { thread in
        let state = try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)
        return state?.split(separator: ")").last?.hasPrefix(" T") ?? true
      }
      if areFrozen { return }
      await Pause.lasting(.milliseconds(10))
    }
  }

  // MARK: The end

  /// Reverts all faults.
  func recover() async throws {
    for member in members {
      await member.server.send(SIGCONT)
      member.way.set(.sound)
      member.network.set(.sound)
      try await member.server.recover()
    }
  }

  /// Kills the leader, and waits until all servers run.
  func killLeaderAndRestart() async throws {
    await look()
    let leader = attention.withLockedValue(\.leader) ?? 0
    try await members[leader].server.killAndRestart(after: .zero)
  }

  /// Ends the servers as their operator would, and returns the first status that is not 0.
  func stop() async -> Int32 {
    attention.withLockedValue { $0.isOver = true }
    var statuses: [Int32] = []
    for member in members {
      await member.server.send(SIGCONT)
      statuses.append(await member.server.stop())
      member.network.close()
    }
    front.close()
    return statuses.first { $0 != 0 } ?? 0
  }
}
