internal import RealtimeProtocol
internal import RealtimeTree

/// Remembers what a store holds of the writes that connections have scheduled for their ends.
struct SessionLedger: Sendable {
  /// What the store holds.
  private var durable = SortedMap<Int64, DisconnectTable>()
  /// What the store is to hold; an empty table stands for nothing.
  private var unsaved = SortedMap<Int64, DisconnectTable>()
  private var lastID: Int64 = 0

  init(_ sessions: [StoredSession]) {
    for session in sessions {
      var table = DisconnectTable()
      for change in session.changes { table.set(change.path, change.node) }
      durable.updateValue(table, forKey: session.id)
      lastID = max(lastID, session.id)
    }
  }

  /// Whether there is something that no batch has taken.
  var hasUnsaved: Bool { !unsaved.isEmpty }

  /// Everything that the store holds, in the order in which connections first scheduled something.
  var stored: [EndedSession] { durable.map { EndedSession(id: $0.key, table: $0.value) } }

  /// A number that no other connection has.
  mutating func makeID() -> Int64 {
    lastID += 1
    return lastID
  }

  /// Remembers what a connection has scheduled now; an empty table when that has been applied.
  mutating func record(_ id: Int64, _ table: DisconnectTable) {
    unsaved.updateValue(table, forKey: id)
  }

  /// What the store holds of a connection.
  func durableTable(of id: Int64) -> DisconnectTable { durable[id] ?? DisconnectTable() }

  /// Takes what has changed since the last call.
  mutating func takeUnsaved() -> [EndedSession] {
    let taken = unsaved.map { EndedSession(id: $0.key, table: $0.value) }
    unsaved = SortedMap()
    return taken
  }

  /// Marks what was taken as stored.
  mutating func saved(_ taken: [EndedSession]) {
    for session in taken {
      if session.table.isEmpty {
        durable.removeValue(forKey: session.id)
      } else {
        durable.updateValue(session.table, forKey: session.id)
      }
    }
  }

  /// Forgets what is not stored.
  mutating func rollBack() {
    unsaved = SortedMap()
  }
}
