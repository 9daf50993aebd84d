import RealtimeCore
import RealtimeSync

/// An engine that is connected to nobody: what it is told comes straight from the benchmark.
struct BenchmarkClient {
  private var core: RepoCore
  private var connection = ConnectionID(0)
  private var last: Int64 = 0
  private let time = RepoTime(wall: 1_700_000_000_000, monotonic: 0, random: 0.5)
  /// Events raised to listeners so far.
  private(set) var events = 0

  /// Makes an engine whose connection is greeted.
  init() {
    core = RepoCore(
      configuration: RepoConfiguration(clientID: "bench", statisticsName: "sdk.swift.1-0-0")
    )
  }

  /// Feeds an input and performs the connecting that it asks for.
  mutating func feed(_ input: RepoInput) {
    for output in core.handle(input, at: time) {
      switch output {
      case .raise: events += 1
      case .connect(let id, _): connect(id)
      case .disconnect, .send, .sendKeepalive, .schedule, .cancelTimer, .listenerCancelled,
        .writeCompleted, .getCompleted, .transactionCompleted, .credentialRejected,
        .credentialAccepted, .persist, .log:
        break
      }
    }
  }

  private mutating func connect(_ id: ConnectionID) {
    connection = id
    feed(.transportOpened(id))
    let hello = ServerHello(timestamp: time.wall, host: "localhost", session: "s", extensions: [])
    feed(.message(id, .hello(hello)))
  }

  /// Listens for all kinds of events.
  mutating func observe(_ path: Path, _ query: Query = .all, _ events: Set<EventKind>) {
    last += 1
    feed(.observe(ListenerID(last), path: path, query: query, events: events))
  }

  /// What the server says about a location.
  mutating func push(_ path: Path, _ node: Node) {
    feed(.message(connection, .push(.data(path: path, node, tag: nil))))
  }

  /// Several changes that the server made at once.
  mutating func merge(_ path: Path, _ changes: [Change]) {
    feed(.message(connection, .push(.merge(path: path, changes, tag: nil))))
  }

  /// A write of the client itself.
  mutating func write(_ path: Path, _ operation: WriteOperation) {
    last += 1
    feed(.write(RequestToken(last), path: path, operation))
  }
}
