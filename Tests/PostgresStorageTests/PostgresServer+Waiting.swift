import HearthLab
import RealtimeCore
import RealtimeServer

@testable import PostgresStorage

extension PostgresServer {
  /// Waits until one backend of a database waits for a lock in a query that contains a text.
  func waitForLock(in query: String = "hearth.commit", at url: String) {
    while fromWaiting("count(*)", in: query, at: url) != "1" {}
  }

  /// Terminates the backend of a database whose commit waits for a lock, as soon as there is one.
  func terminateWaitingCommit(at url: String) {
    while fromWaiting("pg_terminate_backend(pid)", in: "hearth.commit", at: url) != "t" {}
  }

  private func fromWaiting(_ selection: String, in query: String, at url: String) -> String? {
    try? sql(
      """
      SELECT \(selection) FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE '%\(query)%'
      """,
      at: url
    )
  }
}

extension PostgresConnection {
  /// A connection that holds the row that the next commit to a database has to insert.
  static func holdingNextRow(of database: String = "test", at url: String) throws -> Self {
    let holder = try Self(to: PostgresAddress(url))
    try holder.run("BEGIN", within: .seconds(5))
    try holder.query(
      """
      INSERT INTO hearth.log SELECT database, max(batch) + 1, gen_random_uuid(), gen_random_uuid(),
        gen_random_uuid(), 0, NULL FROM hearth.log JOIN hearth.databases d ON d.id = database
        WHERE d.name = '\(database)' GROUP BY database
      """,
      within: .seconds(5)
    )
    return holder
  }
}

/// A batch of one commit, which writes a value, by default its revision, at a path of its own.
func batch(_ revision: Int64, _ value: Int64? = nil, rules: String? = nil) -> CommitBatch {
  let change = Change(Path(wire: "at\(revision)"), to: .integer(value ?? revision))
  return CommitBatch(
    commits: [Commit(revision: revision, timestamp: 0, changes: [change])],
    ledger: [LedgerEntry(client: "c", upTo: revision, lastSeen: .max)],
    rules: rules
  )
}
