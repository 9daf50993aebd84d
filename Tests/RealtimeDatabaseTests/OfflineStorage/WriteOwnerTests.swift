import GRDB
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("Owners of stored writes", .timeLimit(.minutes(1)))
struct WriteOwnerTests {
  private let directory: TemporaryDirectory
  private let file: OfflineFile

  init() throws {
    directory = try TemporaryDirectory()
    file = OfflineFile(directory: directory.file("d"), identity: "http://h:1?ns=n")
  }

  private func write(_ number: Int64, _ owner: String?) -> StoredWrite {
    StoredWrite(
      number: number,
      key: WriteKey(client: "c", number: number),
      path: "a",
      operation: .set(.integer(number)),
      estimate: .set(.integer(number)),
      owner: owner
    )
  }

  @Test("A write is stored with its owner")
  func owners() throws {
    let told = Told()
    let (store, _) = try SQLiteOfflineStore.open(file, observers: told.observers)
    store.perform([.saveWrite(write(1, "ann")), .saveWrite(write(2, nil))])
    store.close()
    let (second, state) = try SQLiteOfflineStore.open(file, observers: told.observers)
    #expect(state.writes == [write(1, "ann"), write(2, nil)])
    second.close()
  }

  @Test("Writes in a file from before owners existed are read without an owner")
  func earlierVersion() throws {
    let told = Told()
    let (store, _) = try SQLiteOfflineStore.open(file, observers: told.observers)
    store.perform([.saveWrite(write(1, nil))])
    store.close()
    let queue = try DatabaseQueue(path: file.path)
    try queue.write { database in
      try database.execute(
        sql: "ALTER TABLE writes DROP COLUMN owner; PRAGMA user_version = 1;"
      )
    }
    try queue.close()
    let (second, state) = try SQLiteOfflineStore.open(file, observers: told.observers)
    #expect(state.writes == [write(1, nil)])
    second.perform([.saveWrite(write(2, "ann"))])
    second.close()
    let (third, next) = try SQLiteOfflineStore.open(file, observers: told.observers)
    #expect(next.writes == [write(1, nil), write(2, "ann")])
    third.close()
    #expect(told.problems.isEmpty)
  }
}
