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
