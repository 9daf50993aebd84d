package import RealtimeCore

/// Keeps what a client must not lose with its process: pending writes, and data of the server.
///
/// The engine decides what is kept and emits it as ``OfflineChange``s; a store carries them out. A
/// store is a log in all that matters: after a crash it is as if the changes had stopped somewhere
/// between two calls of ``perform(_:)``. Where exactly is left to the store, so that nobody waits for
/// a disk:
///
/// - A write whose call has just returned may be lost with the process, but never half of it.
/// - The writes that are kept are the first ones in their order, less those that were answered.
/// - A kept write has the key it was sent with, so that a server that offers it applies it once,
///   whether or not the store learned of its answer.
package protocol OfflineStore: Sendable {
  /// The data of a tracked query after all changes up to now.
  ///
  /// - Parameter query: The number of the query.
  /// - Returns: The data, or nil when there are none or they cannot be read.
  func data(of query: Int64) -> Node?

  /// Takes changes that are kept together or not at all, after those of the calls before.
  func perform(_ changes: [OfflineChange])

  /// Calls a block when the disk has all changes up to now, with the reason if it has not.
  func flush(_ block: @escaping @Sendable (OfflineStoreError?) -> Void)

  /// Keeps what was performed up to now, and gives up what it is kept in.
  func close()
}

/// A reason why nothing, or nothing of before, is kept on disk.
package struct OfflineStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of reasons.
  package enum Kind: Hashable, Sendable {
    /// Another process, or another database of this one, has the file.
    case inUse
    /// The file was damaged and has been set aside.
    case damaged
    /// The file cannot be made, read or written.
    case unavailable
  }

  /// The kind of reason.
  package let kind: Kind
  /// What happened, with the file.
  package let description: String

  /// Makes an error.
  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// What a store tells, from a thread of its own.
package struct OfflineStoreObservers: Sendable {
  /// Takes the size of all that is kept in bytes, after each change of it.
  package var onSize: @Sendable (Int64) -> Void
  /// Takes the reasons why not everything is kept, each once.
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

/// What a store kept of the processes before this one.
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

/// A write that has not been answered, as it outlives its process.
package struct StoredWrite: Sendable, Equatable {
  /// Counts the writes of a store; a later write has a higher number.
  package var number: Int64
  /// The name of the write for servers that apply it once.
  package var key: WriteKey
  /// The location.
  package var path: Path
  /// What is sent, with the values that the server decides left open.
  package var operation: WriteOperation
  /// What observers see of it meanwhile, those values estimated when it was made.
  package var estimate: WriteOperation
  /// Who made it, or nil when nobody was signed in; nobody else sends it.
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
  /// When it was last begun or ended, in milliseconds since 1970.
  package var lastUse: Int64
  /// Whether data are kept that were complete at some moment.
  package var isComplete: Bool
  /// Whether the process that used it last wanted it kept up to date.
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

/// Something that a store is to keep or to forget.
package enum OfflineChange: Sendable, Equatable {
  /// Keeps a write that waits for its answer.
  case saveWrite(StoredWrite)
  /// Forgets a write that was answered or given up.
  case removeWrite(Int64)
  /// Keeps the description of a query, in place of an earlier one of the same number.
  case track(TrackedQuery)
  /// Keeps these data of a query and no others.
  case replace(query: Int64, Node)
  /// Replaces the data at a path of a query whose data are kept.
  case update(query: Int64, Change)
  /// As `update`, but only where data are kept of the child that the path leads through.
  case amend(query: Int64, Change)
  /// Forgets a query and its data.
  case forget(query: Int64)
}
