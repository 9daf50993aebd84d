package import RealtimeCore

extension TreeHub {
  /// Applies a write or refuses it.
  ///
  /// A repeated write is answered with its earlier outcome.
  mutating func handle(_ write: WriteRequest, of origin: RequestOrigin, at timestamp: Int64) {
    let key = write.key.flatMap { writes.ledgerKey($0, of: origin.peer) }
    if let key, let outcome = writes.outcome(of: key) {
      let fallback = Outbox.Fallback.repeatOutcome(request: origin.request, key: key)
      return answer(origin, with: Self.repeated(outcome), orElse: fallback)
    }
    var response = ServerMessage.Response(.ok)
    do throws(RequestError) {
      try apply(write, of: origin, at: timestamp)
      access.markAuthorized(origin.peer)
      if showsData(to: origin) { response.payload = .node(durability.root[write.path]) }
      if let key { writes.record(key, from: origin.peer, at: timestamp) }
    } catch {
      response = error.response
      if error.status == .dataStale, showsData(to: origin),
        mayRead(write.path, peer: origin.peer)
      {
        response.payload = .node(durability.root[write.path])
      }
      if let key { writes.refuse(key, status: error.status, from: origin.peer) }
    }
    answer(origin, with: response, orElse: .refuse(request: origin.request, key: key))
  }

  /// Whether the response to a write carries the data at its path.
  ///
  /// An internal peer gets all of the data, and shows only what was written.
  private func showsData(to origin: RequestOrigin) -> Bool { origin.isInternal }

  /// Whether a peer may read everything at a path.
  func mayRead(_ path: Path, peer: PeerID) -> Bool {
    guard let state = access.state(of: peer) else { return false }
    return mayRead(path, as: state)
  }

  private mutating func apply(
    _ write: WriteRequest,
    of origin: RequestOrigin,
    at timestamp: Int64
  ) throws(RequestError) {
    if let error = admissionError { throw error }
    fireOverdueDisconnects(at: timestamp)
    guard let state = access.state(of: origin.peer) else { return }
    let wanted = try checked(write.operation, at: write.path, as: state, at: timestamp)
    // A stale transaction must run again, whatever the rules say about its write. For a peer that
    // may not read, the rules come first, so that it cannot probe data by comparing hashes.
    let mayCompare = write.hash != nil && mayRead(write.path, peer: origin.peer)
    if mayCompare, let stale = staleness(of: write, of: origin) {
      tellFreshData(at: write.path, to: origin.peer)
      throw stale
    }
    let step = try permitted(wanted, as: state, at: timestamp)
    if !mayCompare, let stale = staleness(of: write, of: origin) { throw stale }
    if let after = step.after {
      for change in wanted where change.path.isPriority && !change.node.isEmpty {
        guard let parent = change.path.parent, after[parent].isEmpty else { continue }
        throw RequestError(
          .invalidData,
          reason: "there is no data at \(parent) to give a priority"
        )
      }
    }
    commit(step, isMerge: write.operation.isMerge, at: timestamp)
  }

  /// The changes of a write, with paths from the root, unless it is refused whatever the data is.
  mutating func checked(
    _ operation: WriteOperation,
    at path: Path,
    as state: AuthState,
    at timestamp: Int64
  ) throws(RequestError) -> [Change] {
    let changes: [Change] =
      switch operation {
      case .set(let node): [Change(path, to: node)]
      case .merge(let changes): changes.map { Change(path.appending($0.path), to: $0.node) }
      }
    if let error = access.earlyRefusal(
      of: changes,
      as: state,
      in: durability.root,
      at: timestamp
    ) {
      throw error
    }
    for index in changes.indices {
      guard let problem = problem(with: changes[index]) else { continue }
      throw RequestError(.invalidData, reason: problem)
    }
    return changes
  }

  /// The step that changes make, if the rules allow it.
  ///
  /// The rules see the tree that results; where small data is replaced, they see it without anybody
  /// building it.
  mutating func permitted(
    _ wanted: [Change],
    as state: AuthState,
    at timestamp: Int64
  ) throws(RequestError) -> TreeStep {
    if wanted.count == 1, case let change = wanted[0], change.isReplacement {
      switch access.verdict(on: change, in: durability.root, as: state, at: timestamp) {
      case .allowed: return TreeStep(changes: wanted, after: nil)
      case .refused(let error): throw error
      case .undecided: break
      }
    }
    let before = durability.root
    var changes = try effective(wanted, at: timestamp)
    if changes.contains(where: \.isLarge) {
      changes = changes.flatMap { $0.narrowed(from: before[$0.path]) }
    }
    let after = tree(with: changes)
    if let error = access.refusal(
      toWrite: wanted.map(\.path),
      from: before,
      to: after,
      as: state,
      at: timestamp
    ) {
      throw error
    }
    return TreeStep(changes: changes, after: after)
  }

  /// Why the condition of a write does not hold; nil when it holds or there is none.
  ///
  /// A client of the protocol sends the protocol's hash, an internal peer the exact one, or a star
  /// for any data.
  private func staleness(of write: WriteRequest, of origin: RequestOrigin) -> RequestError? {
    guard let hash = write.hash else { return nil }
    let node = durability.root[write.path]
    if origin.isInternal, hash == "*", !node.isEmpty { return nil }
    guard (origin.isInternal ? node.exactHash : self.hash(of: node)) != hash else { return nil }
    return RequestError(.dataStale, reason: "the data at \(write.path) has changed")
  }

  private func hash(of node: Node) -> String {
    if let knownHash, knownHash.node.isSame(as: node) { return knownHash.hash }
    return node.hash
  }

  /// Large data that a message compares by its hash, which takes long to compute.
  ///
  /// The owner may compute the hash on any thread and passes it to ``learn(_:of:)`` before the hub
  /// handles the message. If the data has changed by then, the hub computes the hash itself.
  ///
  /// Mutating although it changes nothing, like ``agenda()``.
  ///
  /// - Returns: The data, or nil when there is no large data to compare or the peer may not read
  ///   it.
  package mutating func dataToHash(for message: ClientMessage, from peer: PeerID) -> Node? {
    guard case .request(_, .write(let write)) = message, write.hash != nil else { return nil }
    let node = durability.root[write.path]
    return isComposed(node, for: peer) && mayRead(write.path, peer: peer) ? node : nil
  }

  /// Remembers the hash of data for the next message.
  package mutating func learn(_ hash: String, of node: Node) {
    knownHash = (node, hash)
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

  /// Resolves the server values of changes, and drops changes that have no effect.
  ///
  /// Priorities come last, since they may belong to data that the same write creates.
  private func effective(
    _ changes: [Change],
    at timestamp: Int64
  ) throws(RequestError) -> [Change] {
    var effective: [Change] = []
    for change in changes where !change.path.isPriority {
      guard change.node.hasDeferredValues else {
        if !durability.root.has(change.node, at: change.path) { effective.append(change) }
        continue
      }
      let existing = durability.root[change.path]
      let node = try resolved(change, existing: existing, at: timestamp)
      if node != existing { effective.append(Change(change.path, to: node)) }
    }
    guard changes.contains(where: \.path.isPriority) else { return effective }
    let priorities = changes.filter(\.path.isPriority)
    let data = tree(with: effective)
    for change in priorities {
      let existing = data[change.path]
      let node = try resolved(change, existing: existing, at: timestamp)
      guard node != existing, let parent = change.path.parent, !data[parent].isEmpty else {
        continue
      }
      effective.append(Change(change.path, to: node))
    }
    return effective
  }

  private func resolved(
    _ change: Change,
    existing: Node,
    at timestamp: Int64
  ) throws(RequestError) -> Node {
    guard !change.node.overflows(addedTo: existing) else {
      throw RequestError(.invalidData, reason: "an increment leads beyond the largest number")
    }
    return change.node.resolvingDeferred(existing: existing, timestamp: timestamp)
  }

  func tree(with changes: [Change]) -> Node {
    changes.reduce(into: durability.root) { $0.update(at: $1.path, to: $1.node) }
  }

  /// Sends a peer whose condition failed the current data, if it listens to them.
  private mutating func tellFreshData(at path: Path, to peer: PeerID) {
    let root = durability.root
    let target = listens.pathOfFreshData(
      at: path,
      for: peer,
      in: root,
      revision: durability.revision
    )
    // The listen may have lost its permission; that is noticed only when there is news.
    guard let target, mayRead(target, peer: peer) else { return }
    let key = ListenKey(target, query: .all)
    let output = output(of: root[target], for: key, tag: nil, to: peer)
    durability.append(output, to: peer, orElse: .drop)
  }
}
