import FaultyStorage
import Foundation
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A backup")
struct StoreBackupTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Creates an empty destination for a copy, in a directory that is used as a store afterwards.
  private func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    try place.writeDatabase([])
    return place
  }

  @Test("is a consistent snapshot of the store while commits continue")
  func online() throws {
    var options = StoreOptions()
    options.foldBatches = 20
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    try store.commit(CommitBatch(commits: [], rules: "{}"))
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      var model = StoreModel(seed: 9)
      for _ in 0..<400 { try? store.commit(model.nextBatch()) }
      end.signal()
    }
    var revisions: [Int64] = []
    repeat {
      let copy = try place()
      let check = try StoreFile(at: directory.store).backUp(to: copy.database)
      revisions.append(check.revision)
      let restored = try SQLiteTreeStore(directory: copy.store, now: 0)
      let tree = try restored.load()
      #expect(tree.revision == check.revision)
      #expect(tree.rules == "{}")
      var model = StoreModel(seed: 9)
      while model.revision < tree.revision { _ = model.nextBatch() }
      #expect(exactText(tree.root) == exactText(model.root))
      #expect(Set(tree.ledger.map(\.upTo)) == Set(model.ledger.values.map(\.upTo)))
      try restored.commit(model.nextBatch())
      try restored.close()
      #expect(try StoreFile(at: copy.store).check().faults == [])
    } while end.wait(timeout: .now()) == .timedOut
    #expect(revisions == revisions.sorted())
    #expect(revisions.count > 1)
    try store.close()
  }

  @Test("of an idle store equals the store")
  func atRest() throws {
    var model = StoreModel(seed: 2)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    for _ in 0..<20 { try store.commit(model.nextBatch()) }
    try store.close()
    let copy = try place()
    let check = try StoreFile(at: directory.database).backUp(to: copy.database)
    #expect(check.revision == model.revision)
    #expect(check.rowCount > 0)
    #expect(
      try StoreFile(at: copy.store).load()
        == StoreFile(at: directory.store).load()
    )
  }

  @Test("of a damaged or missing store is refused")
  func damaged() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let change = Change("a", to: .string("unmistakable"))
    try store.commit(1, change)
    try store.close()
    try directory.damage("unmistakable")
    let copy = try place()
    expectError(\StoreError.kind, .damaged, saying: "/a") {
      try StoreFile(at: directory.store).backUp(to: copy.database)
    }
    #expect(throws: StoreError.self) { try StoreFile(at: directory.path + "/none") }
  }

  @Test("that is empty is damaged; the empty file of a new store is whole", arguments: [0, 1])
  func empty(size: Int) throws {
    let directory = try TemporaryDirectory()
    try directory.writeDatabase([UInt8](repeating: 1, count: size))
    #expect(try SQLiteDatabase(at: directory.store).check().faults == [])
    for path in [directory.store, directory.database] {
      expectError(\StoreError.kind, .damaged) {
        try SQLiteDatabase(at: path, isCopy: true).check()
      }
    }
  }

  @Test("that is damaged is reported without the advice for data directories")
  func advice() throws {
    let directory = try TemporaryDirectory()
    try directory.writeDatabase(Array(String(repeating: "not a database", count: 100).utf8))
    func message(_ check: () throws -> StoreCheck) -> String {
      #expect(throws: StoreError.self) { try check() }?.description ?? ""
    }
    let copy = message { try SQLiteDatabase(at: directory.store, isCopy: true).check() }
    #expect(copy.contains("not a database") && !copy.contains("\"hearth") && !copy.contains("away"))
    let checked = message { try SQLiteDatabase(at: directory.store).check() }
    #expect(checked.contains("hearth restore") && !checked.contains("hearth fsck"))
  }

  @Test(
    "that cannot be written names the copy, not the store",
    arguments: FaultyDisk.Fault.allCases
  )
  func unwritable(fault: FaultyDisk.Fault) throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(1, Change("a", to: .string("text")))
    try store.close()
    let copy = try place()
    let disk = FaultyDisk(directory: copy.store)
    disk.fail(at: 1, fault, lasting: true)
    let error = #expect(throws: StoreError.self) {
      try StoreFile(at: directory.store).backUp(to: copy.database)
    }
    disk.repair()
    #expect(error?.kind == (fault == .full ? .full : .failed))
    #expect(error?.description.contains(copy.database) == true)
    #expect(error?.description.contains(directory.path) == false)
    #expect(error?.description.contains("start the server") == false)
  }

  @Test("reports all damage when checked, without changing anything")
  func check() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let changes = (0..<10).map {
      Change(
        Path(["p", ChildKey("k\($0)")]),
        to: .string("mark\($0)" + String(repeating: "x", count: 600))
      )
    }
    try store.commit(1, changes)
    try store.close()
    let healthy = try StoreFile(at: directory.store).check()
    #expect(healthy.revision == 1 && healthy.rowCount == 10 && healthy.batchCount == 0)
    #expect(healthy.faults == [])
    for name in ["mark3", "mark7"] { try directory.damage(name) }
    let bytes = try directory.databaseBytes()
    let check = try StoreFile(at: directory.store).check()
    #expect(check.faults.count == 2)
    #expect(check.faults.first?.contains("/p/k3/") == true)
    #expect(check.faults.last?.contains("/p/k7/") == true)
    #expect(check.faults.first?.contains("hearth fsck") == true)
    #expect(try directory.databaseBytes() == bytes)
  }
}
