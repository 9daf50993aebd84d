internal import RealtimeCore

/// The writes that peers have scheduled for their disconnects.
///
///     scheduled ──peer closes──► overdue ──fired──► applied, and forgotten once that is durable
///        │ ▲                        ▲
///        ▼ │ its session resumes    │ its session ends
///     suspended ────────────────────┘
///
/// Writes left over from the connections of an earlier hub are overdue from the start, or suspended
/// if they belong to a session that may outlive the leader.
///
/// Whatever changes what is scheduled returns how many steps must become durable.
struct Disconnects: Sendable {
  private let limits: ServerLimits
  private var sessions: SessionLedger
  /// The writes of each peer that has scheduled any, in the order in which they will be applied.
  private var scheduled: [PeerID: [ScheduledWrites]] = [:]
  private var suspended: [RemoteSession: Suspension] = [:]
  /// Writes of closed peers that could not be applied yet.
  private var overdue: [ScheduledWrites]
  /// Writes of closed peers that have been applied, each with the step that must become durable.
  private var fired: [(step: Int64, writes: ScheduledWrites)] = []

  /// What a session without a peer has scheduled.
  private struct Suspension {
    var slots: [ScheduledWrites] = []
    /// How often it was asked whether the session has ended.
    var checks = 0
  }

  init(_ stored: [StoredSession], limits: ServerLimits) {
    self.limits = limits
    sessions = SessionLedger(stored)
    overdue = []
    for writes in sessions.stored { restore(writes) }
  }

  /// Continues with writes whose peer is gone.
  private mutating func restore(_ writes: ScheduledWrites) {
    if let owner = writes.owner {
      suspended[owner, default: Suspension()].slots.append(writes)
    } else {
      overdue.append(writes)
    }
  }

  // MARK: Scheduling

  /// The number of writes that a peer has scheduled.
  func count(of peer: PeerID) -> Int {
    scheduled[peer]?.reduce(0) { $0 + $1.table.count } ?? 0
  }

  /// Schedules changes as an identity, after everything the peer has scheduled so far.
  ///
  /// - Throws: A ``RequestError`` when a limit is exceeded; then nothing changes.
  mutating func schedule(
    _ changes: [Change],
    as identity: Identity,
    of peer: PeerID,
    owner: RemoteSession?
  ) throws(RequestError) -> Int {
    var slots = scheduled[peer] ?? []
    let slot = try slot(for: identity, of: owner, in: &slots)
    for change in changes {
      for other in slots.indices where other != slot {
        slots[other].table.removeAll(below: change.path)
      }
      slots[slot].table.set(change.node, at: change.path)
    }
    if let error = excess(of: slots) { throw error }
    return replace(slots, of: peer)
  }

  /// Withdraws what a peer has scheduled at a path and below it.
  mutating func cancel(at path: Path, of peer: PeerID) -> Int {
    var slots = scheduled[peer] ?? []
    for slot in slots.indices { slots[slot].table.cancel(path) }
    return replace(slots, of: peer)
  }

  /// Withdraws what peers have scheduled as certain users.
  ///
  /// - Complexity: O(peers)
  mutating func withdraw(where isWithdrawn: (Identity) -> Bool) -> Int {
    var withdrawn: [ScheduledWrites] = []
    func rest(of slots: [ScheduledWrites]) -> [ScheduledWrites] {
      slots.map { writes in
        guard !writes.table.isEmpty, isWithdrawn(writes.identity) else { return writes }
        withdrawn.append(writes.emptied)
        return writes.emptied
      }
    }
    for (peer, slots) in scheduled.sorted(by: { $0.key < $1.key }) {
      scheduled[peer] = rest(of: slots)
    }
    for (session, suspension) in suspended.sorted(by: { $0.key < $1.key }) {
      suspended[session]?.slots = rest(of: suspension.slots)
    }
    for writes in withdrawn { sessions.record(writes) }
    return withdrawn.count
  }

  /// The slot for the next writes of a user, which are applied after all existing ones.
  private mutating func slot(
    for identity: Identity,
    of owner: RemoteSession?,
    in slots: inout [ScheduledWrites]
  ) throws(RequestError) -> Int {
    let last = slots.lastIndex { !$0.table.isEmpty }
    if let last, slots[last].identity == identity { return last }
    let next = last.map { $0 + 1 } ?? 0
    if next < slots.count {
      slots[next].identity = identity
      return next
    }
    if next >= limits.disconnectIdentities {
      throw RequestError(
        .unavailable,
        reason: "one connection cannot schedule writes as more than "
          + "\(limits.disconnectIdentities) users"
      )
    }
    slots.append(ScheduledWrites(id: sessions.makeID(), identity: identity, owner: owner))
    return next
  }

  private func excess(of slots: [ScheduledWrites]) -> RequestError? {
    if slots.reduce(0, { $0 + $1.table.count }) > limits.disconnectWrites {
      return RequestError(
        .unavailable,
        reason: "one connection cannot schedule more than \(limits.disconnectWrites) writes"
      )
    }
    if slots.reduce(0, { $0 + $1.table.bytes }) > limits.disconnectBytes {
      return RequestError(
        .tooBig,
        reason: "one connection cannot schedule more than \(limits.disconnectBytes) bytes"
      )
    }
    return nil
  }

  private mutating func replace(_ new: [ScheduledWrites], of peer: PeerID) -> Int {
    var slots = new
    var steps = 0
    for slot in slots.indices where slots[slot].table.isTouched {
      sessions.record(slots[slot])
      _ = slots[slot].table.takeTouched()
      steps += 1
    }
    scheduled[peer] = slots.isEmpty ? nil : slots
    return steps
  }

  // MARK: The end of a connection

  /// Whether any writes wait to be applied.
  var hasOverdue: Bool { !overdue.isEmpty }

  /// Records that a peer has closed.
  mutating func end(_ peer: PeerID) -> Int {
    guard let slots = scheduled.removeValue(forKey: peer) else { return 0 }
    overdue += slots.filter { !$0.table.isEmpty }
    return boundOverdue()
  }

  /// Whether there are suspended sessions, which have no peer but may be resumed.
  var hasSuspended: Bool { !suspended.isEmpty }

  /// Records that a peer has closed whose session may be resumed.
  mutating func suspend(_ peer: PeerID, as session: RemoteSession) {
    guard let slots = scheduled.removeValue(forKey: peer) else { return }
    suspended[session, default: Suspension()].slots += slots
  }

  /// Resumes a session for a peer, and returns whether it was suspended.
  mutating func resume(_ session: RemoteSession, as peer: PeerID) -> Bool {
    guard let suspension = suspended.removeValue(forKey: session) else { return false }
    scheduled[peer] = suspension.slots
    return true
  }

  /// Ends sessions that are over, or that have waited through as many such calls as they may.
  ///
  /// Without a number of checks, this call does not count.
  mutating func endSuspended(after checks: Int?, where isOver: (RemoteSession) -> Bool) -> Int {
    for (session, suspension) in suspended.sorted(by: { $0.key < $1.key }) {
      if isOver(session) || checks.map({ suspension.checks >= $0 }) ?? false {
        suspended[session] = nil
        overdue += suspension.slots.filter { !$0.table.isEmpty }
      } else if checks != nil {
        suspended[session]?.checks += 1
      }
    }
    return boundOverdue()
  }

  /// Takes the writes to apply.
  mutating func takeOverdue() -> [ScheduledWrites] {
    defer { overdue = [] }
    return overdue
  }

  /// Records that overdue writes have been applied; they are forgotten once the step is durable.
  mutating func noteFired(_ writes: ScheduledWrites, step: Int64) {
    sessions.record(writes.emptied)
    fired.append((step, writes))
  }

  /// Drops the oldest overdue writes beyond the limit, and returns how many.
  ///
  /// Overdue writes accumulate only while the store keeps failing.
  private mutating func boundOverdue() -> Int {
    let excess = overdue.count - limits.overdueDisconnects
    guard excess > 0 else { return 0 }
    for writes in overdue.prefix(excess) { sessions.record(writes.emptied) }
    overdue.removeFirst(excess)
    return excess
  }

  // MARK: The store

  /// Whether there are changes that no batch has taken.
  var hasUnsaved: Bool { sessions.hasUnsaved }

  /// Takes the changes since the last call, and their updates for the store.
  mutating func takeUnsaved() -> (writes: [ScheduledWrites], updates: [SessionUpdate]) {
    sessions.takeUnsaved()
  }

  /// Records that taken changes, and all steps up to this one, are durable.
  mutating func saved(_ taken: [ScheduledWrites], upTo step: Int64) {
    sessions.saved(taken)
    fired.removeAll { $0.step <= step }
  }

  /// Reverts to the stored state.
  ///
  /// The writes of closed peers are applied again, even where a withdrawal could not be stored.
  mutating func rollBack() -> Int {
    sessions.rollBack()
    overdue = fired.map(\.writes) + overdue
    fired = []
    var known = Set(overdue.map(\.id))
    func durable(_ slots: [ScheduledWrites]) -> [ScheduledWrites] {
      known.formUnion(slots.map(\.id))
      return slots.map { sessions.durableWrites(of: $0.id) ?? $0.emptied }
    }
    for (peer, slots) in scheduled { scheduled[peer] = durable(slots) }
    for (session, suspension) in suspended {
      suspended[session]?.slots = durable(suspension.slots)
    }
    for writes in sessions.stored where !known.contains(writes.id) { restore(writes) }
    return boundOverdue()
  }
}

/// What one connection has scheduled for its disconnect as one user.
struct ScheduledWrites: Sendable {
  /// The number under which it is stored; writes with lower numbers are applied first.
  let id: Int64
  /// Who scheduled the writes; this identity's permissions count when they are applied.
  var identity: Identity
  /// The session that it belongs to, if that may outlive the leader.
  var owner: RemoteSession?
  var table = DisconnectTable()

  /// The entries at some paths, as an update for the store.
  func update(of paths: Set<Path>) -> SessionUpdate {
    let session = StoredSession(id: id, identity: identity, owner: owner, changes: [])
    return table.update(of: session, at: paths)
  }

  /// Nothing, under the same number.
  var emptied: ScheduledWrites { ScheduledWrites(id: id, identity: identity, owner: owner) }
}

/// Tracks what a store holds of the writes scheduled for disconnects.
private struct SessionLedger: Sendable {
  private var durable = SortedMap<Int64, ScheduledWrites>()
  /// What the store should hold, with the paths where it still differs; an empty table means
  /// nothing.
  private var unsaved = SortedMap<Int64, (writes: ScheduledWrites, touched: Set<Path>)>()
  private var lastID: Int64 = 0

  init(_ sessions: [StoredSession]) {
    for session in sessions {
      let table = DisconnectTable(changes: session.changes, withdrawn: session.withdrawn)
      let writes = ScheduledWrites(
        id: session.id,
        identity: session.identity,
        owner: session.owner,
        table: table
      )
      durable.updateValue(writes, forKey: session.id)
      lastID = max(lastID, session.id)
    }
  }

  /// Whether there are changes that no batch has taken.
  var hasUnsaved: Bool { !unsaved.isEmpty }

  /// Everything that the store holds, in the order in which it was first scheduled.
  var stored: [ScheduledWrites] { durable.map(\.value) }

  mutating func makeID() -> Int64 {
    lastID += 1
    return lastID
  }

  /// Records the current schedule, which is an empty table once it has been applied.
  mutating func record(_ writes: ScheduledWrites) {
    var writes = writes
    let touched = writes.table.takeTouched()
    let known: Void? = unsaved.modify(writes.id) { known in
      known.writes = writes
      known.touched.formUnion(touched)
    }
    if known == nil { unsaved.updateValue((writes, touched), forKey: writes.id) }
  }

  /// What the store holds under a number, or nil when it holds nothing.
  func durableWrites(of id: Int64) -> ScheduledWrites? { durable[id] }

  /// Takes the changes since the last call, and their updates for the store.
  mutating func takeUnsaved() -> (writes: [ScheduledWrites], updates: [SessionUpdate]) {
    if unsaved.isEmpty { return ([], []) }
    defer { unsaved = SortedMap() }
    return (
      writes: unsaved.map(\.value.writes),
      updates: unsaved.map { $0.value.writes.update(of: $0.value.touched) }
    )
  }

  /// Marks taken changes as stored.
  mutating func saved(_ taken: [ScheduledWrites]) {
    for writes in taken {
      if writes.table.isEmpty {
        durable.removeValue(forKey: writes.id)
      } else {
        durable.updateValue(writes, forKey: writes.id)
      }
    }
  }

  /// Forgets unsaved changes.
  mutating func rollBack() {
    unsaved = SortedMap()
  }
}
