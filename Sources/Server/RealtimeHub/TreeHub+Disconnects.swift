package import RealtimeCore

extension TreeHub {
  /// Schedules a write for the end of a peer, if it would be allowed now.
  mutating func schedule(
    _ operation: WriteOperation,
    at path: Path,
    _ origin: RequestOrigin,
    at timestamp: Int64
  ) {
    guard let standing = peers[origin.peer]?.standing else { return }
    reschedule(origin) { hub, scheduled throws(Refusal) in
      if let refusal = hub.earlyRefusal(
        of: operation,
        at: path,
        as: standing,
        at: timestamp
      ) {
        throw refusal
      }
      let changes = try hub.validated(operation, at: path)
      if let refusal = hub.refusal(
        toWrite: changes.map(\.path),
        makingOf: hub.tree(with: hub.effective(changes, at: timestamp)),
        as: standing,
        at: timestamp
      ) {
        throw refusal
      }
      let slot = try hub.slot(for: standing.identity, in: &scheduled)
      for change in changes {
        for other in scheduled.indices where other != slot {
          scheduled[other].table.removeAll(below: change.path)
        }
        scheduled[slot].table.set(change.path, change.node)
      }
      if let refusal = hub.refusal(ofScheduling: scheduled) { throw refusal }
    }
  }

  /// Withdraws what a peer has scheduled at a path and below.
  mutating func cancelScheduled(at path: Path, _ origin: RequestOrigin) {
    if peers[origin.peer]?.scheduled.allSatisfy(\.table.isEmpty) == true {
      return answer(origin, ServerMessage.Response(.ok), .refuse(request: origin.request, nil))
    }
    reschedule(origin) { _, scheduled throws(Refusal) in
      for slot in scheduled.indices { scheduled[slot].table.cancel(path) }
    }
  }

  /// Where the writes of a user are kept so that they are applied after all that is there.
  private mutating func slot(
    for identity: Identity,
    in scheduled: inout [ScheduledWrites]
  ) throws(Refusal) -> Int {
    let last = scheduled.lastIndex { !$0.table.isEmpty }
    if let last, scheduled[last].identity == identity { return last }
    let next = last.map { $0 + 1 } ?? 0
    if next < scheduled.count {
      scheduled[next].identity = identity
      return next
    }
    if next >= limits.disconnectIdentitiesPerPeer {
      throw Refusal(
        .unavailable,
        "one connection cannot schedule writes as more than "
          + "\(limits.disconnectIdentitiesPerPeer) users"
      )
    }
    scheduled.append(ScheduledWrites(id: sessions.makeID(), identity: identity))
    return next
  }

  private func refusal(ofScheduling scheduled: [ScheduledWrites]) -> Refusal? {
    if scheduled.reduce(0, { $0 + $1.table.count }) > limits.disconnectWritesPerPeer {
      return Refusal(
        .unavailable,
        "one connection cannot schedule more than \(limits.disconnectWritesPerPeer) writes"
      )
    }
    if scheduled.reduce(0, { $0 + $1.table.bytes }) > limits.disconnectBytesPerPeer {
      return Refusal(
        .tooBig,
        "one connection cannot schedule more than \(limits.disconnectBytesPerPeer) bytes"
      )
    }
    return nil
  }

  /// Changes what a peer has scheduled; it is answered when the change is durable.
  private mutating func reschedule(
    _ origin: RequestOrigin,
    _ change: (inout TreeHub, inout [ScheduledWrites]) throws(Refusal) -> Void
  ) {
    var scheduled = peers[origin.peer]?.scheduled ?? []
    do throws(Refusal) {
      if let refusal = admissionRefusal { throw refusal }
      try change(&self, &scheduled)
    } catch {
      return answer(origin, error.response, .keep)
    }
    for slot in scheduled.indices where scheduled[slot].table.isTouched {
      record(scheduled[slot])
      _ = scheduled[slot].table.takeTouched()
    }
    peers[origin.peer]?.scheduled = scheduled
    peers[origin.peer]?.isLetIn = true
    answer(origin, ServerMessage.Response(.ok), .refuse(request: origin.request, nil))
  }

  private mutating func record(_ writes: ScheduledWrites) {
    sessions.record(writes)
    appliedStep += 1
  }

  // MARK: Users who are shut out

  /// Withdraws what users have scheduled who may do nothing any more.
  ///
  /// What cannot be withdrawn, since the store fails, is looked at again before it is applied.
  ///
  /// - Parameters:
  ///   - timestamp: The server's time in milliseconds since 1970.
  ///   - isShutOut: Whether nothing is to be written as whom the rules see as this `auth`.
  /// - Returns: What the peers are to be told.
  /// - Complexity: O(peers)
  package mutating func withdrawScheduled(
    at timestamp: Int64,
    where isShutOut: (JSONValue) -> Bool
  ) -> [HubOutput] {
    now = timestamp
    for (id, peer) in peers.sorted(by: { $0.key < $1.key }) {
      for (slot, writes) in peer.scheduled.enumerated() where !writes.table.isEmpty {
        guard case .user(let auth?) = writes.identity, isShutOut(auth) else { continue }
        let nothing = ScheduledWrites(id: writes.id, identity: writes.identity)
        peers[id]?.scheduled[slot] = nothing
        record(nothing)
      }
    }
    return flush()
  }

  // MARK: The end of a connection

  /// Applies what ended peers have scheduled.
  mutating func fireOverdueDisconnects(at timestamp: Int64) {
    let ended = overdueDisconnects
    overdueDisconnects = []
    for writes in ended {
      fire(writes, at: timestamp)
      record(ScheduledWrites(id: writes.id, identity: writes.identity))
      firedDisconnects.append((appliedStep, writes))
    }
  }

  /// Applies what was scheduled, as one commit, with the permissions of who scheduled it.
  ///
  /// Where the rules do not allow it as a whole any more, each write is tried by itself: one that
  /// has become forbidden must not hold the others up. Nobody is left to be told of a refusal.
  private mutating func fire(_ writes: ScheduledWrites, at timestamp: Int64) {
    if case .user(let auth?) = writes.identity, verifier.isShutOut(auth) { return }
    let standing = Standing(identity: writes.identity)
    let changes = writes.table.changes
    if fire(changes, as: standing, at: timestamp) || changes.count < 2 { return }
    for change in changes { _ = fire([change], as: standing, at: timestamp) }
  }

  private mutating func fire(
    _ changes: [Change],
    as standing: Standing,
    at timestamp: Int64
  ) -> Bool {
    let effective = effective(changes, at: timestamp)
    let after = tree(with: effective)
    let paths = changes.map(\.path)
    if refusal(toWrite: paths, makingOf: after, as: standing, at: timestamp) != nil {
      return false
    }
    commit(effective, makingOf: after, isMerge: effective.count > 1, at: timestamp)
    return true
  }

  /// Goes back to what the store holds of what peers have scheduled.
  ///
  /// What ended peers had scheduled is applied again, even where a withdrawal was not stored.
  mutating func rollBackSessions() {
    sessions.rollBack()
    overdueDisconnects = firedDisconnects.map(\.writes) + overdueDisconnects
    firedDisconnects = []
    var known = Set(overdueDisconnects.map(\.id))
    for (peer, state) in peers {
      let durable = state.scheduled.map { writes in
        sessions.durableWrites(of: writes.id)
          ?? ScheduledWrites(id: writes.id, identity: writes.identity)
      }
      peers[peer]?.scheduled = durable
      known.formUnion(durable.map(\.id))
    }
    overdueDisconnects += sessions.stored.filter { !known.contains($0.id) }
    boundOverdueDisconnects()
  }

  /// Gives the oldest up when the store has been failing for long.
  mutating func boundOverdueDisconnects() {
    let excess = overdueDisconnects.count - limits.overdueDisconnects
    guard excess > 0 else { return }
    for writes in overdueDisconnects.prefix(excess) {
      record(ScheduledWrites(id: writes.id, identity: writes.identity))
    }
    overdueDisconnects.removeFirst(excess)
  }
}
