internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Finds the next leader of a database for the clients that have lost theirs.
///
/// Confined to the event loop.
final class LeaderSearch {
  /// A server that the clients can be passed to.
  struct Server {
    let serve: (ResumableClient) -> ServerHandlers.Callbacks?
    /// Tells the server that it has all remaining clients, and receives whether it leads.
    let settle: (@escaping (Bool) -> Void) -> Void
  }

  /// How long clients are kept waiting: several times as long as a lease lasts.
  private static let patience = TimeAmount.seconds(30)
  private static let pause = TimeAmount.milliseconds(50)

  private let context: ServerContext
  /// Searches once; the future has nil, or fails, if there is no leader at the moment.
  private let find: () -> EventLoopFuture<Server?>
  /// Called when no client waits any more.
  private let onEnd: () -> Void
  private let deadline = NIODeadline.now() + patience
  private var clients: [ResumableClient] = []
  /// How many clients have left that the next leader must know of, and how many it knows of.
  private var departures = (count: 0, told: 0)
  private var isSettling = false
  /// The hashes of data that a copy has sent to clients.
  private var hashes: [ListenKey: String] = [:]
  /// The data of that copy; its hashes are of no use to clients of another one.
  private var hashed: CopiedData?
  private var isHashing = false

  init(
    _ context: ServerContext,
    find: @escaping () -> EventLoopFuture<Server?>,
    onEnd: @escaping () -> Void
  ) {
    self.context = context
    self.find = find
    self.onEnd = onEnd
    look()
  }

  func add(_ client: ResumableClient) { clients.append(client) }

  /// Looks for the leader even if no client waits.
  func noteDeparture() { departures.count += 1 }

  private func look() {
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
      clients.removeAll { !$0.isWaiting }
      hashWhatClientsHave()
      guard !clients.isEmpty || departures.count > departures.told else { return onEnd() }
      guard NIODeadline.now() < deadline else {
        return end(because: "no server leads the database")
      }
      guard !isHashing else { return look() }
      find().assumeIsolated().whenComplete { [self] result in
        switch result {
        case .success(let server?): pass(clients[...], to: server)
        case .failure(let error as RESTError) where error.status == 404: end(because: error.reason)
        case .success(nil), .failure: look()
        }
      }
    }
  }

  /// Passes clients on, for no longer than others may wait for their turn.
  private func pass(_ waiting: ArraySlice<ResumableClient>, to server: Server) {
    var waiting = waiting
    let end = NIODeadline.now() + FairScheduler.slice
    while NIODeadline.now() < end, let client = waiting.popFirst() {
      let hasHashes = client.copy != nil && client.copy === hashed
      _ = client.resume(by: server.serve) { [hashes] in hasHashes ? hashes[$0] : nil }
    }
    guard waiting.isEmpty else {
      context.eventLoop.assumeIsolated().scheduleTask(in: FairScheduler.pause) { [self] in
        pass(waiting, to: server)
      }
      return
    }
    look()
    guard !clients.contains(where: \.isWaiting) else { return }
    // Those who come back here may have been told other data since.
    (hashed, hashes) = (nil, [:])
    settle(server)
  }

  private func settle(_ server: Server) {
    guard !isSettling else { return }
    isSettling = true
    server.settle { [self, count = departures.count] leads in
      isSettling = false
      if leads { departures.told = count }
    }
  }

  /// Computes, on another thread, the hashes that the next leader compares with its data.
  private func hashWhatClientsHave() {
    guard !isHashing, let data = clients.lazy.compactMap(\.copy).first else { return }
    if data !== hashed { (hashed, hashes) = (data, [:]) }
    let root = data.root
    let keys = Set(clients.lazy.filter { $0.copy === data }.flatMap(\.openListens))
      .subtracting(hashes.keys)
    guard !keys.isEmpty else { return }
    isHashing = true
    context.workers.perform(for: SchedulerAccount(), isLong: true) {
      keys.map { ($0, $0.query.evaluate(root[$0.path]).hash) }
    } then: { [self] hashed in
      isHashing = false
      hashes.merge(hashed) { _, new in new }
    }
  }

  /// Disconnects all waiting clients.
  func end(because reason: String) {
    let waiting = clients
    clients = []
    for client in waiting { client.giveUp(because: reason) }
    onEnd()
  }
}
