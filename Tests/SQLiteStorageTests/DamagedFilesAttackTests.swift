import DurableFiles
import Foundation
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

/// An attacker who changes a bit of a file, cuts it short or deletes it: the start reports the
/// damage, and never serves less than was acknowledged.
@Suite("A store with damaged files")
struct DamagedFilesAttackTests {
  /// The files of a process that was killed after some batches, a few of which were folded.
  private struct Killed {
    let image: TemporaryDirectory
    let model: StoreModel
    /// The revisions at which batches end.
    var ends: [Int64] = [0]

    init(seed: UInt64, batches: Int = 24, isLong: Bool = false) throws {
      let directory = try TemporaryDirectory()
      var model = StoreModel(seed: seed)
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      for round in 0..<batches {
        if round == batches / 3 { try store.fold() }
        var batch = model.nextBatch()
        if isLong {
          // Several pages long, in addition to what the model contains.
          let text = Node.string(String(repeating: "long ", count: 2_000 + 500 * (round % 3)))
          batch.commits[0].changes.append(Change(Path([ChildKey("long")]), to: text))
          batch.commits[0].changes.append(Change(Path([ChildKey("long")]), to: .empty))
        }
        try store.commit(batch)
        ends.append(model.revision)
      }
      image = try TemporaryDirectory(filesOf: directory.store)
      self.model = model
      try store.close()
    }

    func copy() throws -> TemporaryDirectory {
      let copy = try TemporaryDirectory(filesOf: image.store)
      return copy
    }
  }

  /// The bytes of a file, empty if it is missing: a reader may leave an empty log behind.
  private func bytes(_ path: String) -> [UInt8]? {
    [UInt8](FileManager.default.contents(atPath: path) ?? Data())
  }

  private func write(_ bytes: [UInt8], _ path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  /// Opens a store that must be refused, and checks that none of its files has changed.
  private func expectRefusal(
    _ directory: TemporaryDirectory,
    says text: String = "fsck --accept-loss",
    _ note: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let files = ["", "-wal", "-mark"].map { directory.database + $0 }
    let before = files.map(bytes)
    let error = #expect(throws: StoreError.self, "\(note)", sourceLocation: sourceLocation) {
      try SQLiteTreeStore(directory: directory.store, now: 0)
    }
    #expect(error?.kind == .damaged, "\(note)", sourceLocation: sourceLocation)
    #expect(
      error?.description.contains(text) == true,
      "\(note) \(error?.description ?? "")",
      sourceLocation: sourceLocation
    )
    #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try StoreFile(at: directory.store).load()
    }
    let isUntouched = files.map(bytes) == before
    #expect(isUntouched, "\(note)", sourceLocation: sourceLocation)
  }

  /// The faults that `fsck` reports.
  private func faults(_ directory: TemporaryDirectory) -> [String] {
    do {
      return try StoreFile(at: directory.store).check().faults
    } catch {
      return [error.description]
    }
  }

  @Test("never opens with less than was acknowledged, whichever bit of the log is flipped")
  func flippedBit() throws {
    var random = SplitMix64(seed: 7)
    for isLong in [false, true] {
      let killed = try Killed(seed: 1, isLong: isLong)
      let wal = try #require(bytes(killed.image.database + "-wal"))
      var refusals = 0
      let others = (0..<60).map { _ in Int.random(in: 0..<wal.count, using: &random) }
      let offsets = Thoroughness.third(of: Array(0..<32) + others)
      for offset in offsets {
        let directory = try killed.copy()
        var damaged = wal
        damaged[offset] ^= 1 << UInt8(offset % 8)
        try write(damaged, directory.database + "-wal")
        let found = try StoreFile(at: directory.store).check()
        if found.revision < killed.model.revision {
          refusals += 1
          #expect(!found.faults.isEmpty, "byte \(offset)")
          expectRefusal(directory, "byte \(offset)")
        } else {
          let store = try SQLiteTreeStore(directory: directory.store, now: 0)
          #expect(exactText(try store.load().root) == exactText(killed.model.root))
          try store.close()
        }
      }
      #expect(refusals > offsets.count / 2, "\(refusals) of \(offsets.count)")
    }
  }

  @Test("detects a hole in the log from the data behind it, even if the mark is missing or old")
  func hole() throws {
    var random = SplitMix64(seed: 9)
    for isLong in [false, true] {
      let killed = try Killed(seed: 2, isLong: isLong)
      let wal = try #require(bytes(killed.image.database + "-wal"))
      var refusals = 0
      let rounds = Thoroughness.isFull ? 60 : 20
      for _ in 0..<rounds {
        let directory = try killed.copy()
        unlink(directory.database + "-mark")
        var damaged = wal
        damaged[Int.random(in: 32..<wal.count, using: &random)] ^= 4
        try write(damaged, directory.database + "-wal")
        let found = try StoreFile(at: directory.store).check()
        // A whole batch follows the first one that is lost.
        let lost = killed.ends.filter { $0 > found.revision }
        if lost.count >= 3 {
          refusals += 1
          #expect(found.faults.first?.contains("missing") == true, "\(found), \(killed.ends)")
          expectRefusal(directory)
        }
      }
      #expect(refusals > rounds / 6)
    }
  }

  @Test("opens with a log torn anywhere in its last, unacknowledged batch")
  func tornTail() throws {
    var random = SplitMix64(seed: 3)
    for isLong in [false, true] {
      let directory = try TemporaryDirectory()
      var model = StoreModel(seed: 4)
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      for _ in 0..<6 { try store.commit(model.nextBatch()) }
      let before = try TemporaryDirectory(filesOf: directory.store)
      let acknowledged = model
      var batch = model.nextBatch()
      if isLong {
        let text = Node.string(String(repeating: "long ", count: 5_000))
        batch.commits[0].changes.insert(Change(Path([ChildKey("a")]), to: text), at: 0)
      }
      try store.commit(batch)
      let wal = try #require(bytes(directory.database + "-wal"))
      let length = try #require(bytes(before.database + "-wal")).count
      try store.close()
      for round in 0..<(Thoroughness.isFull ? 40 : 14) {
        let image = try TemporaryDirectory(filesOf: before.store)
        // Of each sector that was being written, the disk has the new content or zeros.
        var torn = Array(wal.prefix(Int.random(in: length...wal.count, using: &random)))
        if round % 2 == 0 {
          for sector in stride(from: length, to: torn.count, by: 512)
          where Bool.random(using: &random) {
            for byte in sector..<min(sector + 512, torn.count) { torn[byte] = 0 }
          }
        }
        try write(torn, image.database + "-wal")
        let opened = try SQLiteTreeStore(directory: image.store, now: 0)
        #expect(try opened.load().revision >= acknowledged.revision)
        try opened.close()
        #expect(faults(image) == [])
      }
    }
  }

  @Test("reports that the database, its log or the end of either is missing")
  func missing() throws {
    let killed = try Killed(seed: 5)
    let last = killed.model.revision
    for (name, size) in [("", nil), ("", 0), ("-wal", nil), ("-wal", 0), ("-wal", 9_000)]
      as [(String, Int?)]
    {
      let directory = try killed.copy()
      let file = directory.database + name
      if let size { truncate(file, size) } else { unlink(file) }
      #expect(faults(directory).first?.contains("commit") == true, "\(name) \(size ?? -1)")
      expectRefusal(directory, says: "\(last)", "\(name) \(size ?? -1)")
      let names = try SQLiteTreeStores(directory: directory.store) { 0 }.names()
      #expect(names == ["hearth"])
    }
    // The same holds after an orderly close, and without the mark as long as there is a log.
    let closed = try killed.copy()
    try SQLiteTreeStore(directory: closed.store, now: 0).close()
    #expect(faults(closed) == [])
    unlink(closed.database)
    expectRefusal(closed)
    let unmarked = try killed.copy()
    unlink(unmarked.database + "-mark")
    unlink(unmarked.database)
    expectRefusal(unmarked)
    // Nothing is known about a store that is gone completely.
    unlink(closed.database + "-mark")
    try SQLiteTreeStore(directory: closed.store, now: 0).close()
  }

  @Test("detects missing rules and ledger entries too")
  func batchesWithoutCommits() throws {
    let directory = try TemporaryDirectory()
    var model = StoreModel(seed: 6)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(model.nextBatch())
    try store.fold()
    var batch = CommitBatch(commits: [])
    batch.rules = "{\"rules\": {}}"
    try store.commit(batch)
    let image = try TemporaryDirectory(filesOf: directory.store)
    try store.close()
    let whole = try TemporaryDirectory(filesOf: image.store)
    try SQLiteTreeStore(directory: whole.store, now: 0).close()
    unlink(image.database + "-wal")
    expectRefusal(image, says: "1 changes to the rules")
  }

  @Test("detects an older file, another commit with the same number and a damaged mark")
  func otherTimes() throws {
    let killed = try Killed(seed: 10)
    let older = try killed.copy()
    let early = try Killed(seed: 10, batches: 9)
    for name in ["", "-wal"] {
      unlink(older.database + name)
      try FileManager.default.copyItem(
        atPath: early.image.database + name,
        toPath: older.database + name
      )
    }
    expectRefusal(older)
    let mixed = try killed.copy()
    try FileManager.default.removeItem(atPath: mixed.database + "-mark")
    try HighWaterMark(path: mixed.database + "-mark").move(
      to: HighWaterMark.Position(commit: killed.model.revision, seal: 42)
    )
    expectRefusal(mixed, says: "not the one that was acknowledged")
    let unsure = try killed.copy()
    try write([UInt8](repeating: 7, count: 8_192), unsure.database + "-mark")
    expectRefusal(unsure, says: "mark")
    // One of the two copies is enough.
    let half = try killed.copy()
    var mark = try #require(bytes(half.database + "-mark"))
    mark[20] ^= 1
    try write(mark, half.database + "-mark")
    try SQLiteTreeStore(directory: half.store, now: 0).close()
  }

  @Test("continues with the readable data when told to, and keeps the damaged files")
  func accepted() throws {
    let killed = try Killed(seed: 12)
    for name in ["", "-wal"] {
      let directory = try killed.copy()
      if name.isEmpty {
        unlink(directory.database)
      } else {
        var wal = try #require(bytes(directory.database + "-wal"))
        wal[wal.count / 2] ^= 1
        try write(wal, directory.database + "-wal")
      }
      let before = ["", "-wal", "-mark"].map { bytes(directory.database + $0) }
      expectRefusal(directory)
      let stores = SQLiteTreeStores(directory: directory.store) { 0 }
      let loss = try #require(try stores.database("hearth").acceptLoss())
      #expect(loss.fault.contains("\(killed.model.revision)"))
      let copies = ["", "-wal", "-mark"].map { bytes(loss.copies + "/database.sqlite" + $0) }
      let areWhole = copies == before
      #expect(areWhole)
      #expect(try stores.database("hearth").acceptLoss() == nil)
      var revision: Int64 = -1
      for _ in 0..<2 {
        let store = try SQLiteTreeStore(directory: directory.store, now: 0)
        let tree = try store.load()
        if revision < 0 {
          #expect(tree.revision < killed.model.revision)
          #expect(killed.ends.contains(tree.revision))
          #expect(exactText(tree.root) == exactText(killed.model.history[Int(tree.revision)]))
        } else {
          #expect(tree.revision == revision)
        }
        revision = tree.revision + 1
        try store.commit(revision)
        try store.close()
      }
      #expect(faults(directory) == [])
    }
  }

  @Test("refuses to accept a loss while a server uses it")
  func acceptedInUse() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    expectError(\StoreError.kind, .locked) {
      try SQLiteDatabase(at: directory.store).acceptLoss()
    }
    try store.close()
  }

  @Test("refuses to open accounts that lack acknowledged changes")
  func accounts() throws {
    let directory = try TemporaryDirectory()
    let place = directory.file("accounts")
    let file = place + "/accounts.sqlite"
    let store = try SQLiteIdentityStore(directory: place)
    for number in 0..<8 {
      var account = Account(database: "hearth", uid: "u\(number)", created: 1_000)
      account.displayName = "Name"
      try store.apply([.save(account)])
    }
    let names = ["", "-wal", "-mark"]
    let whole = names.map { bytes(file + $0) }
    try store.close()
    let wal = try #require(whole[1])
    var damages: [(String, [UInt8]?)] = [("", nil), ("-wal", nil), ("", []), ("-wal", [])]
    for offset in stride(from: 8, to: wal.count, by: wal.count / 40) {
      var damaged = wal
      damaged[offset] ^= 16
      damages.append(("-wal", damaged))
    }
    var refusals = 0
    for (name, content) in damages + [("-wal", wal)] {
      for (name, old) in zip(names, whole) { try write(old ?? [], file + name) }
      for name in names { #expect(chmod(file + name, 0o600) == 0) }
      if let content { try write(content, file + name) } else { unlink(file + name) }
      let before = names.map { bytes(file + $0) }
      do {
        let store = try SQLiteIdentityStore(directory: place)
        #expect(try store.accounts(in: "hearth", after: nil, limit: 100).count == 8)
        try store.close()
        // A bit behind the end of the log, in what an earlier one has left, does no harm.
        #expect(content?.count == wal.count, "\(name)")
      } catch {
        refusals += 1
        #expect(content != wal && "\(error)".contains("acknowledged"), "\(error)")
        let isUntouched = names.map { bytes(file + $0) } == before
        #expect(isUntouched)
      }
      unlink(file + "-shm")
    }
    #expect(refusals > damages.count / 2, "\(refusals)")
  }

  @Test("refuses a backup or an export that would be incomplete")
  func copies() throws {
    let killed = try Killed(seed: 13)
    let directory = try killed.copy()
    unlink(directory.database + "-wal")
    let file = try StoreFile(at: directory.store)
    #expect(throws: StoreError.self) { try file.backUp(to: directory.path + "/copy") }
    #expect(throws: StoreError.self) { try file.export(.oneLine) { _ in } }
  }
}
