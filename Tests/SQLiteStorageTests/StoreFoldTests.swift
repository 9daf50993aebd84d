import FaultyStorage
import GRDB
import RealtimeHub
import RealtimeProtocol
import RealtimeTree
import TestSupport
import Testing

@testable import SQLiteStorage

@Suite("A fold")
struct StoreFoldTests {
  private func check(_ tree: StoredTree, _ model: StoreModel) {
    #expect(exactText(tree.root) == exactText(model.root))
    #expect(tree.revision == model.revision)
  }

  private func progress(_ directory: TemporaryDirectory) throws -> FoldProgress? {
    let path = directory.database
    return try StoreFile(at: path).read { try FoldTable($0, path: path).progress() }
  }

  @Test("that was cut short anywhere is gone on with, by whoever opens the store")
  func cutShort() throws {
    var steps: Set<Int> = []
    var isDone = false
    var number = 0
    while !isDone {
      number += 3
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      var options = StoreOptions()
      options.foldChangesPerTurn = 1
      var model = StoreModel(seed: UInt64(number))
      let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
      for _ in 0..<6 { try store.commit(model.nextBatch()) }
      disk.fail(at: number, .full, lasting: true)
      isDone = (try? store.fold()) != nil
      check(try store.load(), model)

      let image = try TemporaryDirectory()
      try image.copyFiles(of: directory.store)
      check(try SQLiteTreeStore.readOnlyLoad(directory: image.store), model)
      #expect(try StoreFile(at: image.store).check().faults.isEmpty)
      if let progress = try progress(image), progress.revision < progress.target {
        steps.insert(progress.applied)
      }
      let copy = try SQLiteTreeStore(directory: image.store, now: 0, options: options)
      var later = model
      try copy.commit(later.nextBatch())
      check(try copy.load(), later)
      try copy.close()
      check(try SQLiteTreeStore.readOnlyLoad(directory: image.store), later)

      disk.repair()
      try store.commit(model.nextBatch())
      try store.fold()
      check(try store.load(), model)
      #expect(try progress(directory) == FoldProgress(revision: model.revision))
      try store.close()
    }
    #expect(steps.count > 3, "folds are to be cut short at several places")
  }

  @Test("goes on after a process that ended in the middle, before what was committed since")
  func commitsMeanwhile() throws {
    let directory = try TemporaryDirectory()
    let disk = FaultyDisk(directory: directory.store)
    var options = StoreOptions()
    options.foldChangesPerTurn = 1
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    var expected = StoredTree()
    func commit() throws {
      expected.revision += 1
      // Every place is written more than once, and each time anew.
      let path = Path(wire: "posts/\(expected.revision % 20)/text")
      let node = Node.string(String(repeating: "\(expected.revision) ", count: 300))
      expected.root.update(at: path, to: node)
      let change = Change(path, node)
      let commit = Commit(revision: expected.revision, timestamp: 0, changes: [change])
      try store.commit(CommitBatch(commits: [commit]))
    }
    for _ in 0..<30 { try commit() }
    disk.fail(at: 30, .full, lasting: true)
    #expect(throws: StoreError.self) { try store.fold() }
    disk.repair()
    for _ in 0..<30 { try commit() }
    let unfinished = try #require(try progress(directory))
    #expect(unfinished.revision == 0 && unfinished.target == 30)
    #expect((1..<20).contains(unfinished.applied))

    let image = try TemporaryDirectory()
    try image.copyFiles(of: directory.store)
    #expect(try SQLiteTreeStore.readOnlyLoad(directory: image.store) == expected)
    let copy = try SQLiteTreeStore(directory: image.store, now: 0, options: options)
    #expect(try copy.load() == expected)
    try copy.close()
    #expect(try SQLiteTreeStore.readOnlyLoad(directory: image.store) == expected)
    #expect(try progress(image) == FoldProgress(revision: 60))
    try store.close()
  }

  @Test("writes the last change of a place only")
  func coalescing() throws {
    let directory = try TemporaryDirectory()
    let disk = FaultyDisk(directory: directory.store)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    func operations(_ commits: ClosedRange<Int64>) throws -> Int {
      for revision in commits {
        let change = Change("counter", .integer(revision))
        let commit = Commit(revision: revision, timestamp: 0, changes: [change])
        try store.commit(CommitBatch(commits: [commit]))
      }
      let before = disk.operationCount
      try store.fold()
      return disk.operationCount - before
    }
    let few = try operations(1...5)
    // The batches leave the log in one transaction as well, which changes a page for a hundred.
    let many = try operations(6...205)
    #expect(many <= few + 10)
    #expect(try store.load().root == Node.empty.setting(Path("counter"), to: .integer(205)))
    try store.close()
  }

  @Test("has everything, also what was handed over long before it began")
  func handedOver() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    var expected = StoredTree()
    for round in 1...12 as ClosedRange<Int64> {
      // More than a store keeps for the fold: it is handed over, now and then in the middle.
      let changes = (0..<1_000).map { number in
        Change(Path(wire: "posts/\((round * 37 + number) % 1_500)"), .integer(round + number))
      }
      for change in changes { expected.root.update(at: change.path, to: change.node) }
      expected.revision = round
      let commit = Commit(revision: round, timestamp: 0, changes: changes)
      try store.commit(CommitBatch(commits: [commit]))
    }
    try store.fold()
    #expect(try store.load() == expected)
    #expect(try progress(directory) == FoldProgress(revision: 12))
    try store.close()
    #expect(try SQLiteTreeStore.readOnlyLoad(directory: directory.store) == expected)
  }

  @Test("is known to stores from before folds could be cut short")
  func olderVersion() throws {
    let directory = try TemporaryDirectory()
    var model = StoreModel(seed: 9)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    for _ in 0..<5 { try store.commit(model.nextBatch()) }
    try store.fold()
    for _ in 0..<5 { try store.commit(model.nextBatch()) }
    let image = try TemporaryDirectory()
    try image.copyFiles(of: directory.store)
    try store.close()
    let queue = try DatabaseQueue(path: image.database)
    try queue.writeWithoutTransaction { database in
      try database.execute(
        sql: """
          ALTER TABLE state DROP COLUMN applied_changes;
          ALTER TABLE state DROP COLUMN target_revision;
          DELETE FROM grdb_migrations WHERE identifier = 'folds in several steps';
          PRAGMA user_version = 3;
          """
      )
    }
    try queue.close()

    check(try SQLiteTreeStore.readOnlyLoad(directory: image.store), model)
    let again = try SQLiteTreeStore(directory: image.store, now: 0)
    check(try again.load(), model)
    try again.commit(model.nextBatch())
    try again.close()
    check(try SQLiteTreeStore.readOnlyLoad(directory: image.store), model)
  }
}
