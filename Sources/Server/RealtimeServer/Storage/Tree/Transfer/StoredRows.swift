/// The content of a store, with the tree as rows that are read one after another.
package struct StoredRows {
  /// Passes the rows in path order to a closure, one chunk at a time.
  package typealias Reading = (_ body: (NodeRows) throws -> Void) throws -> Void

  /// The number of the last commit.
  package let revision: Int64
  /// For each client, the number up to which its writes have been handled.
  package let ledger: [LedgerEntry]
  /// The writes that connections have scheduled for their disconnects.
  package let sessions: [StoredSession]
  /// The source of the security rules, or nil.
  package let rules: String?
  private let reading: Reading

  /// Describes content whose tree is read only on request.
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

  /// Reads the tree, keeping little of it in memory.
  ///
  /// - Parameter body: Receives the rows in path order.
  /// - Throws: Any error of the storage or of the body.
  package func forEachChunk(_ body: (NodeRows) throws -> Void) throws { try reading(body) }
}
