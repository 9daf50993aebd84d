import Foundation
import GRDB
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("The rules in a store")
struct StoreRulesTests {
  private let source = "{ \"rules\": { \".read\": true } } // é 🐵\n"

  @Test("can be added to a store from before rules existed")
  func olderVersion() throws {
    let directory = try TemporaryDirectory()
    var model = StoreModel(seed: 12)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    for _ in 0..<30 { try store.commit(model.nextBatch()) }
    let session = StoredSession(id: 3, changes: [Change("b", to: .integer(2))])
    try store.commit(CommitBatch(commits: [], sessions: [SessionUpdate(session)]))
    try store.close()
    let queue = try DatabaseQueue(path: directory.database)
    try queue.writeWithoutTransaction { database in
      try database.execute(
        sql: """
          DROP TABLE rules;
          DELETE FROM grdb_migrations WHERE identifier = 'rules';
          PRAGMA user_version = 2;
          """
      )
    }
    try queue.close()

    #expect(try StoreFile(at: directory.store).load().rules == nil)
    let again = try SQLiteTreeStore(directory: directory.store, now: 0)
    var tree = try again.load()
    #expect(exactText(tree.root) == exactText(model.root))
    #expect(tree.revision == model.revision)
    #expect(tree.sessions == [session])
    #expect(Set(tree.ledger.map(\.upTo)) == Set(model.ledger.values.map(\.upTo)))
    #expect(tree.rules == nil)
    try again.commit(CommitBatch(commits: [], rules: source))
    tree = try again.load()
    #expect(tree.rules == source)
    try again.close()
  }

  @Test("are refused if one of their characters has changed")
  func damaged() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(CommitBatch(commits: [], rules: source))
    try store.close()
    try directory.damage(".read\": true")
    let error = #expect(throws: StoreError.self) {
      try StoreFile(at: directory.store).load()
    }
    #expect(error?.kind == .damaged)
    #expect(error?.description.contains("rules") == true)
    #expect(try StoreFile(at: directory.store).check().faults.count == 1)
  }
}
