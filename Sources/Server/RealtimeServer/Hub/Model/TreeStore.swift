package import RealtimeCore

/// Keeps the data of a hub: the port that each storage implements.
///
/// The server makes one call at a time, from a thread of the store or, for
/// ``commitIfQuick(_:)``, from its event loop. A commit that returns is durable: it survives the end
/// of the process and a loss of power.
///
/// A commit that throws has one of two outcomes. Either nothing of the batch was stored, and the
/// next batch is tried as usual; or the outcome is unknown, and the server exits. The next server
/// reads what is actually on the disk. All errors are a ``StoreError``.
package protocol TreeStore: Sendable {
  /// Reads everything that has been committed.
  func load() throws -> StoredTree

  /// Reads everything, if possible without what is known from an earlier commit of its
  /// ``StoredTree/lineage``.
  ///
  /// - Returns: The same as ``load()``.
  func load(since known: StoredTree) throws -> StoredTree

  /// Makes a batch of commits durable, all or nothing.
  ///
  /// - Throws: A ``StoreError``. Unless its ``StoreError/hasStoredNothing`` is true, it is unknown
  ///   how much of the batch is on the disk, and no other batch may follow.
  func commit(_ batch: CommitBatch) throws

  /// Makes a batch durable as ``commit(_:)`` does, if nothing but the disk can make that take long.
  ///
  /// - Returns: Whether it is durable; false if it may take long, and then nothing has been done.
  func commitIfQuick(_ batch: CommitBatch) throws -> Bool

  /// Makes the batches of a queue durable in order, until one fails or there is none left.
  ///
  /// It reports the outcome of each batch, the oldest first, once all before it are durable. A
  /// failure, as of ``commit(_:)``, is the last and also holds for the batches that were taken
  /// after it.
  func commitAll(from queue: () -> CommitBatch?, _ settled: (Result<Void, any Error>) -> Void)

  /// Tells a store, from any thread, that the queue of ``commitAll(from:_:)`` has another batch.
  func batchWaits()

  /// Finishes pending background writes and releases the files.
  ///
  /// After a commit with an unknown outcome it must write nothing more.
  func close() throws
}

extension TreeStore {
  /// Reads the known data again.
  package func load(since known: StoredTree) throws -> StoredTree { try load() }

  package func commitIfQuick(_ batch: CommitBatch) -> Bool { false }

  /// Stores one batch after the other.
  package func commitAll(
    from queue: () -> CommitBatch?,
    _ settled: (Result<Void, any Error>) -> Void
  ) {
    while let batch = queue() {
      let result = Result { try commit(batch) }
      settled(result)
      if case .failure = result { return }
    }
  }

  package func batchWaits() {}
}

package struct StoredTree: Sendable, Equatable {
  package var root: Node
  /// The number of the last commit; 0 before the first.
  package var revision: Int64
  /// For each client, the number up to which its writes have been handled.
  package var ledger: [LedgerEntry]
  /// The writes scheduled for disconnects and not yet applied, in ascending order.
  package var sessions: [StoredSession]
  /// The source of the security rules as last set; nil when they were never set.
  package var rules: String?
  /// Names the history that the commits belong to, in which none has ever been lost or replaced; nil
  /// if the storage names none.
  package var lineage: String?

  package init(
    root: Node = .empty,
    revision: Int64 = 0,
    ledger: [LedgerEntry] = [],
    sessions: [StoredSession] = [],
    rules: String? = nil,
    lineage: String? = nil
  ) {
    self.root = root
    self.revision = revision
    self.ledger = ledger
    self.sessions = sessions
    self.rules = rules
    self.lineage = lineage
  }
}

extension StoredTree {
  /// Whether two hold the same, whatever history they belong to.
  package static func == (a: StoredTree, b: StoredTree) -> Bool {
    a.root == b.root && a.revision == b.revision && a.ledger == b.ledger
      && a.sessions == b.sessions && a.rules == b.rules
  }
}

/// One write as it was applied: paths start at the root, and server values are resolved.
package struct Commit: Sendable, Equatable {
  /// The number of the commit, one higher than that of the commit before.
  package var revision: Int64
  /// When it was applied, in milliseconds since 1970.
  package var timestamp: Int64
  package var changes: [Change]

  package init(revision: Int64, timestamp: Int64, changes: [Change]) {
    self.revision = revision
    self.timestamp = timestamp
    self.changes = changes
  }
}

/// Commits that are made durable together, with the ledger entries and sessions that they bring.
package struct CommitBatch: Sendable, Equatable {
  /// The commits in ascending order, without gaps; empty when only sessions or rules change.
  package var commits: [Commit]
  /// The new entries of the clients with writes in the batch, one for each client.
  ///
  /// An entry with a negative number means that the client is forgotten.
  package var ledger: [LedgerEntry]
  /// The changes to scheduled disconnect writes, one for each session.
  package var sessions: [SessionUpdate]
  /// The new source of the security rules; nil when it does not change.
  package var rules: String?

  package init(
    commits: [Commit],
    ledger: [LedgerEntry] = [],
    sessions: [SessionUpdate] = [],
    rules: String? = nil
  ) {
    self.commits = commits
    self.ledger = ledger
    self.sessions = sessions
    self.rules = rules
  }

  /// Joins consecutive batches into one, which is stored entirely or not at all.
  ///
  /// Of several entries of a client only the last is kept, and the updates of a session are merged.
  ///
  /// - Complexity: O(batches · clients and connections)
  package init(joining batches: [CommitBatch]) {
    self = batches.first ?? CommitBatch(commits: [])
    for batch in batches.dropFirst() {
      commits += batch.commits
      let names = Set(batch.ledger.map(\.name))
      ledger.removeAll { names.contains($0.name) }
      ledger += batch.ledger
      for update in batch.sessions {
        if let index = sessions.firstIndex(where: { $0.id == update.id }) {
          sessions[index].append(update)
        } else {
          sessions.append(update)
        }
      }
      rules = batch.rules ?? rules
    }
  }
}

package struct StoreError: Error, Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// Another server holds the data directory.
    case locked
    /// The files cannot be created or written.
    case notWritable
    case damaged
    /// The storage holds less than what was acknowledged, as after the failover to an older standby.
    case outdated
    case missing
    /// The disk is full; nothing has been stored.
    case full
    /// The store cannot write for now, for example because of a lock; nothing has been stored.
    case busy
    /// Another server leads the database, or has changed the same account; nothing has been stored.
    case superseded
    /// The storage cannot be reached, or has not answered in time.
    case unreachable
    /// Any other failure of reading or writing.
    case failed
  }

  package let kind: Kind
  /// What went wrong, where, and what to do about it; for the log and the operator.
  package let description: String

  /// Whether it is certain that nothing of the failed write was stored.
  ///
  /// After any other failure the state of the disk is unknown.
  package var hasStoredNothing: Bool {
    switch kind {
    case .full, .busy, .superseded: true
    case .locked, .notWritable, .damaged, .outdated, .missing, .unreachable, .failed: false
    }
  }

  /// The reason that clients may see: it contains neither file names nor messages of the system.
  var publicReason: String {
    switch kind {
    case .full: "the disk is full"
    case .damaged: "the stored data is damaged"
    case .outdated: "the storage has lost the last writes"
    case .busy: "the data cannot be written right now"
    case .superseded: "another server leads the database now"
    case .locked, .notWritable: "the data cannot be written"
    case .missing: "the database does not exist"
    case .unreachable: "the storage does not answer"
    case .failed: "the disk failed"
    }
  }

  package init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

/// The session of a client that has reached another server than the one that leads its database.
///
/// It outlives the leader: the server that the client has reached resumes it at the next one.
package struct RemoteSession: Hashable, Sendable, Comparable {
  /// The run of the server that the client has reached.
  package let server: String
  package let name: String

  package static func < (left: RemoteSession, right: RemoteSession) -> Bool {
    (left.name, left.server) < (right.name, right.server)
  }
}

/// What a connection has scheduled for its disconnect, as a store keeps it until it is applied.
package struct StoredSession: Sendable, Equatable {
  /// A number that is unique among stored sessions; a connection may have several sessions.
  package var id: Int64
  /// Who scheduled the writes; this identity's permissions count when they are applied.
  ///
  /// Those that were stored before identities existed belong to an administrator: they had been
  /// allowed.
  package var identity: Identity = .administrator
  /// The session that they belong to, if it may outlive the leader.
  package var owner: RemoteSession?
  /// The writes, with paths from the root and unresolved server values; a nested write is the later
  /// one.
  package var changes: [Change]
  /// Paths below those of ``changes`` at which nothing is to be written after all.
  package var withdrawn: [Path] = []

  fileprivate var isEmpty: Bool { changes.isEmpty && withdrawn.isEmpty }
}

/// A change to what a connection has scheduled for its disconnect.
package struct SessionUpdate: Sendable, Equatable {
  /// The session, with the writes that are scheduled or withdrawn, replacing those at the same paths.
  package var session: StoredSession
  /// Whether everything stored for the session is discarded first; without any writes, this ends it.
  package var replaces = true
  /// Paths at which nothing is scheduled or withdrawn any more.
  package var removed: [Path] = []

  /// Makes an update that replaces a whole session; one without writes is ended.
  package init(_ session: StoredSession) { self.session = session }

  package var id: Int64 { session.id }

  /// Whether nothing is left of the session.
  package var isEnd: Bool { replaces && session.isEmpty }

  /// Merges a later update of the same session into this one.
  ///
  /// - Complexity: O(n log n)
  mutating func append(_ later: SessionUpdate) {
    if later.replaces {
      self = later
      return
    }
    let (old, new) = (session, later.session)
    let known = Set(new.changes.map(\.path) + new.withdrawn + later.removed)
    session = new
    session.changes = old.changes.filter { !known.contains($0.path) } + new.changes
    session.withdrawn = old.withdrawn.filter { !known.contains($0) } + new.withdrawn
    removed = removed.filter { !known.contains($0) } + later.removed
  }

  /// The session after this update, or nil when nothing is left of it.
  ///
  /// - Complexity: O(n log n)
  package func applied(to stored: StoredSession?) -> StoredSession? {
    var whole = SessionUpdate(stored ?? StoredSession(id: id, changes: []))
    whole.append(self)
    return whole.session.isEmpty ? nil : whole.session
  }
}
