package import RealtimeCore

/// Keeps what outlives the process of a client: pending writes, and data of the server.
///
/// The engine decides what is kept and emits ``OfflineChange``s; a store carries them out. A store
/// behaves like a log: after a crash, it is as if the changes had stopped between two calls of
/// ``perform(_:)``. Which two is up to the store, so that nobody has to wait for a disk:
///
/// - A write whose call has just returned may be lost with the process, but only as a whole.
/// - The kept writes are the first ones in their order, without those that were answered.
/// - A kept write has the key it was sent with, so that a server with support for keys applies it
///   once, even if the store never learned of the answer.
package protocol OfflineStore: Sendable {
  /// The data of a tracked query after all changes up to now.
  ///
  /// - Parameter query: The number of the query.
  /// - Returns: The data, or nil if there are none or they cannot be read.
  func data(of query: Int64) -> Node?

  /// Takes changes, which are kept together or not at all, after those of earlier calls.
  func perform(_ changes: [OfflineChange])

  /// Calls a block once the disk has all changes up to now, or with the reason why it has not.
  func flush(_ block: @escaping @Sendable (OfflineStoreError?) -> Void)

  /// Writes what was performed up to now and closes the file.
  func close()
}

/// A reason why nothing is kept on disk, or why what was kept is lost.
package struct OfflineStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of reasons.
  package enum Kind: Hashable, Sendable {
    /// Another process, or another database of this process, uses the file.
    case inUse
    /// The file was damaged and has been set aside.
    case damaged
    /// The file cannot be created, read or written.
    case unavailable
  }

  /// The kind of reason.
  package let kind: Kind
  /// What happened, with the file.
  package let description: String

  /// Makes an error.
  package init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

/// What a store reports, on a thread of its own.
package struct OfflineStoreObservers: Sendable {
  /// Receives the size of the store in bytes after each change of it.
  package var onSize: @Sendable (Int64) -> Void
  /// Receives the reasons why not everything is kept, each once.
  package var onProblem: @Sendable (OfflineStoreError) -> Void

  /// Makes observers.
  package init(
    onSize: @escaping @Sendable (Int64) -> Void,
    onProblem: @escaping @Sendable (OfflineStoreError) -> Void
  ) {
    self.onSize = onSize
    self.onProblem = onProblem
  }
}

/// What a store kept from previous processes.
package struct OfflineState: Sendable, Equatable {
  /// The writes that were not answered, in their order.
  package var writes: [StoredWrite]
  /// The queries of which data are kept.
  package var queries: [TrackedQuery]

  /// Makes a state, empty unless something is given.
  package init(writes: [StoredWrite] = [], queries: [TrackedQuery] = []) {
    self.writes = writes
    self.queries = queries
  }
}

/// A write without an answer, in the form that outlives the process.
package struct StoredWrite: Sendable, Equatable {
  /// Numbers the writes of a store; a later write has a higher number.
  package var number: Int64
  /// The key of the write for servers that apply a write only once.
  package var key: WriteKey
  /// The location.
  package var path: Path
  /// What is sent, with server values unresolved.
  package var operation: WriteOperation
  /// What observers see meanwhile, with server values estimated when the write was made.
  package var estimate: WriteOperation
  /// The user who made it, or nil if nobody was signed in; it is never sent as anyone else.
  package var owner: String?

  /// Makes a write.
  package init(
    number: Int64,
    key: WriteKey,
    path: Path,
    operation: WriteOperation,
    estimate: WriteOperation,
    owner: String? = nil
  ) {
    self.number = number
    self.key = key
    self.path = path
    self.operation = operation
    self.estimate = estimate
    self.owner = owner
  }
}

/// A query of which a store keeps the server's data.
package struct TrackedQuery: Sendable, Equatable {
  /// Names the query in the store.
  package var id: Int64
  /// The location.
  package var path: Path
  /// Which children of it; every query of all data is the default one.
  package var query: Query
  /// When it was last started or stopped, in milliseconds since 1970.
  package var lastUse: Int64
  /// Whether the kept data were complete at some time.
  package var isComplete: Bool
  /// Whether the last process that used it kept it synced.
  package var isKept: Bool

  /// Makes a description.
  package init(
    id: Int64,
    path: Path,
    query: Query,
    lastUse: Int64,
    isComplete: Bool = false,
    isKept: Bool = false
  ) {
    self.id = id
    self.path = path
    self.query = query
    self.lastUse = lastUse
    self.isComplete = isComplete
    self.isKept = isKept
  }
}

/// A change of what a store keeps.
package enum OfflineChange: Sendable, Equatable {
  /// Keeps a write that waits for its answer.
  case saveWrite(StoredWrite)
  /// Drops a write that was answered or given up.
  case removeWrite(Int64)
  /// Keeps the description of a query, in place of an earlier one of the same number.
  case track(TrackedQuery)
  /// Keeps these data of a query and no others.
  case replace(query: Int64, Node)
  /// Replaces the data at a path of a query whose data are kept.
  case update(query: Int64, Change)
  /// As `update`, but only if the child that the path leads through is kept.
  case amend(query: Int64, Change)
  /// Forgets a query and its data.
  case forget(query: Int64)
}
