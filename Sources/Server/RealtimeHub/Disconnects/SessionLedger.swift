internal import RealtimeCore

/// Remembers what a store holds of the writes that connections have scheduled for their ends.
struct SessionLedger: Sendable {
  /// What the store holds.
  private var durable = SortedMap<Int64, ScheduledWrites>()
  /// What the store is to hold, with the paths where it holds something else; an empty table stands
  /// for nothing.
  private var unsaved = SortedMap<Int64, (writes: ScheduledWrites, touched: Set<Path>)>()
  private var lastID: Int64 = 0

  init(_ sessions: [StoredSession]) {
    for session in sessions {
      let table = DisconnectTable(changes: session.changes, withdrawn: session.withdrawn)
      let writes = ScheduledWrites(id: session.id, identity: session.identity, table: table)
      durable.updateValue(writes, forKey: session.id)
      lastID = max(lastID, session.id)
    }
  }

  /// Whether there is something that no batch has taken.
  var hasUnsaved: Bool { !unsaved.isEmpty }

  /// Everything that the store holds, in the order in which connections first scheduled something.
  var stored: [ScheduledWrites] { durable.map(\.value) }

  /// A number that nothing else has.
  mutating func makeID() -> Int64 {
    lastID += 1
    return lastID
  }

  /// Remembers what is scheduled now; an empty table when that has been applied.
  mutating func record(_ writes: ScheduledWrites) {
    var writes = writes
    let touched = writes.table.takeTouched()
    let known: Void? = unsaved.modify(writes.id) { known in
      known.writes = writes
      known.touched.formUnion(touched)
    }
    if known == nil { unsaved.updateValue((writes, touched), forKey: writes.id) }
  }

  /// What the store holds under a number, or nil when that is nothing.
  func durableWrites(of id: Int64) -> ScheduledWrites? { durable[id] }

  /// Takes what has changed since the last call, with what the store is to be told of it.
  mutating func takeUnsaved() -> [(writes: ScheduledWrites, update: SessionUpdate)] {
    let taken = unsaved.map { _, value in
      let (writes, touched) = value
      return (writes, writes.table.update(of: touched, writes.id, writes.identity))
    }
    unsaved = SortedMap()
    return taken
  }

  /// Marks what was taken as stored.
  mutating func saved(_ taken: [ScheduledWrites]) {
    for writes in taken {
      if writes.table.isEmpty {
        durable.removeValue(forKey: writes.id)
      } else {
        durable.updateValue(writes, forKey: writes.id)
      }
    }
  }

  /// Forgets what is not stored.
  mutating func rollBack() {
    unsaved = SortedMap()
  }
}
