import Foundation
import GRDB
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Stored onDisconnect writes")
struct StoreSessionTests {
  @Test(
    "record the identity that scheduled them",
    arguments: [
      Identity.administrator, .anonymous, .user(.object(("uid", .string("é")), ("token", .null))),
    ]
  )
  func identities(identity: Identity) throws {
    let directory = try TemporaryDirectory()
    let session = StoredSession(id: 7, identity: identity, changes: [Change("a", to: .integer(1))])
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(CommitBatch(commits: [], sessions: [SessionUpdate(session)]))
    try store.close()
    #expect(try StoreFile(at: directory.store).load().sessions == [session])
  }

  @Test("are updated one write at a time")
  func updates() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    var session = StoredSession(
      id: 7,
      changes: [
        Change("a", to: .integer(1)), Change("b", to: .integer(2)), Change("c", to: .integer(3)),
      ]
    )
    try store.commit(CommitBatch(commits: [], sessions: [SessionUpdate(session)]))
    var update = SessionUpdate(
      StoredSession(id: 7, identity: .anonymous, changes: [Change("b/d", to: .integer(4))])
    )
    update.replaces = false
    update.session.withdrawn = ["c/x"]
    update.removed = ["a", "nowhere"]
    try store.commit(CommitBatch(commits: [], sessions: [update]))
    session.identity = .anonymous
    session.changes = [
      Change("b", to: .integer(2)), Change("b/d", to: .integer(4)), Change("c", to: .integer(3)),
    ]
    session.withdrawn = ["c/x"]
    #expect(try store.load().sessions == [session])
    session.changes = [Change("e", to: .integer(5))]
    session.withdrawn = []
    try store.commit(CommitBatch(commits: [], sessions: [SessionUpdate(session)]))
    #expect(try store.load().sessions == [session])
    session.changes = []
    try store.commit(CommitBatch(commits: [], sessions: [SessionUpdate(session)]))
    try store.close()
    let reader = try StoreSchema.openReader(path: directory.database)
    let rows = try reader.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM scheduled") }
    #expect(rows == 0)
    try reader.close()
  }

  @Test("belong to an administrator if they predate identities")
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
    try directory.execute("INSERT INTO sessions (id, changes) VALUES (4, ?)", [row])
    let expected = StoredSession(
      id: 4,
      identity: .administrator,
      changes: [Change("a/b", to: .integer(5))]
    )
    #expect(try StoreFile(at: directory.store).load().sessions == [expected])
  }
}
