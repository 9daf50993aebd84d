package import RealtimeCore

extension TreeHub {
  /// Applies a write, or answers why not; a write that has been dealt with is only answered.
  mutating func handle(_ write: WriteRequest, _ origin: RequestOrigin, at timestamp: Int64) {
    let key = write.key.flatMap { ledgerKey($0, of: origin.peer) }
    if let key, let outcome = ledger.outcome(of: key) {
      let response = repeated(outcome)
      answer(origin, response, .repeatOutcome(request: origin.request, key))
      return
    }
    var response = ServerMessage.Response(.ok)
    do throws(Refusal) {
      try apply(write, origin, at: timestamp)
      if peers[origin.peer]?.isLetIn == false { peers[origin.peer]?.isLetIn = true }
      if showsData(to: origin.peer) { response.payload = .node(root[write.path]) }
      if let key { record(key, from: origin.peer, at: timestamp) }
    } catch {
      response = error.response
      if error.status == .dataStale, showsData(to: origin.peer),
        mayRead(write.path, origin.peer)
      {
        response.payload = .node(root[write.path])
      }
      if let key { remember(key, error.status, of: origin.peer) }
    }
    answer(origin, response, .refuse(request: origin.request, key))
  }

  // MARK: The ledger

  /// The key of a write with whom it belongs to.
  private func ledgerKey(_ key: WriteKey, of peer: PeerID) -> LedgerKey? {
    guard let writer = peers[peer]?.writer else { return nil }
    let owner = key.isBearer ? .bearer : writer
    return LedgerKey(name: LedgerName(owner: owner, client: key.client), number: key.number)
  }

  /// Remembers that a write was applied, and which ones before it were not.
  private mutating func record(_ key: LedgerKey, from peer: PeerID, at timestamp: Int64) {
    let refused = peers[peer]?.refusals.take(before: key) ?? RefusedWrites()
    ledger.record(key, besides: refused, from: peer, at: timestamp)
  }

  /// Remembers that a write that waited for the store is refused after all.
  mutating func undo(_ key: LedgerKey, _ status: StatusCode, of peer: PeerID) {
    if !ledger.undo(key, status) { remember(key, status, of: peer) }
  }

  private mutating func remember(_ key: LedgerKey, _ status: StatusCode, of peer: PeerID) {
    let limit = limits.rememberedRefusals
    peers[peer]?.refusals.insert(key, status, limit: limit)
  }

  /// Whether the answer to a write carries the data that are there then.
  ///
  /// A peer in the server gets them all, and shows no more of them than what was written.
  private func showsData(to peer: PeerID) -> Bool { peers[peer]?.isInternal == true }

  private func mayRead(_ path: Path, _ peer: PeerID) -> Bool {
    guard let standing = peers[peer]?.standing else { return false }
    return refusal(toRead: path, .all, as: standing) == nil
  }

  /// The answer to a write that has come before.
  func repeated(_ outcome: StatusCode) -> ServerMessage.Response {
    outcome == .ok
      ? ServerMessage.Response(.ok)
      : Refusal(outcome, "this write was refused when it came first").response
  }

  private mutating func apply(
    _ write: WriteRequest,
    _ origin: RequestOrigin,
    at timestamp: Int64
  ) throws(Refusal) {
    if let refusal = admissionRefusal { throw refusal }
    fireOverdueDisconnects(at: timestamp)
    guard let standing = peers[origin.peer]?.standing else { return }
    if let refusal = earlyRefusal(
      of: write.operation,
      at: write.path,
      as: standing,
      at: timestamp
    ) {
      throw refusal
    }
    let wanted = try validated(write.operation, at: write.path)
    // A transaction that comes late must run again, whatever the rules say of what it would write.
    // Only who may not read is asked for permission first, so that hashes cannot be tried out, nor
    // computed for nothing.
    let mayCompare = write.hash != nil && mayRead(write.path, origin.peer)
    if mayCompare, let stale = staleness(of: write) {
      tellFreshData(at: write.path, to: origin.peer)
      throw stale
    }
    // Of itself, for a closure would hold a copy of all that the hub has.
    let before = root
    let changes = effective(wanted, at: timestamp).flatMap { $0.narrowed(from: before[$0.path]) }
    let after = tree(with: changes)
    // Made before the call, which would copy the hub to make them.
    let paths = wanted.map(\.path)
    if let refusal = refusal(
      toWrite: paths,
      makingOf: after,
      as: standing,
      at: timestamp
    ) {
      throw refusal
    }
    if !mayCompare, let stale = staleness(of: write) { throw stale }
    for change in wanted where change.path.isPriority && !change.node.isEmpty {
      if let parent = change.path.parent, after[parent].isEmpty {
        throw Refusal(.invalidData, "there are no data at \(parent) to give a priority")
      }
    }
    let isMerge = write.operation.isMerge || changes.count > 1
    commit(changes, makingOf: after, isMerge: isMerge, at: timestamp)
  }

  /// Why the condition of a write does not hold, or nil when it does, or there is none.
  private func staleness(of write: WriteRequest) -> Refusal? {
    guard let hash = write.hash, self.hash(of: root[write.path]) != hash else { return nil }
    return Refusal(.dataStale, "the data at \(write.path) have changed")
  }

  private func hash(of node: Node) -> String {
    if let knownHash, knownHash.node.isSame(as: node) { return knownHash.hash }
    return node.hash
  }

  /// Large data that a message compares by their hash, which takes long to compute.
  ///
  /// The owner may compute the hash when and where it likes, and says by ``learn(_:of:)`` what it is
  /// before the hub handles the message. If the data have changed by then, the hub computes it itself.
  ///
  /// Mutating though it changes nothing, as ``agenda()``.
  ///
  /// - Parameters:
  ///   - message: What a peer says.
  ///   - peer: The peer.
  /// - Returns: The data, or nil where there is no large data to compare, or the peer may not read it.
  package mutating func dataToHash(for message: ClientMessage, from peer: PeerID) -> Node? {
    guard case .request(_, .write(let write)) = message, write.hash != nil else { return nil }
    let node = root[write.path]
    return isComposed(node, for: peer) && mayRead(write.path, peer) ? node : nil
  }

  /// Takes over the hash of data for the next message.
  package mutating func learn(_ hash: String, of node: Node) {
    knownHash = (node, hash)
  }

  /// The changes of a write with paths from the root.
  func validated(
    _ operation: WriteOperation,
    at path: Path
  ) throws(Refusal) -> [Change] {
    let changes: [Change] =
      switch operation {
      case .set(let node): [Change(path, node)]
      case .merge(let changes): changes.map { Change(path.appending($0.path), $0.node) }
      }
    for change in changes {
      if let problem = problem(with: change) { throw Refusal(.invalidData, problem) }
    }
    return changes
  }

  private func problem(with change: Change) -> String? {
    if let problem = Validation.problem(
      with: change.node,
      at: change.path,
      depth: limits.dataDepth
    ) {
      return problem
    }
    if change.node.hasUnknownDeferredValues {
      return "\".sv\" must be \"timestamp\" or {\"increment\": a number}"
    }
    guard change.path.isPriority else { return nil }
    switch change.node {
    case .empty, .leaf(.integer, nil), .leaf(.double, nil), .leaf(.deferred, nil): return nil
    case .leaf(.string(let text), nil):
      return text.utf8.count > Limits.stringBytes
        ? "a priority is longer than \(Limits.stringBytes) bytes" : nil
    case .leaf, .children: return "a priority must be a number, a string or null"
    }
  }

  /// Decides the server values of changes and leaves out what changes nothing.
  ///
  /// Priorities come last, as those of data that the same write brings count as well.
  func effective(_ changes: [Change], at timestamp: Int64) -> [Change] {
    var effective: [Change] = []
    for change in changes where !change.path.isPriority {
      let existing = root[change.path]
      let node = change.node.resolvingDeferred(existing: existing, timestamp: timestamp)
      if node != existing { effective.append(Change(change.path, node)) }
    }
    let priorities = changes.filter(\.path.isPriority)
    guard !priorities.isEmpty else { return effective }
    let data = tree(with: effective)
    for change in priorities {
      let existing = data[change.path]
      let node = change.node.resolvingDeferred(existing: existing, timestamp: timestamp)
      guard node != existing, let parent = change.path.parent, !data[parent].isEmpty else {
        continue
      }
      effective.append(Change(change.path, node))
    }
    return effective
  }

  /// The tree with changes made.
  func tree(with changes: [Change]) -> Node {
    changes.reduce(into: root) { $0.update(at: $1.path, to: $1.node) }
  }

  /// Sends a peer whose condition failed the data that are there now, if it listens to them.
  ///
  /// A large value is not sent to who is being told of its changes anyway, which comes before the answer:
  /// many who change it at once would all be sent the whole of it with each failure. Who fails again
  /// with nothing told in between has not understood, and gets the data.
  private mutating func tellFreshData(at path: Path, to peer: PeerID) {
    guard let covering = registry.coveringListen(of: peer, at: path) else { return }
    let lastStale = peers[peer]?.lastStale ?? 0
    peers[peer]?.lastStale = appliedRevision
    let place = CommitEffect.place(of: path, before: root, after: root)
    let target = place.count < covering.count ? covering : place
    let isLarge = root[target].children?.isPacked == false
    if isLarge, registry.lastTold(at: covering) > lastStale { return }
    // The permission of the listen may have ended, which it notices when there is something to tell.
    guard mayRead(target, peer) else { return }
    let node = root[target]
    guard isComposed(node, for: peer) else {
      return append(.push(.data(path: target, node, tag: nil)), to: peer, .drop)
    }
    let content = Composition.Content.data(ListenKey(target, .all), node, tag: nil)
    append(output(composing: content, to: peer), to: peer, .drop)
  }

  /// Makes changes the next commit and queues what listeners are to be told.
  ///
  /// - Parameters:
  ///   - changes: What changes.
  ///   - after: The tree with the changes made.
  ///   - isMerge: Whether the changes belong together for clients.
  ///   - timestamp: The time of the commit.
  mutating func commit(
    _ changes: [Change],
    makingOf after: Node,
    isMerge: Bool,
    at timestamp: Int64
  ) {
    guard !changes.isEmpty else { return }
    let before = root
    root = after
    appliedRevision += 1
    appliedStep += 1
    openCommits.append(Commit(revision: appliedRevision, timestamp: timestamp, changes: changes))
    let effect = CommitEffect(
      before: before,
      after: after,
      changed: changes.map(\.path),
      isMerge: isMerge
    )
    reviewConditionalListens(effect)
    let replaced = orders.update(effect)
    let pushes = registry.update(
      effect,
      revision: appliedRevision,
      orders,
      replaced: replaced
    )
    for push in pushes { append(push) }
  }
}
