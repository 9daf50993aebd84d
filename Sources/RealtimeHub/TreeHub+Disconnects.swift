internal import RealtimeProtocol
internal import RealtimeTree

extension TreeHub {
  /// Schedules a write for the end of a peer.
  mutating func schedule(
    _ operation: WriteOperation,
    at path: Path,
    _ origin: RequestOrigin
  ) {
    reschedule(origin) { hub, table throws(Refusal) in
      for change in try hub.validated(operation, at: path) { table.set(change.path, change.node) }
      if table.count > hub.limits.disconnectWritesPerPeer {
        throw Refusal(
          .unavailable,
          "one connection cannot schedule more than \(hub.limits.disconnectWritesPerPeer) writes"
        )
      }
      if table.bytes > hub.limits.disconnectBytesPerPeer {
        throw Refusal(
          .tooBig,
          "one connection cannot schedule more than \(hub.limits.disconnectBytesPerPeer) bytes"
        )
      }
    }
  }

  /// Withdraws what a peer has scheduled at a path and below.
  mutating func cancelScheduled(at path: Path, _ origin: RequestOrigin) {
    if peers[origin.peer]?.disconnects.isEmpty == true {
      return answer(origin, ServerMessage.Response(.ok), .refuse(request: origin.request, nil))
    }
    reschedule(origin) { _, table throws(Refusal) in table.cancel(path) }
  }

  /// Changes what a peer has scheduled; it is answered when the change is durable.
  private mutating func reschedule(
    _ origin: RequestOrigin,
    _ change: (borrowing TreeHub, inout DisconnectTable) throws(Refusal) -> Void
  ) {
    var table = peers[origin.peer]?.disconnects ?? DisconnectTable()
    do throws(Refusal) {
      if let refusal = admissionRefusal { throw refusal }
      try change(self, &table)
    } catch {
      return answer(origin, error.response, .keep)
    }
    let id = peers[origin.peer]?.session ?? sessions.makeID()
    peers[origin.peer]?.session = id
    peers[origin.peer]?.disconnects = table
    record(id, table)
    answer(origin, ServerMessage.Response(.ok), .refuse(request: origin.request, nil))
  }

  private mutating func record(_ session: Int64, _ table: DisconnectTable) {
    sessions.record(session, table)
    appliedStep += 1
  }

  /// Applies what ended peers have scheduled, one commit for each peer.
  mutating func fireOverdueDisconnects(at timestamp: Int64) {
    let ended = overdueDisconnects
    overdueDisconnects = []
    for session in ended {
      let changes = effective(session.table.changes, at: timestamp)
      commit(changes, isMerge: changes.count > 1, at: timestamp)
      record(session.id, DisconnectTable())
      firedDisconnects.append((appliedStep, session))
    }
  }

  /// Goes back to what the store holds of what peers have scheduled.
  ///
  /// What ended peers had scheduled is applied again, even where a withdrawal was not stored.
  mutating func rollBackSessions() {
    sessions.rollBack()
    overdueDisconnects = firedDisconnects.map(\.session) + overdueDisconnects
    firedDisconnects = []
    var known = Set(overdueDisconnects.map(\.id))
    for (peer, state) in peers {
      guard let session = state.session else { continue }
      peers[peer]?.disconnects = sessions.durableTable(of: session)
      known.insert(session)
    }
    overdueDisconnects += sessions.stored.filter { !known.contains($0.id) }
    boundOverdueDisconnects()
  }

  /// Gives the oldest up when the store has been failing for long.
  mutating func boundOverdueDisconnects() {
    let excess = overdueDisconnects.count - limits.overdueDisconnects
    guard excess > 0 else { return }
    for session in overdueDisconnects.prefix(excess) { record(session.id, DisconnectTable()) }
    overdueDisconnects.removeFirst(excess)
  }
}
