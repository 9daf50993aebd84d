package import RealtimeCore

/// Where a hub's data rest: the port that a storage implements.
///
/// The server calls a store from one thread of its own, one call at a time. A commit that returns
/// is durable: it survives the end of the process and the loss of power.
///
/// A commit that throws either says that nothing of the batch was stored, and the next one is tried as
/// usual, or it does not know. Then the server ends, and the next one reads what the disk really has.
package protocol TreeStore: Sendable {
  /// Reads everything that has been committed.
  ///
  /// - Throws: A ``StoreError`` when the data cannot be read.
  func load() throws -> StoredTree

  /// Makes a batch of commits durable, all or nothing.
  ///
  /// - Throws: A ``StoreError``; unless it ``StoreError/hasStoredNothing``, what the disk has of the
  ///   batch is not known, and no other batch may follow.
  func commit(_ batch: CommitBatch) throws

  /// Writes what is pending in the background and gives the files up.
  ///
  /// After a commit whose outcome is not known, it writes nothing more.
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
    /// The disk is full; nothing of what was to be written has been stored.
    case full
    /// Somebody else keeps the store from writing for now; nothing has been stored.
    case busy
    /// Any other failure of reading or writing.
    case failed
  }

  /// What was said of a batch whose outcome was not known; nobody reads it any more.
  package enum Doubt: Sendable {
    /// The one that failed.
    case thisBatch
    /// One before, still; of the one that failed nothing has been stored.
    case earlierBatch
  }

  /// The kind of failure.
  package let kind: Kind
  /// What was wrong, where, and what to do; for the log and whoever runs the server.
  package let description: String
  /// What a store for which it still matters says of itself.
  package var doubt: Doubt?

  /// Whether it is certain that nothing of what was to be written has been stored.
  ///
  /// After any other failure of a write nobody knows what the disk has.
  package var hasStoredNothing: Bool {
    switch kind {
    case .full, .busy: true
    case .locked, .notWritable, .damaged, .failed: false
    }
  }

  /// What clients may be told: neither the names of files nor the words of the system.
  package var publicReason: String {
    switch kind {
    case .full: "the disk is full"
    case .damaged: "the stored data are damaged"
    case .busy: "the data cannot be written at the moment"
    case .locked, .notWritable: "the data cannot be written"
    case .failed: "the disk does not work"
    }
  }

  /// Makes an error.
  package init(_ kind: Kind, _ description: String, doubt: Doubt? = nil) {
    self.kind = kind
    self.description = description
    self.doubt = doubt
  }
}
