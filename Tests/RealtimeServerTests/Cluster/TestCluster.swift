import Dispatch
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// Several servers in this process that share a storage in memory.
final class TestCluster: Sendable {
  /// A server, its clock, and its connection to the storage.
  struct Member: Sendable {
    let server: DatabaseServer
    let store: CuttableStore
    let clock: LeapingClock
    let log: NIOLockedValueBox<[String]>

    func hasLogged(_ text: String) -> Bool {
      log.withLockedValue { $0.contains { $0.contains(text) } }
    }

    /// The identifier of its run.
    var run: String {
      get async throws {
        let core = server.core
        return try await core.eventLoop.submit { core.value.leaders?.id ?? "" }.get()
      }
    }

    var host: String { "127.0.0.1:\(server.port ?? 0)" }

    /// What a server serves of a database.
    struct Serving {
      /// Whether it is a copy.
      var isFollowed = false
      /// The sessions, with those of other servers' clients.
      var sessions = 0
      var listens = 0
      /// The sessions that the rules have allowed nothing.
      var strangers = 0
      /// The sessions of users who have signed in.
      var signedIn = 0
    }

    /// A part of what the server serves of a database.
    func serves<Value: Sendable>(
      _ part: @escaping @Sendable (Serving) -> Value,
      of name: String = "hearth"
    ) async throws -> Value {
      let core = server.core
      return try await core.eventLoop.submit {
        var serving = Serving(isFollowed: core.value.replicas[name]?.core != nil)
        for database in core.value.served where database.name == name {
          serving.sessions += database.sessions.count
          serving.listens += database.hub.listenCount
          serving.signedIn += database.sessions.keys.count {
            database.hub.limitedUser(of: $0) != nil
          }
          serving.strangers += database.sessions.keys.count {
            database.hub.access.hasDoneNothing($0)
          }
        }
        return part(serving)
      }.get()
    }
  }

  let storage: MemoryClusterStore
  private let all = NIOLockedValueBox<[Member]>([])
  private let accounts = MemoryIdentityStore()
  private let redirects: Bool
  private let followClients: Int

  var members: [Member] { all.withLockedValue { $0 } }

  /// Starts servers with short leases, so that tests need not wait long.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - databases: Databases that exist from the start.
  ///   - redirects: Whether they send clients to the leader, rather than forward what they say.
  ///   - followClients: The number of forwarded clients from which they follow a database.
  /// - Throws: What keeps a server from starting, or a `StoreError` if they do not meet in time.
  init(
    _ count: Int = 2,
    databases: [String] = [],
    redirects: Bool = false,
    followClients: Int = ServerLimits().followClients
  ) async throws {
    self.redirects = redirects
    self.followClients = followClients
    storage = MemoryClusterStore { LeapingClock.real }
    afterTest { for member in self.members { await member.server.stop() } }
    for name in databases { _ = storage.create(name) }
    for _ in 0..<count { try await add() }
    // Later responses to each server's announcements include all the others.
    let counts = members.map(\.store.answers)
    try await until("the servers know each other") {
      zip(self.members, counts).allSatisfy { $0.store.answers >= $1 + 2 }
    }
  }

  /// How a leader is lost.
  enum Loss: String, CaseIterable {
    /// The leader cannot reach the storage.
    case cut
    /// An administrator moves the database.
    case move
    /// The leader is stopped.
    case stop
  }

  /// Has the leader of the default database lost, and returns the next one: not `other`, if the
  /// database is moved.
  func lose(_ leader: Member, by loss: Loss, askedAt other: Member) async throws -> Member {
    switch loss {
    case .cut: leader.store.cut()
    case .move:
      let hosts = [leader.host, other.host]
      let next = try #require(storage.view().servers.first { !hosts.contains($0.host) })
      storage.move("hearth", to: next.id)
    case .stop: await leader.server.stop()
    }
    let deadline = NIODeadline.now() + .seconds(20)
    while NIODeadline.now() < deadline {
      let view = storage.view()
      let holder = view.leases.first { $0.database == "hearth" }?.holder
      let host = view.servers.first { $0.id == holder }?.host
      if let host, host != leader.host, let next = members.first(where: { $0.host == host }) {
        return next
      }
      if loss != .move { _ = try? await ask(other, "GET", "/.json") }
    }
    throw StoreError(.failed, description: "nobody has followed the leader")
  }

  /// Waits until a condition holds.
  func until(_ what: String, _ isSo: @escaping @Sendable () -> Bool) async throws {
    let deadline = NIODeadline.now() + .seconds(20)
    while !isSo() {
      guard NIODeadline.now() < deadline else {
        throw StoreError(.failed, description: "not in time: \(what)")
      }
      try await MultiThreadedEventLoopGroup.singleton.next()
        .scheduleTask(in: .milliseconds(5)) {}.futureResult.get()
    }
  }

  /// Starts another server, whose clock may be ahead of the storage's.
  @discardableResult
  func add(
    ahead: Duration = .zero,
    rest: Duration = LeaseTiming().rest
  ) async throws -> Member {
    let store = CuttableStore(storage)
    let clock = LeapingClock()
    clock.leap(by: ahead)
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.leadership.lease = .milliseconds(1_500)
    options.leadership.renewal = .milliseconds(300)
    options.leadership.margin = .milliseconds(300)
    options.leadership.rest = rest
    options.redirectsClients = redirects
    options.limits.followClients = followClients
    options.identities.openStore = { [accounts] in accounts }
    let log = NIOLockedValueBox<[String]>([])
    let server = try await DatabaseServer.start(
      options,
      stores: store,
      logger: .collecting(log),
      uptime: clock.now
    )
    let member = Member(server: server, store: store, clock: clock, log: log)
    all.withLockedValue { $0.append(member) }
    return member
  }

  /// Sends a request over a new connection.
  func ask(
    _ member: Member,
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = []
  ) async throws -> HTTPProbeAnswer {
    let http = try await HTTPProbe(try member.server.address)
    let answer = try await http.request(method, target, body, lines: lines)
    await http.close()
    return answer
  }

  /// Sends a request over a new connection, and expects the status or the body of its response.
  @discardableResult
  func ask(
    _ member: Member,
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = [],
    gives expected: some Expectation,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> HTTPProbeAnswer {
    try await ask(member, method, target, body, lines: lines)
      .giving(expected, to: "\(method) \(target)", sourceLocation)
  }

  /// Creates an account.
  ///
  /// - Returns: Its token.
  func signUp(at member: Member) async throws -> String {
    let answer = try await askAccounts("signUp", #"{"returnSecureToken":true}"#, at: member)
    return try #require(try JSONParser.parse(Array(answer.body.utf8))["idToken"]?.string)
  }

  func deleteAccount(of token: String, at member: Member) async throws {
    let answer = try await askAccounts("delete", #"{"idToken":"\#(token)"}"#, at: member)
    #expect(answer.status == 200)
  }

  private func askAccounts(
    _ action: String,
    _ body: String,
    at member: Member
  ) async throws -> HTTPProbeAnswer {
    try await ask(
      member,
      "POST",
      "/identitytoolkit.googleapis.com/v1/accounts:\(action)?key=k",
      body,
      lines: ["Content-Type: application/json"]
    )
  }

  /// The server that leads a database, and the others, as soon as there is a leader.
  func leader(of name: String = "hearth") async throws -> (leader: Member, others: [Member]) {
    let deadline = NIODeadline.now() + .seconds(20)
    while NIODeadline.now() < deadline {
      let view = storage.view()
      if let lease = view.leases.first(where: { $0.database == name }),
        let host = view.servers.first(where: { $0.id == lease.holder })?.host,
        let leader = members.first(where: { $0.host == host }),
        try await ask(leader, "GET", "/.json?ns=\(name)&shallow=true").status == 200,
        // The answer may come from the next leader, to which this one forwards.
        storage.view().leases.contains(where: { $0.id == lease.id })
      {
        return (leader, members.filter { $0.host != host })
      }
      // A database is led only once a client has requested it. Some may have stopped.
      for member in members { _ = try? await ask(member, "GET", "/.json?ns=\(name)") }
    }
    throw StoreError(.failed, description: "nobody leads \(name)")
  }

  /// The server that leads the default database, and one that does not.
  func pair() async throws -> (leader: Member, other: Member) {
    let (leader, others) = try await leader()
    return (leader, try #require(others.first))
  }

  /// Has every server that does not lead a database follow it.
  func followEverywhere(_ name: String = "hearth") async throws {
    for member in try await leader(of: name).others {
      let client = try await connect(member, to: name)
      _ = try await client.next()
      try await follow(name, at: member)
      client.close()
    }
  }

  /// Waits until a server has a copy of a database.
  func follow(_ name: String = "hearth", at member: Member) async throws {
    try await eventually { try await member.serves({ $0.isFollowed }, of: name) }
  }

  /// Waits until a server answers a request for data with a text.
  func expect(_ target: String, _ body: String, at member: Member) async throws {
    let deadline = NIODeadline.now() + .seconds(20)
    var last = ""
    while last != body, NIODeadline.now() < deadline {
      last = try await ask(member, "GET", target).body
    }
    #expect(last == body)
  }

  /// A client of a server that has been greeted.
  func client(at member: Member, goingOnFrom session: String? = nil) async throws -> ClientProbe {
    let client = try await connect(member, goingOnFrom: session)
    try await client.expect(#""t":"h""#)
    return client
  }

  /// A client that knows only this server's address, and may say which session it has had before.
  func connect(
    _ member: Member,
    to name: String = "hearth",
    goingOnFrom session: String? = nil
  ) async throws -> ClientProbe {
    try await member.server.connect(to: name, lastSession: session)
  }
}

/// A clock that can leap, like that of a process that was suspended.
final class LeapingClock: Sendable {
  private let leap = NIOLockedValueBox(Duration.zero)

  static var real: Duration { .nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds)) }

  @Sendable func now() -> Duration { Self.real + leap.withLockedValue { $0 } }

  func leap(by duration: Duration) { leap.withLockedValue { $0 += duration } }
}

/// A connection to a storage, which can be cut.
final class CuttableStore: ClusterStore {
  private let storage: MemoryClusterStore
  private let obstacle = NIOLockedValueBox<StoreError.Kind?>(nil)
  private let isAwaitingStandby = NIOLockedValueBox(false)
  /// Held by whoever announces a server, or keeps announcements from being answered.
  private let announcing = DispatchSemaphore(value: 1)
  private let isStuck = NIOLockedValueBox(false)
  private let refusedLeases = NIOLockedValueBox<(kind: StoreError.Kind, count: Int)?>(nil)
  private let isDamaged = NIOLockedValueBox(false)
  private let opened = NIOLockedValueBox(0)
  private let isHidden = NIOLockedValueBox(false)
  private let read = NIOLockedValueBox(0)
  private let answered = NIOLockedValueBox(0)

  /// The number of announcements that were answered.
  var answers: Int { answered.withLockedValue { $0 } }

  init(_ storage: MemoryClusterStore) {
    self.storage = storage
  }

  /// Nothing is answered any more, or everything refused.
  ///
  /// - Parameters:
  ///   - kind: The kind of error that everything ends with.
  ///   - standby: Whether the storage is known to wait for a standby.
  func cut(by kind: StoreError.Kind = .unreachable, waitingForStandby standby: Bool = false) {
    isAwaitingStandby.withLockedValue { $0 = standby }
    obstacle.withLockedValue { $0 = kind }
  }

  var activity: StorageActivity {
    var activity = StorageActivity()
    activity.isAwaitingStandby = isAwaitingStandby.withLockedValue { $0 }
    return activity
  }

  func mend() { obstacle.withLockedValue { $0 = nil } }

  /// Announcements are not answered until they are resumed.
  func suspend() { announcing.wait() }

  func resume() { announcing.signal() }

  /// Nothing is stored or read any more, while leases are still renewed.
  func stick() { isStuck.withLockedValue { $0 = true } }

  /// Leases are refused, while servers are still announced.
  func refuseLeases(because kind: StoreError.Kind) {
    refusedLeases.withLockedValue { $0 = (kind, 0) }
  }

  /// How many leases have been refused.
  var refusals: Int { refusedLeases.withLockedValue { $0?.count ?? 0 } }

  /// The data of all databases can no longer be read, or can be again.
  func damage(_ isSo: Bool = true) { isDamaged.withLockedValue { $0 = isSo } }

  /// Databases can no longer be read without a lease.
  func hide() { isHidden.withLockedValue { $0 = true } }

  /// How often a database was read without a lease.
  var readings: Int { read.withLockedValue { $0 } }

  /// How often a database was opened.
  var openings: Int { opened.withLockedValue { $0 } }

  private func reach() throws -> MemoryClusterStore {
    if let kind = obstacle.withLockedValue({ $0 }) {
      throw StoreError(kind, description: "the way is cut")
    }
    return storage
  }

  func names() throws -> [String] { try reach().names() }
  func create(_ name: String) throws -> Bool { try reach().create(name) }
  func database(_ name: String) -> any StoredDatabase {
    read.withLockedValue { $0 += 1 }
    return isHidden.withLockedValue { $0 } ? MemoryDatabase(store: nil) : storage.database(name)
  }

  func view() throws -> ClusterView { try reach().view() }

  func open(_ name: String) throws -> (any TreeStore)? {
    throw StoreError(.failed, description: "\(name) was opened without a lease")
  }

  func announce(_ server: ClusterServer, for duration: Duration) throws -> ClusterView {
    announcing.wait()
    announcing.signal()
    let view = try reach().announce(server, for: duration)
    answered.withLockedValue { $0 += 1 }
    return view
  }

  func acquire(
    _ database: String,
    by server: ServerID,
    for duration: Duration,
    insteadOf ended: LeaseMark?,
    knowing history: StorageHistory?
  ) throws -> Lease {
    let refused = refusedLeases.withLockedValue { refused in
      refused?.count += 1
      return refused?.kind
    }
    if let refused { throw StoreError(refused, description: "it is refused") }
    return try reach()
      .acquire(database, by: server, for: duration, insteadOf: ended, knowing: history)
  }

  func release(_ lease: Lease, to successor: ServerID?) throws {
    try reach().release(lease, to: successor)
  }

  func open(_ lease: Lease) throws -> any TreeStore {
    opened.withLockedValue { $0 += 1 }
    if isDamaged.withLockedValue({ $0 }) { throw StoreError(.damaged, description: "damaged") }
    return CuttableTree(store: try reach().open(lease)) {
      _ = try self.reach()
      if self.isStuck.withLockedValue({ $0 }) { throw StoreError(.failed, description: "stuck") }
    }
  }

  func move(_ database: String, to server: ServerID) throws {
    try reach().move(database, to: server)
  }

  func withdraw(_ server: ServerID) throws { try reach().withdraw(server) }

  private struct CuttableTree: TreeStore {
    let store: any TreeStore
    let check: @Sendable () throws -> Void

    func load() throws -> StoredTree {
      try check()
      return try store.load()
    }

    func load(since known: StoredTree) throws -> StoredTree {
      try check()
      return try store.load(since: known)
    }

    func commit(_ batch: CommitBatch) throws {
      try check()
      try store.commit(batch)
    }

    func close() throws { try store.close() }
  }
}
