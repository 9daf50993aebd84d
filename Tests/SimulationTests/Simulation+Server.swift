import RealtimeCore
import RealtimeServer
import TestSupport

extension Simulation {
  mutating func arrived(_ message: ClientMessage, up number: Int) {
    links[number].up.inFlight -= 1
    let link = links[number]
    guard link.isServerOpen, now < link.up.cutAt else { return }
    guard case .request(let id, let request) = message else {
      return dispatch(hub.handle(message, from: link.peer, at: now))
    }
    if !link.isClientOpen { mark("lingering request") }
    journal.asked(id, request, by: link.peer)
    if case .write(let write) = request, strikeWrite(id, write, link.peer) { return }
    dispatch(hub.handle(message, from: link.peer, at: now))
  }

  /// Injects a fault into a write; returns whether nothing is left to do.
  private mutating func strikeWrite(_ id: Int64, _ write: WriteRequest, _ peer: PeerID) -> Bool {
    if strikes(.lostUpdate), let link = linkOfPeer[peer] {
      send(.response(id: id, ServerMessage.Response(.ok)), down: link)
      return true
    }
    var struck = write
    if strikes(.doubledWrite) {
      struck.key = nil
      dispatch(hub.handle(.request(id: -1, .write(struck)), from: peer, at: now))
    }
    if case .merge(let changes) = write.operation, changes.count > 1, strikes(.halfUpdate) {
      struck.operation = .merge([changes[0]])
      dispatch(hub.handle(.request(id: id, .write(struck)), from: peer, at: now))
      return true
    }
    return false
  }

  /// Performs the hub's outputs, as a server would.
  mutating func dispatch(_ outputs: [HubOutput]) {
    for output in outputs {
      switch output {
      case .send(let peer, let message): send(message.bytes, to: peer)
      case .broadcast(let peers, let message):
        for peer in peers { send(message.bytes, to: peer) }
      case .compose(let peer, let composition):
        for message in composition.composed().messages { send(message.bytes, to: peer) }
      case .deliver: fail("a peer outside the server is handed a value")
      case .disconnect(let peer, _):
        guard let number = linkOfPeer[peer] else { continue }
        mark("hub disconnects")
        let arrival = links[number].down.arrival(now: now, delay: links[number].delay)
        agenda.add(.clientNotices(link: number), at: arrival)
        agenda.add(.serverNotices(link: number), at: arrival + links[number].delay)
      }
    }
    if hub.hasPendingCommits { wakeBatcher() }
  }

  private mutating func send(_ bytes: [UInt8], to peer: PeerID) {
    guard let number = linkOfPeer[peer] else { return }
    send(tampered(checked(decode(bytes), to: peer)), number)
  }

  private mutating func send(_ message: ServerMessage?, _ number: Int) {
    if let message { send(message, down: number) }
  }

  private mutating func decode(_ bytes: [UInt8]) -> ServerMessage {
    if let decoded, decoded.bytes == bytes { return decoded.message }
    do {
      let message = try ServerMessage(decoding: bytes)
      decoded = (bytes, message)
      return message
    } catch {
      fail("the server sent what cannot be understood: \(error)")
      return .pong
    }
  }

  /// Checks that a message contains nothing that is not durable.
  private mutating func checked(_ message: ServerMessage, to peer: PeerID) -> ServerMessage {
    var nodes: [Node] = []
    switch message {
    case .push(.data(_, let node, _)): nodes = [node]
    case .push(.merge(_, let changes, _)): nodes = changes.map(\.node)
    case .push(.rangeMerge(_, let ranges, _)):
      mark("range merge")
      nodes = ranges.map(\.node)
    case .response(let id, let response):
      journal.answered(id, response.status, to: peer)
      if case .json(let json) = response.payload, json.members != nil,
        let node = try? Node(json: json)
      {
        nodes = [node]
      }
    case .push, .hello, .reset, .shutdown, .error, .pong: break
    }
    for id in nodes.flatMap(\.uniqueTexts) where durableIDs[id] == nil {
      fail("\(peer) is told of \(id), which is not durable")
    }
    return message
  }

  private mutating func tampered(_ message: ServerMessage) -> ServerMessage? {
    switch message {
    case .push: if strikes(.droppedEvent) { return nil }
    case .response(let id, let response):
      if case .json(let json) = response.payload, json.members != nil, strikes(.staleRead) {
        let old = store.roots[0][at: "posts"]
        return .response(
          id: id,
          ServerMessage.Response(.ok, payload: .json(old.json(Node.JSONForm.export)))
        )
      }
    case .hello, .reset, .shutdown, .error, .pong: break
    }
    return message
  }

  mutating func closeAtServer(_ number: Int) {
    let link = links[number]
    guard link.isServerOpen else { return }
    links[number].isServerOpen = false
    linkOfPeer[link.peer] = nil
    journal.ended(link.peer)
    dispatch(hub.close(link.peer, at: now))
    if link.isClientOpen {
      agenda.add(.clientNotices(link: number), at: now + link.delay)
    }
  }

  // MARK: Group commit

  func isBusy() -> Bool { batcher != .idle || !storing.isEmpty }

  mutating func wakeBatcher() {
    guard batcher == .idle else { return }
    batcher = .scheduled
    agenda.add(.takeBatch(epoch: serverEpoch), at: now + Int64(random.below(2)))
  }

  mutating func takeBatch() {
    batcher = .idle
    guard let taken = hub.takeBatch() else { return }
    if storing.isEmpty { beginStoring([taken]) } else { waiting.append(taken) }
    if fault == .earlyAcknowledgement { dispatch(hub.batchCommitted()) }
  }

  private mutating func beginStoring(_ batches: [CommitBatch]) {
    if batches.count > 1 { mark("batches joined") }
    storing = batches
    let latency: Int64 = random.once(in: 6) ? 300 : 1 + Int64(random.below(20))
    agenda.add(.batchDone(epoch: serverEpoch), at: now + latency)
  }

  mutating func batchDone() {
    let batches = storing
    guard !batches.isEmpty else { return }
    let batch = CommitBatch(joining: batches)
    storing = []
    if now < store.failsUntil {
      mark(waiting.isEmpty ? "batch failed" : "batch failed before others")
      return batchFailed(batch)
    }
    storeBatch(batch)
    if !waiting.isEmpty { beginStoring(waiting) }
    waiting = []
    dispatch(hub.batchCommitted(batches.count))
  }

  /// Fails a batch: either the disk is full and the server refuses the batch, or its state on disk
  /// is unknown and the server ends.
  private mutating func batchFailed(_ batch: CommitBatch) {
    waiting = []
    if random.once(in: 2) {
      let isStored = random.once(in: 2)
      mark(isStored ? "ended with a batch" : "ended without a batch")
      if isStored { storeBatch(batch) }
      guard fault == .presumedFailure else { return crash(for: 50 + Int64(random.below(2_000))) }
    }
    batcher = .scheduled
    agenda.add(.takeBatch(epoch: serverEpoch), at: now + 200)
    dispatch(hub.batchFailed(StoreError(.full, description: "the disk is full"), at: now))
  }

  /// Makes a batch durable and checks every revision that it adds.
  mutating func storeBatch(_ batch: CommitBatch) {
    mark("batch")
    if let problem = store.commit(batch) { return fail(problem) }
    for commit in batch.commits {
      for id in commit.changes.flatMap(\.node.uniqueTexts) {
        durableIDs[id, default: 0] += 1
        if durableIDs[id] != 1 { fail("\(id) is written twice, again in \(commit.revision)") }
      }
      if let problem = problem(with: store.roots[Int(commit.revision)]) {
        fail("revision \(commit.revision): \(problem)")
      }
    }
  }

  /// Ends the server abruptly; the batch in progress may or may not have become durable.
  mutating func crash(for pause: Int64) {
    guard isServerUp else { return }
    mark("crash")
    if !storing.isEmpty, random.once(in: 2) {
      storeBatch(CommitBatch(joining: storing))
    }
    storing = []
    waiting = []
    batcher = .idle
    serverEpoch += 1
    isServerUp = false
    journal.endedAll()
    for number in links.indices where links[number].isServerOpen {
      links[number].isServerOpen = false
      links[number].down.cutAt = min(links[number].down.cutAt, now + Int64(random.below(100)))
      agenda.add(.clientNotices(link: number), at: now + Int64(random.below(2_000)))
    }
    linkOfPeer = [:]
    agenda.add(.startServer, at: now + pause)
  }

  mutating func startServer() {
    isServerUp = true
    var stored = store.stored
    if fault == .forgottenDisconnect { stored.sessions = [] }
    hub = TreeHub(stored: stored)
    hub.resume(at: now)
    dispatch([])
  }
}
