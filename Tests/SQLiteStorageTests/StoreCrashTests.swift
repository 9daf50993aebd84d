import Foundation
import GRDB
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A store after a crash")
struct StoreCrashTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func load(_ directory: TemporaryDirectory) throws -> StoredTree {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    defer { try? store.close() }
    return try store.load()
  }

  /// The last revision that a process recorded as acknowledged.
  private func acknowledged(_ path: String) -> Int64 {
    let text = FileManager.default.contents(atPath: path).map {
      String(decoding: $0, as: UTF8.self)
    }
    return text?.split(separator: "\n").compactMap { Int64($0) }.max() ?? 0
  }

  @Test(
    "has every acknowledged commit after the process is killed",
    arguments: 1...4 as ClosedRange<UInt64>
  )
  func kill(seed: UInt64) async throws {
    let path = directory.store
    let log = directory.path + "/acknowledged"
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, log = log as String, seed = seed as UInt64] in
      var options = StoreOptions()
      options.foldBatches = 10
      options.foldChangesPerTurn = 2
      var model = StoreModel(seed: seed)
      let store = try SQLiteTreeStore(directory: path, now: 0, options: options)
      let file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      Thread.detachNewThread {
        let clock = ContinuousClock()
        var status = stat()
        while stat(log, &status) != 0 || status.st_size < 30 { sched_yield() }
        let end = clock.now + .microseconds(Int64(seed * 23_457 % 100_000))
        while clock.now < end { sched_yield() }
        Foundation.kill(getpid(), SIGKILL)
      }
      for _ in 0..<20_000 {
        try store.commit(model.nextBatch())
        let line = Array("\(model.revision)\n".utf8)
        _ = write(file, line, line.count)
      }
    }
    let tree = try load(directory)
    #expect(acknowledged(log) > 0)
    #expect(tree.revision >= acknowledged(log))
    var model = StoreModel(seed: seed)
    while model.revision < tree.revision { _ = model.nextBatch() }
    #expect(model.revision == tree.revision)
    #expect(exactText(tree.root) == exactText(model.root))
    #expect(Set(tree.ledger.map(\.upTo)) == Set(model.ledger.values.map(\.upTo)))
  }

  @Test(
    "has whole batches up to some point when the end of the write-ahead log is cut off",
    arguments: Thoroughness.third(of: 1...3 as ClosedRange<UInt64>)
  )
  func tornTail(seed: UInt64) throws {
    var model = StoreModel(seed: seed)
    var random = SplitMix64(seed: seed)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    var ends: Set<Int64> = [0]
    for round in 0..<40 {
      if round == 20 { try store.fold() }
      try store.commit(model.nextBatch())
      ends.insert(model.revision)
    }
    let image = try TemporaryDirectory(filesOf: directory.store)
    let wal = try #require(FileManager.default.contents(atPath: image.database + "-wal"))
    try store.close()
    for _ in 0..<25 {
      let copy = try TemporaryDirectory(filesOf: image.store)
      var torn = wal.prefix(Int.random(in: 0...wal.count, using: &random))
      if Bool.random(using: &random), !torn.isEmpty {
        let position = Int.random(in: max(0, torn.count - 2_000)..<torn.count, using: &random)
        torn[torn.startIndex + position] ^= 0x55
      }
      try Data(torn).write(to: URL(fileURLWithPath: copy.database + "-wal"))
      // The truncated part was acknowledged, which the mark would reveal.
      unlink(copy.database + "-mark")
      let tree = try load(copy)
      #expect(ends.contains(tree.revision))
      #expect(exactText(tree.root) == exactText(model.history[Int(tree.revision)]))
    }
  }

  @Test("reports damaged pages and never returns wrong data for them")
  func damagedPages() throws {
    let model = try largeStore(seed: 8)
    let bytes = try directory.databaseBytes()
    var reports = 0
    for page in 0..<(bytes.count / 4_096) {
      let copy = try TemporaryDirectory()
      var damaged = bytes
      for position in (page * 4_096)..<((page + 1) * 4_096) { damaged[position] = 0xAA }
      try copy.writeDatabase(damaged)
      do {
        #expect(exactText(try load(copy).root) == exactText(model.root))
      } catch let error as StoreError {
        #expect(error.kind == .damaged, "\(error)")
        reports += 1
      }
    }
    #expect(reports >= 10)
  }

  @Test("never traps on corrupted bytes", arguments: 1...2 as ClosedRange<UInt64>)
  func changedBytes(seed: UInt64) throws {
    _ = try largeStore(seed: seed)
    let bytes = try directory.databaseBytes()
    var random = SplitMix64(seed: seed)
    for _ in 0..<60 {
      let copy = try TemporaryDirectory()
      var damaged = bytes
      for _ in 0..<8 {
        let position = Int.random(in: 100..<bytes.count, using: &random)
        damaged[position] = UInt8.random(in: 0...255, using: &random)
      }
      try copy.writeDatabase(damaged)
      do {
        _ = try load(copy)
      } catch {
        #expect(error is StoreError)
      }
    }
  }

  @Test("detects a changed byte in a value or a log row")
  func changedValue() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let text = "unmistakable"
    let change = Change("a", to: .string(text))
    try store.commit(1, change)
    for name in ["log", "node"] {
      if name == "node" { try store.fold() }
      let copy = try TemporaryDirectory(filesOf: directory.store)
      // Opened once, so that everything is in the database; the log stays as it is for a reader.
      let reader = try StoreSchema.openWriter(
        path: copy.database,
        synchronous: "FULL",
        expecting: 2
      )
      try reader.close()
      try copy.damage(text)
      expectError(\StoreError.kind, .damaged, saying: "checksum") {
        try StoreFile(at: copy.store).load()
      }
    }
    try store.close()
  }

  @Test("detects a changed character in the rules")
  func changedRules() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let source = "{ \"rules\": { \".read\": true } } // é 🐵\n"
    try store.commit(CommitBatch(commits: [], rules: source))
    try store.close()
    try directory.damage(".read\": true")
    expectError(\StoreError.kind, .damaged, saying: "rules") {
      try StoreFile(at: directory.store).load()
    }
    #expect(try StoreFile(at: directory.store).check().faults.count == 1)
  }

  @Test("detects a log row with extra data after its commits")
  func longRow() throws {
    try SQLiteTreeStore(directory: directory.store, now: 0).close()
    let commit = Commit(revision: 1, timestamp: 0, changes: [Change("a", to: .integer(1))])
    var writer = BinaryWriter()
    writer.write(byte: 1)
    writer.write(count: 1)
    try writer.write(commit)
    writer.write(byte: 0)
    writer.seal()
    let row = writer.bytes
    let queue = try DatabaseQueue(path: directory.database)
    try queue.write { try LogTable($0).append(row, revision: 1) }
    try queue.close()
    expectError(\StoreError.kind, .damaged, saying: "wrong length") {
      try StoreFile(at: directory.store).load()
    }
  }

  private func largeStore(seed: UInt64) throws -> StoreModel {
    var model = StoreModel(seed: seed)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    for _ in 0..<40 { try store.commit(model.nextBatch()) }
    try store.close()
    return model
  }
}
