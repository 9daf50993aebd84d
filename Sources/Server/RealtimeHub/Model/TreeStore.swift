package import RealtimeCore

/// Where a hub keeps its data: the port that a storage implements.
///
/// The server calls a store from one thread of its own, one call at a time. A commit that returns
/// is durable: it survives the end of the process and the loss of power.
///
/// A commit that throws either guarantees that nothing of the batch was stored, and the next one is
/// tried as usual; or its outcome is unknown, and the server ends. The next server reads what is really
/// on the disk.
package protocol TreeStore: Sendable {
  /// Reads everything that has been committed.
  ///
  /// - Throws: A ``StoreError`` when the data cannot be read.
  func load() throws -> StoredTree

  /// Makes a batch of commits durable, all or nothing.
  ///
  /// - Throws: A ``StoreError``. Unless it ``StoreError/hasStoredNothing``, it is unknown what the disk
  ///   has of the batch, and no other batch may follow.
  func commit(_ batch: CommitBatch) throws

  /// Writes what is pending in the background and gives the files up.
  ///
  /// After a commit with an unknown outcome it must write nothing more.
  func close() throws
}

/// What a store holds.
package struct StoredTree: Sendable, Equatable {
  /// The data.
  package var root: Node
  /// The number of the last commit; 0 before the first.
  package var revision: Int64
  /// For each client, up to where its writes have been dealt with.
  package var ledger: [LedgerEntry]
  /// What connections have scheduled for their ends and is not applied, in ascending order.
  package var sessions: [StoredSession]
  /// The source of the security rules as it was last set; nil when it never was.
  package var rules: String?

  /// Makes a stored tree; without arguments an empty one.
  package init(
    root: Node = .empty,
    revision: Int64 = 0,
    ledger: [LedgerEntry] = [],
    sessions: [StoredSession] = [],
    rules: String? = nil
  ) {
    self.root = root
    self.revision = revision
    self.ledger = ledger
    self.sessions = sessions
    self.rules = rules
  }
}

/// One write as it was applied: paths from the root, every server value decided.
package struct Commit: Sendable, Equatable {
  /// The number of the commit: one more than that of the commit before.
  package var revision: Int64
  /// When it was applied, in milliseconds since 1970.
  package var timestamp: Int64
  /// What changed.
  package var changes: [Change]

  /// Makes a commit.
  package init(revision: Int64, timestamp: Int64, changes: [Change]) {
    self.revision = revision
    self.timestamp = timestamp
    self.changes = changes
  }
}

/// Commits that are made durable together, with the ledger entries and sessions that they bring.
package struct CommitBatch: Sendable, Equatable {
  /// The commits in ascending order, without gaps; none when only sessions or rules change.
  package var commits: [Commit]
  /// The new state of the clients whose writes are in the batch, each once; those with a negative
  /// number are forgotten.
  package var ledger: [LedgerEntry]
  /// What changes of what connections have scheduled, each once.
  package var sessions: [SessionUpdate]
  /// The new source of the security rules; nil when it stays as it is.
  package var rules: String?

  /// Makes a batch.
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

  /// Joins batches that follow each other into one, which is stored all or not at all.
  ///
  /// Of several states of a client only the last is kept, and what changes of a connection is put
  /// together.
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

/// A reason why a store cannot be used or cannot store.
package struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  package enum Kind: Sendable {
    /// Another server has the data directory.
    case locked
    /// The files cannot be created or written.
    case notWritable
    /// The file is not a database, or is damaged.
    case damaged
    /// The disk is full; nothing has been stored.
    case full
    /// Somebody else keeps the store from writing for now; nothing has been stored.
    case busy
    /// Another server leads the database now; nothing has been stored.
    case superseded
    /// Any other failure of reading or writing.
    case failed
  }

  /// The kind of failure.
  package let kind: Kind
  /// What was wrong, where, and what to do; for the log and whoever runs the server.
  package let description: String

  /// Whether it is certain that nothing of the failed write was stored.
  ///
  /// After any other failure it is unknown what is on the disk.
  package var hasStoredNothing: Bool {
    switch kind {
    case .full, .busy, .superseded: true
    case .locked, .notWritable, .damaged, .failed: false
    }
  }

  /// What clients may be told: neither the names of files nor the words of the system.
  package var publicReason: String {
    switch kind {
    case .full: "the disk is full"
    case .damaged: "the stored data are damaged"
    case .busy: "the data cannot be written at the moment"
    case .superseded: "another server has the database now"
    case .locked, .notWritable: "the data cannot be written"
    case .failed: "the disk does not work"
    }
  }

  /// Makes an error.
  package init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

/// What a connection has scheduled for its end, as a store keeps it until it has been applied.
package struct StoredSession: Sendable, Equatable {
  /// What this is, by a number that nothing else that is stored has; a connection may have several.
  package var id: Int64
  /// Who scheduled it, and whose permissions count when it is applied.
  package var identity: Identity
  /// The writes, paths from the root, server values undecided; one below another is the later one.
  package var changes: [Change]
  /// Where, within the writes above, nothing is to be written after all.
  package var withdrawn: [Path]

  /// Makes an entry.
  ///
  /// Entries from before there were identities belong to an administrator: they had been allowed.
  package init(
    id: Int64,
    identity: Identity = .administrator,
    changes: [Change],
    withdrawn: [Path] = []
  ) {
    self.id = id
    self.identity = identity
    self.changes = changes
    self.withdrawn = withdrawn
  }
}

/// What changes of what a connection has scheduled for its end.
package struct SessionUpdate: Sendable, Equatable {
  /// Whose it is; see ``StoredSession/id``.
  package var id: Int64
  /// Who has scheduled it.
  package var identity: Identity
  /// Whether nothing counts that is stored of it; with nothing else it has come to its end.
  package var replaces: Bool
  /// What is scheduled now at some paths.
  package var changes: [Change]
  /// Where something is withdrawn now that is scheduled above.
  package var withdrawn: [Path]
  /// Where there is neither any more.
  package var removed: [Path] = []

  /// Makes the whole of a session an update; without writes it ends it.
  package init(_ session: StoredSession) {
    id = session.id
    identity = session.identity
    replaces = true
    changes = session.changes
    withdrawn = session.withdrawn
  }

  /// Whether nothing is left of the session.
  package var isEnd: Bool { replaces && changes.isEmpty && withdrawn.isEmpty }

  /// Adds an update of the same session that comes later.
  ///
  /// - Complexity: O(n log n)
  mutating func append(_ later: SessionUpdate) {
    if later.replaces {
      self = later
      return
    }
    let known = Set(later.changes.map(\.path) + later.withdrawn + later.removed)
    identity = later.identity
    changes = changes.filter { !known.contains($0.path) } + later.changes
    withdrawn = withdrawn.filter { !known.contains($0) } + later.withdrawn
    removed = removed.filter { !known.contains($0) } + later.removed
  }

  /// What becomes of a session.
  ///
  /// - Parameter stored: The session before, if there was one.
  /// - Returns: The session after; nil when nothing is left of it.
  /// - Complexity: O(n log n)
  package func applied(to stored: StoredSession?) -> StoredSession? {
    var whole = SessionUpdate(stored ?? StoredSession(id: id, changes: []))
    whole.append(self)
    if whole.changes.isEmpty, whole.withdrawn.isEmpty { return nil }
    return StoredSession(
      id: id,
      identity: identity,
      changes: whole.changes,
      withdrawn: whole.withdrawn
    )
  }
}
