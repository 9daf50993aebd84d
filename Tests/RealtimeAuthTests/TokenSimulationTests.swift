import RealtimeCore
import RealtimeDatabase
import TestSupport
import Testing

@testable import RealtimeAuth
@testable import RealtimeServer

@Suite("Simulation: ten minutes with two-second tokens")
struct TokenSimulationTests {
  @Test("No listener is lost, and no event is missed or repeated", arguments: Thoroughness.seeds(4))
  func steady(seed: UInt64) {
    var simulation = TokenSimulation(seed: seed)
    simulation.run(for: 600_000)
    #expect(simulation.problems.isEmpty)
    #expect(simulation.told == simulation.written)
    #expect(simulation.written.count > 10_000)
    #expect(simulation.refreshes > 300)
    // Each token is replaced before it expires at the server, on the existing connection.
    #expect(simulation.refusals == 0)
    #expect(simulation.connections == 1)
  }

  @Test(
    "Nothing is lost when the auth server is unreachable and tokens expire",
    arguments: Thoroughness.seeds(4)
  )
  func outages(seed: UInt64) {
    let outages = (0..<12).map { number -> Range<Int64> in
      let start = 1_010_000 + Int64(number) * 45_000
      return start..<start + 1_000 + Int64(number) * 700
    }
    var simulation = TokenSimulation(seed: seed, outages: outages)
    simulation.run(for: 600_000)
    #expect(simulation.problems.isEmpty)
    #expect(simulation.told == simulation.written)
    #expect(simulation.refusals > 3)
    #expect(simulation.connections > 3)
  }
}

/// A client with tokens that expire after two seconds, its accounts and a server, on a simulated
/// network in virtual time.
struct TokenSimulation {
  private enum Event {
    case write
    case toServer(ClientMessage, link: Int)
    case toClient(ServerMessage, link: Int)
    case greeted(link: Int)
    case timer(RepoTimer, generation: Int)
    case authTimer(generation: Int)
    case refreshed(Int, Result<RealtimeAuth.Account.Tokens, AuthError>)
    case serverTick
  }

  private static let lifetime: Int64 = 2_000
  private static let rules = #"{"rules": {"list": {".read": "auth != null"}}}"#
  private static let administrator = PeerID(0)

  private var random: SplitMix64
  private var agenda: [(time: Int64, order: Int, event: Event)] = []
  private var order = 0
  private(set) var now: Int64 = 1_000_000

  private var hub: TreeHub
  private var auth: AuthCore
  private var core: RepoCore
  private var link = 0
  private var connection: ConnectionID?
  private var timers: [RepoTimer: Int] = [:]
  private var authTimer = 0
  private var wasRefused = false
  /// The times at which every refresh fails because the accounts cannot be reached.
  private var outages: [Range<Int64>]

  /// The keys that were written, and those that the listener received, in order.
  private(set) var written: [String] = []
  private(set) var told: [String] = []
  private(set) var problems: [String] = []
  private(set) var refreshes = 0
  private(set) var refusals = 0
  private(set) var connections = 0

  init(seed: UInt64, outages: [Range<Int64>] = []) {
    random = SplitMix64(seed: seed)
    self.outages = outages
    hub = TreeHub(
      stored: StoredTree(rules: Self.rules),
      verifier: TimedTokens()
    )
    hub.open(Self.administrator, as: .administrator)
    let tokens = TimedTokens.tokens(at: now, lifetime: Self.lifetime)
    auth = AuthCore(account: Account(uid: "ann", tokens: tokens))
    core = RepoCore(
      configuration: RepoConfiguration(clientID: "c", statisticsName: "sdk.test.1-0-0")
    )
  }

  /// Runs for this many milliseconds, and then until everything that was written has arrived.
  mutating func run(for duration: Int64) {
    let end = now + duration
    tell(.staysFresh(true))
    feed(.actAs(user: "ann"))
    feed(.observe(ListenerID(1), path: "list", query: .all, events: [.childAdded]))
    add(.write, in: 10)
    add(.serverTick, in: 50)
    while let next = agenda.indices.min(by: { key(agenda[$0]) < key(agenda[$1]) }) {
      let (time, _, event) = agenda.remove(at: next)
      now = max(now, time)
      if now > end + 60_000 { return }
      if case .write = event, now >= end { continue }
      if now >= end, told.count == written.count { return }
      handle(event)
    }
  }

  private func key(_ entry: (time: Int64, order: Int, event: Event)) -> (Int64, Int) {
    (entry.time, entry.order)
  }

  private mutating func add(_ event: Event, in delay: Int64) {
    order += 1
    agenda.append((now + delay, order, event))
  }

  /// The delay in one direction of the network; the messages of each direction keep their order.
  private let delay: Int64 = 60

  private mutating func handle(_ event: Event) {
    switch event {
    case .write:
      let name = "k\(String(100_000 + written.count))"
      written.append(name)
      let request = WriteRequest(
        path: Path(["list", ChildKey(name)]),
        operation: .set(.integer(1))
      )
      let message = ClientMessage.request(id: Int64(written.count), .write(request))
      dispatch(hub.handle(message, from: Self.administrator, at: now))
      add(.write, in: 20 + Int64(random.below(60)))
    case .toServer(let message, let number):
      if number == link { dispatch(hub.handle(message, from: PeerID(number), at: now)) }
    case .toClient(let message, let number):
      if number == link, let connection { feed(.message(connection, message)) }
    case .greeted(let number):
      guard number == link, let connection else { return }
      hub.open(PeerID(number))
      feed(.transportOpened(connection))
      let hello = TreeHub.hello(timestamp: now, host: "h", session: "s\(number)")
      feed(.message(connection, .hello(hello)))
    case .timer(let timer, let generation):
      if timers[timer] == generation { feed(.timerFired(timer)) }
    case .authTimer(let generation):
      if authTimer == generation { tell(.timerFired) }
    case .refreshed(let number, let result): tell(.refreshed(number, result))
    case .serverTick:
      dispatch(hub.tick(at: now))
      add(.serverTick, in: 50)
    }
  }

  private mutating func dispatch(_ outputs: [HubOutput]) {
    for output in outputs {
      switch output {
      case .send(let peer, let message): send(message, to: [peer])
      case .broadcast(let peers, let message): send(message, to: peers)
      case .compose(let peer, let composition):
        for message in composition.composed().messages { send(message, to: [peer]) }
      case .deliver, .disconnect: problems.append("the hub does what it is not asked for")
      }
    }
    if hub.takeBatch() != nil { dispatch(hub.batchCommitted()) }
  }

  private mutating func send(_ message: HubMessage, to peers: [PeerID]) {
    guard peers.contains(PeerID(link)), let message = try? ServerMessage(decoding: message.bytes)
    else { return }
    add(.toClient(message, link: link), in: delay)
  }

  // MARK: The client

  private mutating func feed(_ input: RepoInput) {
    let time = RepoTime(wall: now, monotonic: now, random: Double(random.below(1_000)) / 1_000)
    for output in core.handle(input, at: time) { perform(output) }
  }

  private mutating func perform(_ output: RepoOutput) {
    switch output {
    case .connect(let id, _):
      connection = id
      connections += 1
      // In the same order as the shell: first a token, then the connection.
      tell(.tokenWanted(connections, isForced: wasRefused))
    case .disconnect: endLink()
    case .send(_, let message): add(.toServer(message, link: link), in: delay)
    case .schedule(let timer, let pause):
      order += 1
      timers[timer] = order
      add(.timer(timer, generation: order), in: pause)
    case .cancelTimer(let timer): timers[timer] = nil
    case .raise(_, let event): told.append(event.key?.text ?? "")
    case .listenerCancelled(_, let outcome):
      problems.append("the listener ended: \(outcome)")
    case .credentialRejected:
      refusals += 1
      wasRefused = true
      feed(.goOnline(.tokenRefresh))
    case .credentialAccepted: wasRefused = false
    case .sendKeepalive, .writeCompleted, .getCompleted, .transactionCompleted, .persist, .log:
      return
    }
  }

  private mutating func endLink() {
    let peer = PeerID(link)
    link += 1
    connection = nil
    if peer != Self.administrator { dispatch(hub.close(peer, at: now)) }
  }

  // MARK: The accounts

  private mutating func tell(_ input: AuthInput) {
    let number = Double(random.below(1_000)) / 1_000
    for output in auth.handle(input, now: now, random: number) { perform(output) }
  }

  private mutating func perform(_ output: AuthOutput) {
    switch output {
    case .refresh(let number, _):
      refreshes += 1
      let start = now
      let isOut = outages.contains { $0.contains(now) }
      let result: Result<RealtimeAuth.Account.Tokens, AuthError> =
        isOut
        ? .failure(AuthError(.networkError, message: "no network"))
        : .success(TimedTokens.tokens(at: start, lifetime: Self.lifetime))
      add(.refreshed(number, result), in: 2 * delay + Int64(random.below(400)))
    case .schedule(let pause):
      order += 1
      authTimer = order
      add(.authTimer(generation: order), in: pause)
    case .cancelTimer: authTimer = 0
    case .token(let request, let result):
      guard request == connections, let connection else { return }
      guard case .success(let account?) = result else {
        return feed(.transportClosed(connection, reason: "no token"))
      }
      feed(.authenticate(ClientRequest.Authentication(credential: account.tokens.idToken)))
      link += 1
      add(.greeted(link: link), in: 3 * delay)
    case .tokenChanged(let account?):
      feed(.authenticate(ClientRequest.Authentication(credential: account.tokens.idToken)))
    case .tokenChanged, .userChanged, .remove: problems.append("the user was signed out")
    case .save: return
    }
  }
}

/// Tokens whose text is their expiry time.
struct TimedTokens: CredentialVerifier {
  static func tokens(at now: Int64, lifetime: Int64) -> RealtimeAuth.Account.Tokens {
    Account.Tokens(
      idToken: "\(now + lifetime)",
      refreshToken: "refresh",
      expires: now + lifetime,
      lifetime: lifetime
    )
  }

  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    guard let end = Int64(authentication.credential), end > timestamp else {
      throw RequestError(.expiredToken, reason: "Auth token is expired.")
    }
    let user = JSONValue.object(("uid", .string("ann")))
    return VerifiedCredential(identity: .user(user), expires: end)
  }
}
