import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A store of an earlier version")
struct StoreMigrationTests {
  /// What the earlier version did not have.
  enum Lack: CaseIterable {
    case sessions, rules, interruptibleFolds

    /// Makes a store one of that version.
    var sql: String {
      switch self {
      case .sessions:
        """
        DROP TABLE sessions;
        DELETE FROM grdb_migrations WHERE identifier = 'sessions';
        PRAGMA user_version = 1;
        """
      case .rules:
        """
        DROP TABLE rules;
        DELETE FROM grdb_migrations WHERE identifier = 'rules';
        PRAGMA user_version = 2;
        """
      case .interruptibleFolds:
        """
        ALTER TABLE state DROP COLUMN applied_changes;
        ALTER TABLE state DROP COLUMN target_revision;
        ALTER TABLE state DROP COLUMN node_rows;
        ALTER TABLE state DROP COLUMN counted_folded;
        ALTER TABLE state DROP COLUMN counted_target;
        ALTER TABLE state DROP COLUMN counted_applied;
        DROP TABLE batches;
        DELETE FROM grdb_migrations WHERE identifier
          IN ('folds in several steps', 'batches without commits', 'number of rows');
        PRAGMA user_version = 3;
        """
      }
    }
  }

  @Test("is migrated with all its data and can then have everything", arguments: Lack.allCases)
  func migration(lack: Lack) throws {
    let living = try TemporaryDirectory()
    var model = StoreModel(seed: 9)
    let store = try SQLiteTreeStore(directory: living.store, now: 0)
    for _ in 0..<5 { try store.commit(model.nextBatch()) }
    try store.fold()
    for _ in 0..<5 { try store.commit(model.nextBatch()) }
    let session = StoredSession(id: 3, changes: [Change("b", to: .integer(2))])
    if lack == .rules {
      try store.commit(CommitBatch(commits: [], sessions: [SessionUpdate(session)]))
    }
    let killed = try TemporaryDirectory(filesOf: living.store)
    try store.close()
    let directory = lack == .interruptibleFolds ? killed : living
    try directory.execute(lack.sql)

    let sessions = lack == .rules ? [session] : []
    if lack != .sessions { check(try StoreFile(at: directory.store).load(), model) }
    let again = try SQLiteTreeStore(directory: directory.store, now: 0)
    let tree = try again.load()
    check(tree, model)
    #expect(tree.sessions == sessions && tree.rules == nil)
    let added = CommitBatch(commits: [], sessions: [SessionUpdate(session)], rules: "{}")
    try again.commit(added)
    try again.commit(model.nextBatch())
    try again.close()
    let last = try StoreFile(at: directory.store).load()
    check(last, model)
    #expect(last.sessions == [session] && last.rules == "{}")
  }

  @Test("migrates a ledger from before entries had owners")
  func olderLedger() throws {
    let directory = try TemporaryDirectory()
    try SQLiteTreeStore(directory: directory.store, now: 0).close()
    try directory.execute(
      """
      DROP TABLE ledger;
      CREATE TABLE ledger (
        client BLOB PRIMARY KEY, up_to INTEGER NOT NULL, refused TEXT NOT NULL,
        last_seen INTEGER NOT NULL
      ) WITHOUT ROWID;
      INSERT INTO ledger VALUES (CAST('c' AS BLOB), 12, '{"7":"too_big"}', 5);
      DELETE FROM grdb_migrations WHERE identifier = 'owners of ledger entries';
      PRAGMA user_version = 4;
      """
    )
    let entry = LedgerEntry(
      owner: .unknown,
      client: "c",
      upTo: 12,
      refused: [7: .tooBig],
      lastSeen: 5
    )
    #expect(try StoreFile(at: directory.store).load().ledger == [entry])
    let again = try SQLiteTreeStore(directory: directory.store, now: 0)
    #expect(try again.load().ledger == [entry])
    try again.close()
  }
}
