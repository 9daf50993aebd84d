package import RealtimeHub

/// What a store holds, with the tree as rows that are read one after another.
package struct StoredRows {
  /// Takes the rows in the order of their paths, some at a time.
  package typealias Reading = (_ body: (NodeRows) throws -> Void) throws -> Void

  /// The number of the last commit.
  package let revision: Int64
  /// For each client, up to where its writes have been dealt with.
  package let ledger: [LedgerEntry]
  /// What connections have scheduled for their ends.
  package let sessions: [StoredSession]
  /// The source of the security rules, or nil.
  package let rules: String?
  private let reading: Reading

  /// Describes what is read when somebody asks for it.
  package init(
    revision: Int64,
    ledger: [LedgerEntry],
    sessions: [StoredSession],
    rules: String?,
    reading: @escaping Reading
  ) {
    self.revision = revision
    self.ledger = ledger
    self.sessions = sessions
    self.rules = rules
    self.reading = reading
  }

  /// Reads the tree, of which little is in memory at a time.
  ///
  /// - Parameter body: Takes the rows in the order of their paths.
  /// - Throws: What the storage does, and what the body throws.
  package func forEachChunk(_ body: (NodeRows) throws -> Void) throws { try reading(body) }
}
