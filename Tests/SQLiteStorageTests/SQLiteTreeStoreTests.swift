import Dispatch
import Foundation
import GRDB
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("SQLiteTreeStore")
struct SQLiteTreeStoreTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Checks that the rows of the node table distinguish packed rows from branch rows as documented.
  private func checkRows() throws {
    let reader = try StoreSchema.openReader(path: directory.database)
    defer { try? reader.close() }
    let rows = try reader.read { try Row.fetchAll($0, sql: "SELECT path, value FROM nodes") }
    let keys = rows.map { row -> (path: [UInt8], isBranch: Bool) in
      let path: Data = row[0]
      let value: Data = row[1]
      return (Array(path), value.first == 0x80)
    }
    for row in keys {
      let below = keys.filter { $0.path.count > row.path.count && $0.path.starts(with: row.path) }
      #expect(row.isBranch ? below.contains { !$0.isBranch } : below.isEmpty)
    }
  }

  @Test(
    "keeps every commit across folds and reopening",
    arguments: Thoroughness.third(of: 1...8 as ClosedRange<UInt64>)
  )
  func model(seed: UInt64) throws {
    var options = StoreOptions()
    options.foldChangesPerTurn = Int(seed % 3) * 4 + 1
    if seed % 2 == 0 { options.foldBatches = 3 }
    var random = SplitMix64(seed: seed)
    var model = StoreModel(seed: seed)
    var store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    for _ in 0..<60 {
      try store.commit(model.nextBatch())
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        try store.fold()
        if options.foldBatches > 3 { try checkRows() }
      case 1:
        try store.close()
        try checkRows()
        store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
        check(try store.load(), model)
      case 2: check(try store.load(), model)
      default: break
      }
    }
    try store.close()
    check(try StoreFile(at: directory.store).load(), model)
  }

  @Test("commits small batches quickly and declines those that may take long")
  func quick() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    func batch(_ revision: Int64, _ node: Node, times: Int = 1) -> CommitBatch {
      CommitBatch(commits: [
        Commit(
          revision: revision,
          timestamp: 0,
          changes: (0..<times).map { Change(Path(wire: "n\($0)"), to: node) }
        )
      ])
    }
    #expect(try store.commitIfQuick(batch(1, .string("small"))))
    let large = Node.string(String(repeating: "x", count: 100_000))
    #expect(try !store.commitIfQuick(batch(2, large)))
    #expect(try !store.commitIfQuick(batch(2, .string("small"), times: 17)))
    #expect(try !store.commitIfQuick(CommitBatch(commits: [], rules: "{}")))
    #expect(throws: StoreError.self) { try store.commitIfQuick(batch(3, .string("too early"))) }
    #expect(try store.load().revision == 1)
    try store.close()
    let tree = try StoreFile(at: directory.store).load()
    #expect(tree.revision == 1 && tree.root[Path(wire: "n0")] == .string("small"))
    #expect(tree.rules == nil)
  }

  @Test("declines quick commits while the log is being folded")
  func quickWhileFolding() throws {
    var options = StoreOptions()
    options.foldChangesPerTurn = 1
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    let changes = (0..<3_000).map { Change(Path(wire: "n/\($0)"), to: .string("\($0)")) }
    try store.commit(1, changes)
    let folding = DispatchGroup()
    DispatchQueue.global().async(group: folding) { try? store.fold() }
    var wasRefused = false
    // The batch has no commits, so that it can be repeated.
    while !wasRefused, folding.wait(timeout: .now()) == .timedOut {
      wasRefused = try !store.commitIfQuick(CommitBatch(commits: []))
    }
    #expect(wasRefused)
    folding.wait()
    #expect(try store.commitIfQuick(CommitBatch(commits: [])))
    try store.close()
  }

  @Test("declines quick commits while another program has locked the file")
  func quickWhileLocked() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let batch = CommitBatch(commits: [Commit(revision: 1, timestamp: 0, changes: [])])
    let other = try DatabaseQueue(path: directory.database)
    try other.inTransaction(.immediate) { _ in
      let isCommitted = try store.commitIfQuick(batch)
      #expect(!isCommitted)
      return .rollback
    }
    try other.close()
    #expect(try store.commitIfQuick(batch))
    #expect(try store.load().revision == 1)
    try store.close()
  }

  @Test("folds in the background during commits and keeps the write-ahead log short")
  func background() throws {
    var options = StoreOptions()
    options.foldBatches = 20
    options.foldChangesPerTurn = 2
    var model = StoreModel(seed: 77)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    for _ in 0..<250 { try store.commit(model.nextBatch(commits: 1)) }
    check(try store.load(), model)
    try store.fold()
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.database + "-wal")
    #expect((attributes[.size] as? Int ?? .max) < 8 * 1_024 * 1_024)
    try store.close()
    let reader = try StoreSchema.openReader(path: directory.database)
    #expect(try reader.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM log") } == 0)
    try reader.close()
  }

  @Test("refuses data it could not return and stores nothing of the batch")
  func impossible() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let nodes: [Change] = [
      Change("a", to: .leaf(.deferred(.timestamp))),
      Change(Path([ChildKey("a/b")]), to: .integer(1)),
      Change("a", to: Node.empty.setting(Path([ChildKey("x/y")]), to: .integer(1))),
    ]
    for change in nodes {
      let commit = Commit(revision: 1, timestamp: 0, changes: [change])
      let entry = LedgerEntry(client: "c", upTo: 1, lastSeen: 5)
      #expect(throws: StoreError.self) {
        try store.commit(CommitBatch(commits: [commit], ledger: [entry]))
      }
    }
    #expect(try store.load() == StoredTree())
    try store.close()
  }

  @Test("stores ledger entries exactly, even without a commit")
  func ledger() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let entries = [
      LedgerEntry(owner: .administrator, client: "x", upTo: 1, lastSeen: 3),
      LedgerEntry(client: "c\u{0}a", upTo: .max, lastSeen: 3),
      LedgerEntry(
        client: "c\u{0}b",
        upTo: 0,
        refused: [7: .permissionDenied, 9: .tooBig, 10: .tooBig],
        lastSeen: 4
      ),
      LedgerEntry(owner: .user("é"), client: "c\u{0}a", upTo: 2, lastSeen: 3),
    ]
    try store.commit(CommitBatch(commits: [], ledger: entries))
    try store.commit(CommitBatch(commits: []))
    #expect(try store.load() == StoredTree(ledger: entries))
    var forgotten = entries[1]
    forgotten.upTo = -1
    try store.commit(CommitBatch(commits: [], ledger: [forgotten]))
    #expect(try store.load().ledger == [entries[0], entries[2], entries[3]])
    try store.close()
  }

  @Test("drops clients unseen for thirty days when it opens")
  func ledgerAge() throws {
    let day: Int64 = 86_400_000
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let entries = [
      LedgerEntry(client: "new", upTo: 1, lastSeen: 71 * day),
      LedgerEntry(client: "old", upTo: 1, lastSeen: 69 * day),
    ]
    try store.commit(CommitBatch(commits: [], ledger: entries))
    try store.close()
    let again = try SQLiteTreeStore(directory: directory.store, now: 100 * day + 1)
    #expect(try again.load().ledger == [entries[0]])
    try again.close()
  }

  @Test(
    "stores nothing more once its file is no longer where the next server looks for it",
    arguments: ["a moved directory", "a deleted directory", "a replaced file"]
  )
  func lostPlace(what: String) throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(1)
    switch what {
    case "a moved directory": try #require(rename(directory.store, directory.file("moved")) == 0)
    case "a deleted directory": try FileManager.default.removeItem(atPath: directory.store)
    default:
      let bytes = Data(try directory.databaseBytes())
      try bytes.write(to: URL(filePath: directory.database), options: .atomic)
    }
    for _ in 0..<2 {
      expectError(\StoreError.kind, .failed, saying: "moved, deleted or replaced") {
        try store.commit(2)
      }
    }
    try store.close()
  }

  @Test("goes on while a directory above its file may not be searched")
  func hiddenPlace() throws {
    typealias SetUser = @convention(c) (uid_t) -> Int32
    let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(1)
    try #require(chmod(directory.store, 0) == 0)
    // Root may search every directory: this thread becomes somebody else.
    if geteuid() == 0 { _ = setUser(65_534) }
    let outcome = Result { try store.commit(2) }
    _ = setUser(geteuid())
    try #require(chmod(directory.store, 0o700) == 0)
    try outcome.get()
    try store.close()
  }

  @Test("refuses to load, commit or fold once closed")
  func closed() throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.close()
    try store.close()
    #expect(throws: StoreError.self) { try store.load() }
    #expect(throws: StoreError.self) {
      try store.commit(1)
    }
    #expect(throws: StoreError.self) { try store.fold() }
  }
}
