internal import RealtimeProtocol
internal import RealtimeTree

/// Remembers what a store holds of the writes that connections have scheduled for their ends.
struct SessionLedger: Sendable {
  /// What the store holds.
  private var durable = SortedMap<Int64, ScheduledWrites>()
  /// What the store is to hold; an empty table stands for nothing.
  private var unsaved = SortedMap<Int64, ScheduledWrites>()
  private var lastID: Int64 = 0

  init(_ sessions: [StoredSession]) {
    for session in sessions {
      var writes = ScheduledWrites(id: session.id, identity: session.identity)
      for change in session.changes { writes.table.set(change.path, change.node) }
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
    unsaved.updateValue(writes, forKey: writes.id)
  }

  /// What the store holds under a number, or nil when that is nothing.
  func durableWrites(of id: Int64) -> ScheduledWrites? { durable[id] }

  /// Takes what has changed since the last call.
  mutating func takeUnsaved() -> [ScheduledWrites] {
    let taken = unsaved.map(\.value)
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
