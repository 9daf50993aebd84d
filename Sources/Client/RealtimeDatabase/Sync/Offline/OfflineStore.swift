package import RealtimeCore

/// Stores what outlives a client's process: pending writes, and data from the server.
///
/// The engine decides what to store and emits ``OfflineChange``s; a store carries them out. A store
/// behaves like a log: after a crash, it is as if the changes had stopped between two calls of
/// ``perform(_:)``. The store chooses which two, so that no caller has to wait for the disk:
///
/// - A write whose call has just returned may be lost with the process, but only as a whole.
/// - The stored writes are the first ones in their order, without those that were answered.
/// - A stored write has the key it was sent with, so that a server that supports keys applies it
///   once, even if the store never learned of the answer.
package protocol OfflineStore: Sendable {
  /// The data of a tracked query after all changes so far.
  ///
  /// - Returns: The data, or nil if there is none or it cannot be read.
  func data(of query: Int64) -> Node?

  /// Accepts changes, which are stored atomically and after those of earlier calls.
  func perform(_ changes: [OfflineChange])

  /// Calls a block once all changes so far are on disk, or with the reason why they are not.
  func flush(_ block: @escaping @Sendable (OfflineStoreError?) -> Void)

  /// Writes all changes so far and closes the file.
  func close()
}

/// The reason why nothing is stored on disk, or why stored data is lost.
package struct OfflineStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// Another process, or another database of this process, uses the file.
    case inUse
    /// The file was damaged and has been set aside.
    case damaged
    /// The file cannot be created, read or written.
    case unavailable
  }

  package let kind: Kind
  /// A description of the problem that names the file.
  package let description: String

  init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

/// The observers of a store, which it calls on its own thread.
package struct OfflineStoreObservers: Sendable {
  /// Receives the size of the store in bytes whenever it changes.
  var onSize: @Sendable (Int64) -> Void
  /// Receives the reasons why changes are not stored, each once.
  package var onProblem: @Sendable (OfflineStoreError) -> Void
}

/// The contents that a store kept from previous processes.
package struct OfflineState: Sendable, Equatable {
  /// The unanswered writes, in their order.
  package var writes: [StoredWrite]
  /// The queries whose data is stored.
  package var queries: [TrackedQuery]

  package init(writes: [StoredWrite] = [], queries: [TrackedQuery] = []) {
    self.writes = writes
    self.queries = queries
  }
}

/// An unanswered write, in the form that outlives the process.
package struct StoredWrite: Sendable, Equatable {
  /// The write's number in the store; later writes have higher numbers.
  package var number: Int64
  /// The write's key, for servers that apply each write only once.
  package var key: WriteKey
  package var path: Path
  /// The operation that is sent, with server values unresolved.
  package var operation: WriteOperation
  /// What observers see until the answer, with server values estimated when the write was made.
  var estimate: WriteOperation
  /// The user who made it, or nil if no user was signed in; it is never sent as another user.
  package var owner: String?
}

/// A query whose server data a store keeps.
package struct TrackedQuery: Sendable, Equatable {
  /// The number of the query in the store.
  package var id: Int64
  package var path: Path
  /// The selected children; every query of all data is stored as the default one.
  package var query: Query
  /// When it was last used, in milliseconds since 1970.
  var lastUse: Int64
  /// Whether the stored data was complete at some time.
  package var isComplete: Bool = false
  /// Whether the last process that used it kept it synced.
  package var isKept: Bool = false
}

package enum OfflineChange: Sendable, Equatable {
  /// Stores a write that waits for its answer.
  case saveWrite(StoredWrite)
  /// Removes a write that was answered or discarded.
  case removeWrite(Int64)
  /// Stores the description of a query, replacing the one with the same number.
  case track(TrackedQuery)
  /// Replaces a query's stored data.
  case replace(query: Int64, Node)
  /// Replaces the data at a path of a query whose data is stored.
  case update(query: Int64, Change)
  /// Like `update`, but only if the child that the path leads through is stored.
  case amend(query: Int64, Change)
  case forget(query: Int64)
}
