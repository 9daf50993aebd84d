import Foundation
import GRDB
import RealtimeHub
import RealtimeProtocol
import RealtimeTree
import TestSupport
import Testing

@testable import SQLiteStorage

@Suite("What connections have scheduled, in a store")
struct StoreSessionTests {
  @Test(
    "tells whose it is",
    arguments: [
      Identity.administrator, .anonymous, .user(.object(("uid", .string("é")), ("token", .null))),
    ]
  )
  func identities(identity: Identity) throws {
    let directory = try TemporaryDirectory()
    let session = StoredSession(id: 7, identity: identity, changes: [Change("a", .integer(1))])
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(CommitBatch(commits: [], sessions: [session]))
    try store.close()
    #expect(try SQLiteTreeStore.readOnlyLoad(directory: directory.store).sessions == [session])
  }

  @Test("belongs to an administrator when it is from before there were identities")
  func olderRow() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.close()
    var writer = BinaryWriter()
    writer.write(count: 1)
    writer.write(text: "a/b")
    writer.write(text: "5")
    writer.seal()
    let row = Data(writer.bytes)
    let queue = try DatabaseQueue(path: directory.database)
    try queue.write {
      try $0.execute(sql: "INSERT INTO sessions (id, changes) VALUES (4, ?)", arguments: [row])
    }
    try queue.close()
    let expected = StoredSession(
      id: 4,
      identity: .administrator,
      changes: [Change("a/b", .integer(5))]
    )
    #expect(try SQLiteTreeStore.readOnlyLoad(directory: directory.store).sessions == [expected])
  }
}
