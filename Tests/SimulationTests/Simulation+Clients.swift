import RealtimeCore
import TestSupport

@testable import RealtimeDatabase

extension Simulation {
  /// Feeds an input to an engine and performs its outputs.
  mutating func feed(_ index: Int, _ input: RepoInput) {
    let time = RepoTime(
      wall: now + clients[index].skew,
      monotonic: now,
      random: Double(random.below(1_000)) / 1_000
    )
    let isGet = if case .get = input { true } else { false }
    for output in clients[index].core.handle(input, at: time) {
      perform(output, of: index, isGet: isGet)
    }
    replay(index)
  }

  private mutating func perform(_ output: RepoOutput, of index: Int, isGet: Bool) {
    switch output {
    case .connect(let id, _): connect(index, id)
    case .disconnect(let id, _):
      if let link = clients[index].links.removeValue(forKey: id) { closeAtClient(link) }
    case .send(let id, let message):
      if let link = clients[index].links[id] { send(message, up: link) }
    case .schedule(let timer, let pause):
      let generation = Int(makeNumber())
      clients[index].timers[timer] = generation
      let incarnation = clients[index].incarnation
      agenda.add(
        .timer(client: index, incarnation: incarnation, timer, generation: generation),
        at: now + pause
      )
    case .cancelTimer(let timer): clients[index].timers[timer] = nil
    case .raise(let listener, let event):
      if event.kind != .value, strikes(.missingChildEvent) { return }
      clients[index].raised[listener, default: []].append(event)
    case .listenerCancelled(let listener, let outcome):
      // A hub whose store fails also refuses listens.
      let status = outcome.status
      if status != .unavailable { fail("listener \(listener.number) ended with \(status)") }
      mark("listener cancelled")
      clients[index].listeners[listener] = nil
    case .writeCompleted(let token, let outcome):
      complete(token, of: index, outcome.status, reason: outcome.reason)
      if strikes(.doubledCompletion) {
        complete(token, of: index, outcome.status, reason: outcome.reason)
      }
    case .getCompleted(let token, let result):
      // If the server refuses a read for the moment, the client falls back to its own data.
      if case .value(let node, let metadata) = result, metadata == DataMetadata(), !isGet {
        checkRead(token, node)
      }
      complete(token, of: index, .ok, reason: "")
    case .transactionCompleted(let token, let outcome, let isCommitted, _):
      requests[token]?.isCommitted = isCommitted
      complete(token, of: index, outcome.status, reason: outcome.reason)
    case .credentialRejected, .credentialAccepted: fail("a credential no one gave")
    case .sendKeepalive, .persist, .log: return
    }
  }

  private mutating func complete(
    _ token: RequestToken,
    of index: Int,
    _ status: StatusCode,
    reason: String
  ) {
    guard var request = requests[token] else { return fail("completion of nothing") }
    if request.outcome != nil { return fail("completion \(token.number) called twice") }
    request.outcome = status
    requests[token] = request
    clients[index].openRequests -= 1
    mark("\(status)")
    let known: [StatusCode] = [
      .ok, .unavailable, .overriddenBySet, .maximumRetries, .writeCanceled, .invalidData,
    ]
    if !known.contains(status) { fail("a request ended with \(status): \(reason)") }
    if status == .ok, let id = request.ids.first(where: { durableIDs[$0] == nil }) {
      fail("\(id) is acknowledged and not durable")
    }
  }

  private mutating func checkRead(_ token: RequestToken, _ node: Node) {
    guard case .get(let path, let query, let revision)? = requests[token]?.purpose else { return }
    mark("read of the server")
    let candidates = store.roots[Int(revision)...]
    if !candidates.contains(where: { query.evaluate($0[path]) == node }) {
      fail("a read at \(path) gives data of no revision since its start")
    }
  }

  /// Replays the events of one input, and checks whether a value occurs in the durable history.
  private mutating func replay(_ index: Int) {
    let raised = clients[index].raised
    clients[index].raised = [:]
    for (listener, events) in raised.sorted(by: { $0.key.number < $1.key.number }) {
      guard var log = clients[index].listeners[listener] else { continue }
      if let problem = log.replay(events) {
        fail("client \(index), listener at \(log.path) \(log.query.id): \(problem)")
      }
      // Without a value event, what a refused write leaves behind is not completely known.
      if events.last?.kind == .value { checkValue(index, &log) }
      clients[index].listeners[listener] = log
    }
  }

  private mutating func checkValue(_ index: Int, _ log: inout ListenerLog) {
    guard let value = log.value else { return }
    if let problem = log.contradiction {
      fail("client \(index), listener at \(log.path) \(log.query.id): \(problem)")
    }
    // Until a listen is answered, other listens supply parts of its view, each at its own time.
    guard clients[index].core.isConnected, !hasOpenListens(index) else { return }
    if log.path == "mirror", log.query.isDefault, value[at: "a"] != value[at: "b"] {
      fail("client \(index) sees half an update")
    }
    // Local effects of scheduled writes, at the end of a connection, have no revision yet.
    guard clients[index].core.pendingWriteCount == 0, !log.path.overlaps("gone") else { return }
    let candidates = store.roots[Int(log.revision)...]
    guard let match = candidates.firstIndex(where: { log.query.evaluate($0[log.path]) == value })
    else {
      return fail("client \(index) sees at \(log.path) \(log.query.id) what was never there")
    }
    log.revision = Int64(match)
  }

  /// Ends a client's program and starts it again.
  mutating func restart(_ index: Int) {
    mark("client restart")
    for (_, link) in clients[index].links { closeAtClient(link) }
    clients[index] = SimulatedClient(
      number: index,
      incarnation: clients[index].incarnation + 1,
      skew: clients[index].skew
    )
  }

  private func hasOpenListens(_ index: Int) -> Bool {
    clients[index].core.connection.requests.values.contains { request in
      if case .listen = request { true } else { false }
    }
  }
}
