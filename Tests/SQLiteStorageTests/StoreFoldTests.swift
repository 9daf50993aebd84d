import Dispatch
import FaultyStorage
import GRDB
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A fold")
struct StoreFoldTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func progress(_ directory: TemporaryDirectory) throws -> FoldProgress? {
    try StoreFile(at: directory.database).read { try FoldTable($0).progress() }
  }

  @Test("is resumed when the store is next opened, wherever it was interrupted")
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
      var store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
      for _ in 0..<6 { try store.commit(model.nextBatch()) }
      disk.fail(at: number, .full, lasting: true)
      isDone = (try? store.fold()) != nil
      check(try store.load(), model)

      let image = try TemporaryDirectory(filesOf: directory.store)
      check(try StoreFile(at: image.store).load(), model)
      #expect(try StoreFile(at: image.store).check().faults.isEmpty)
      if let progress = try progress(image), progress.revision < progress.target {
        steps.insert(progress.applied)
      }
      let copy = try SQLiteTreeStore(directory: image.store, now: 0, options: options)
      var later = model
      try copy.commit(later.nextBatch())
      check(try copy.load(), later)
      try copy.close()
      check(try StoreFile(at: image.store).load(), later)

      disk.repair()
      if (try? store.commit(CommitBatch(commits: []))) == nil {
        // A full disk cannot sync what it has either, which ends the store.
        try store.close()
        store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
      }
      try store.commit(model.nextBatch())
      try store.fold()
      check(try store.load(), model)
      #expect(try progress(directory) == FoldProgress(revision: model.revision))
      try store.close()
    }
    #expect(steps.count > 3, "folds are to be cut short at several places")
  }

  @Test("resumes after its process ends midway, ahead of later commits")
  func commitsMeanwhile() throws {
    let disk = FaultyDisk(directory: directory.store)
    var options = StoreOptions()
    options.foldChangesPerTurn = 1
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    var expected = StoredTree()
    func commit() throws {
      expected.revision += 1
      // Every path is written more than once, with a new value each time.
      let path = Path(wire: "posts/\(expected.revision % 20)/text")
      let node = Node.string(String(repeating: "\(expected.revision) ", count: 300))
      expected.root.update(at: path, to: node)
      let change = Change(path, to: node)
      try store.commit(expected.revision, change)
    }
    for _ in 0..<30 { try commit() }
    disk.fail(at: 30, .full, lasting: true)
    #expect(throws: StoreError.self) { try store.fold() }
    disk.repair()
    for _ in 0..<30 { try commit() }
    let unfinished = try #require(try progress(directory))
    #expect(unfinished.revision == 0 && unfinished.target == 30)
    #expect((1..<20).contains(unfinished.applied))

    let image = try TemporaryDirectory(filesOf: directory.store)
    #expect(try StoreFile(at: image.store).load() == expected)
    let copy = try SQLiteTreeStore(directory: image.store, now: 0, options: options)
    #expect(try copy.load() == expected)
    try copy.close()
    #expect(try StoreFile(at: image.store).load() == expected)
    #expect(try progress(image) == FoldProgress(revision: 60))
    try store.close()
  }

  @Test("takes no longer for changes beside a long value")
  func besideLongValue() throws {
    func time(length: Int) throws -> Duration {
      let directory = try TemporaryDirectory()
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      // In the order of their paths, each of the others comes right before it.
      let long = Change("posts/z", to: .string(String(repeating: "x", count: length)))
      let others = (0..<3_000).map { number in
        Change(Path(wire: "posts/k\(number * 7 % 3_000)x/title"), to: .string("t"))
      }
      for (index, changes) in [[long], others].enumerated() {
        try store.commit(Int64(index + 1), changes)
        if index == 0 { try store.fold() }
      }
      let start = processorTime()
      try store.fold()
      let time = processorTime() - start
      #expect(try store.load().root[ChildKey("posts")].childCount == 3_001)
      #expect(try StoreFile(at: directory.store).check().faults == [])
      try store.close()
      return time
    }
    let (short, long) = (try time(length: 100), try time(length: 4_000_000))
    // With the long value read for each change, it would take more than ten times as long.
    #expect(long < short * 4 + .seconds(1), "\(short) and \(long)")
  }

  @Test("keeps writes next to and in place of long values, wherever it is interrupted")
  func longValues() throws {
    let long = String(repeating: "long ", count: 60_000)
    var (number, interruptions, isDone) = (0, 0, false)
    while !isDone {
      number += 1 + number / 2
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      var options = StoreOptions()
      options.foldChangesPerTurn = 8
      // They are moved from the second transaction on.
      options.foldPagesPerChange = 1
      let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
      var expected = StoredTree()
      func commit(_ changes: [Change]) throws {
        expected.revision += 1
        for change in changes { expected.root.update(at: change.path, to: change.node) }
        try store.commit(expected.revision, changes)
      }
      try commit((1...4).map { Change(Path(wire: "p/k\($0)"), to: .string("\($0)" + long)) })
      try store.fold()
      var changes = (0..<600).map { number in
        Change(Path(wire: "p/k\(number * 7 % 600)x"), to: .integer(Int64(number)))
      }
      changes.insert(Change("p/k1/below", to: .integer(1)), at: 100)
      changes.insert(Change("p/k2", to: .empty), at: 200)
      changes.insert(Change("p/k3", to: .integer(3)), at: 300)
      changes.insert(Change("p/k5", to: .string("5" + long)), at: 400)
      try commit(changes)
      disk.fail(at: number, .full, lasting: true)
      isDone = (try? store.fold()) != nil
      if !isDone { interruptions += 1 }
      let image = try TemporaryDirectory(filesOf: directory.store)
      #expect(try StoreFile(at: image.store).load() == expected)
      #expect(try StoreFile(at: image.store).check().faults == [])
      let copy = try SQLiteTreeStore(directory: image.store, now: 0, options: options)
      try copy.fold()
      #expect(try copy.load() == expected)
      try copy.close()
      #expect(try StoreFile(at: image.store).check().faults == [])
      disk.repair()
      try? store.close()
    }
    #expect(interruptions > 3)
  }

  @Test("applies no change twice after an interruption")
  func changesOnce() throws {
    let disk = FaultyDisk(directory: directory.store)
    var options = StoreOptions()
    options.foldChangesPerTurn = 1
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    // A priority on an empty node has no effect, not even on data written there later.
    let changes =
      [
        Change("a/.priority", to: .integer(1)), Change("b", to: .integer(1)),
        Change("a/b", to: .integer(2)),
      ]
      + (0..<20).map {
        Change(Path(wire: "c/\($0)"), to: .string(String(repeating: "x", count: 600)))
      }
    try store.commit(1, changes)
    let expected = try store.load()
    #expect(expected.root[Path("a")].priority == nil)
    disk.fail(at: 30, .full, lasting: true)
    #expect(throws: StoreError.self) { try store.fold() }
    let unfinished = try #require(try progress(directory))
    #expect((3..<20).contains(unfinished.applied))
    #expect(try store.load() == expected)
    disk.repair()
    try store.close()
    #expect(try StoreFile(at: directory.store).load() == expected)
  }

  @Test("writes only the last change at each path")
  func coalescing() throws {
    let disk = FaultyDisk(directory: directory.store)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    func operations(_ commits: ClosedRange<Int64>) throws -> Int {
      for revision in commits {
        let change = Change("counter", to: .integer(revision))
        try store.commit(revision, change)
      }
      let before = disk.operationCount
      try store.fold()
      return disk.operationCount - before
    }
    let few = try operations(1...5)
    // The batches also leave the log in one transaction, which changes one page per hundred.
    let many = try operations(6...205)
    #expect(many <= few + 10)
    #expect(try store.load().root == Node.empty.setting(Path("counter"), to: .integer(205)))
    try store.close()
  }

  @Test("is complete, including changes handed over long before it began")
  func handedOver() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    var expected = StoredTree()
    for round in 1...12 as ClosedRange<Int64> {
      // More than a store keeps for the fold, so it is handed over, sometimes in the middle.
      let changes = (0..<1_000).map { number in
        Change(Path(wire: "posts/\((round * 37 + number) % 1_500)"), to: .integer(round + number))
      }
      for change in changes { expected.root.update(at: change.path, to: change.node) }
      expected.revision = round
      try store.commit(round, changes)
    }
    try store.fold()
    #expect(try store.load() == expected)
    #expect(try progress(directory) == FoldProgress(revision: 12))
    try store.close()
    #expect(try StoreFile(at: directory.store).load() == expected)
  }

  @Test("is tried on opening and, if it fails, again after the usual number of commits")
  func retries() throws {
    try SQLiteTreeStore(directory: directory.store, now: 0).close()
    let queue = try DatabaseQueue(path: directory.database)
    try queue.write { try LogTable($0).append([1, 2, 3], revision: 1) }
    try queue.close()
    var options = StoreOptions()
    options.foldBatches = 3
    let reports = DispatchSemaphore(value: 0)
    options.report = { if case .foldFailed = $0 { reports.signal() } }
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    func waitForFold() {
      // Folds run one after another, and this one is not reported.
      #expect(throws: StoreError.self) { try store.fold() }
    }
    waitForFold()
    #expect(reports.wait(timeout: .now()) == .success)
    func commit(_ revisions: ClosedRange<Int64>) throws {
      for revision in revisions {
        try store.commit(revision)
        waitForFold()
      }
    }
    try commit(2...4)
    #expect(reports.wait(timeout: .now()) == .timedOut)
    try commit(5...5)
    #expect(reports.wait(timeout: .now()) == .success)
    try commit(6...8)
    #expect(reports.wait(timeout: .now()) == .timedOut)
    try commit(9...9)
    #expect(reports.wait(timeout: .now()) == .success)
  }

  @Test("reads only the log present on opening, since later changes are handed over")
  func reading() throws {
    let path = directory.database
    try SQLiteTreeStore(directory: directory.store, now: 0).close()
    let queue = try StoreSchema.openWriter(path: path, synchronous: "NORMAL", expecting: 1)
    func append(_ revision: Int64, _ changes: [Change]) throws {
      let row = try BatchCoding.encode([Commit(revision: revision, timestamp: 0, changes: changes)])
      try queue.write { try LogTable($0).append(row, revision: revision) }
    }
    try append(1, [Change("b", to: .integer(1))])
    let folder = try LogFolder(queue, changesPerTurn: 10, pagesPerChange: 128, mark: nil)
    // A priority on an empty node has no effect, not even on data written there later.
    let changes = [Change("a/.priority", to: .integer(1)), Change("a/b", to: .integer(2))]
    try append(2, changes)
    let expected = try StoreFile(at: directory.store).load()
    try folder.readLog()
    folder.take(changes)
    while try folder.step() {}
    folder.begin(through: 2)
    while try folder.step() {}
    try queue.close()
    #expect(try progress(directory) == FoldProgress(revision: 2))
    #expect(try StoreFile(at: directory.store).load() == expected)
  }

  @Test("removes batches from the log a few at a time, oldest first")
  func removal() throws {
    let path = directory.database
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    for revision in 1...5 as ClosedRange<Int64> {
      try store.commit(revision, Change("a", to: .integer(1)))
    }
    let queue = try DatabaseQueue(path: path)
    // Each batch counts as a page.
    for (isDone, left) in [(false, [3, 4, 5]), (true, [5])] as [(Bool, [Int64])] {
      let removal = try queue.write { database in
        (
          try LogTable(database).removeBatches(through: 4, byteLimit: 2 * 4_096),
          try Int64.fetchAll(database, sql: "SELECT revision FROM log")
        )
      }
      #expect(removal == (isDone, left))
    }
    try queue.close()
  }
}
