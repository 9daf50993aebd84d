import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Restoring a backup")
struct StoreRestoreTests {
  private static let companions = ["", "-wal", "-mark"]

  /// A directory as a killed server leaves it, with later commits than a backup of it.
  private func makeStore() throws -> (
    directory: TemporaryDirectory, backup: String, saved: StoreModel
  ) {
    let living = try TemporaryDirectory()
    var model = StoreModel(seed: 4)
    let store = try SQLiteTreeStore(directory: living.store, now: 0)
    for _ in 0..<10 { try store.commit(model.nextBatch()) }
    let directory = try TemporaryDirectory()
    let backup = directory.path + "/backup.sqlite"
    #expect(try StoreFile(at: living.store).backUp(to: backup).revision == model.revision)
    let saved = model
    for _ in 0..<10 { try store.commit(model.nextBatch()) }
    try directory.copyFiles(of: living.store)
    try store.close()
    return (directory, backup, saved)
  }

  /// Expects a backup to be restored, to stay so, and to be a store that can be written.
  private func expectRestored(
    _ directory: TemporaryDirectory,
    from backup: String,
    _ saved: StoreModel
  )
    throws
  {
    var saved = saved
    let kept = bytes(backup)
    let database = SQLiteDatabase(at: directory.store)
    let restored = try database.restore(from: backup, replacesIntact: true)
    #expect(restored.check.revision == saved.revision)
    #expect(bytes(backup) == kept)
    for _ in 0..<2 {
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      #expect(exactText(try store.load().root) == exactText(saved.root))
      try store.commit(saved.nextBatch())
      try store.close()
    }
    #expect(try StoreFile(at: directory.store).check().faults == [])
  }

  @Test("fails if the old mark stays, which would prove that commits are missing")
  func markStays() throws {
    let (directory, backup, _) = try makeStore()
    let mark = directory.database + "-mark"
    unlink(mark)
    // Nothing else that is in the way is removed as a file would be.
    #expect(mkdir(mark, 0o700) == 0)
    #expect(throws: (any Error).self) {
      try StoreDirectory(path: directory.store).replaceDatabase(with: backup)
    }
  }

  @Test(
    "works whatever is left of the database, and keeps what is left",
    arguments: [
      "everything", "no database", "no log", "no mark", "only the mark", "only the log",
      "a damaged database",
      "a backup copied over it", "nothing",
    ]
  )
  func leftovers(what: String) throws {
    let (directory, backup, saved) = try makeStore()
    let file = directory.database
    switch what {
    case "no database": unlink(file)
    case "no log": unlink(file + "-wal")
    case "no mark": unlink(file + "-mark")
    case "only the log":
      unlink(file)
      unlink(file + "-mark")
    case "only the mark":
      unlink(file)
      unlink(file + "-wal")
    case "a damaged database": try directory.writeDatabase([UInt8](repeating: 7, count: 9_000))
    case "a backup copied over it":
      try directory.writeDatabase(try #require(bytes(backup)))
      unlink(file + "-wal")
    case "nothing": try FileManager.default.removeItem(atPath: directory.store)
    default: break
    }
    let before = Self.companions.map { bytes(file + $0) }
    if what == "a backup copied over it" {
      let error = #expect(throws: StoreError.self) {
        try SQLiteTreeStore(directory: directory.store, now: 0)
      }
      #expect(error?.description.contains("hearth restore") == true)
    }
    try expectRestored(directory, from: backup, saved)
    let kept = directory.store + "/replaced-1/database.sqlite"
    #expect(Self.companions.map { bytes(kept + $0) } == before)
  }

  @Test("leaves nothing a server would start on when interrupted, and can be repeated")
  func interrupted() throws {
    for step in 0...4 {
      let (directory, backup, saved) = try makeStore()
      let file = directory.database
      if step > 0 { unlink(file) }
      if step > 1 { unlink(file + "-wal") }
      if step > 2 { try FileManager.default.copyItem(atPath: backup, toPath: file + ".new") }
      if step > 3 { rename(file + ".new", file) }
      if step > 0 {
        #expect(throws: StoreError.self, "step \(step)") {
          try SQLiteTreeStore(directory: directory.store, now: 0)
        }
      }
      try expectRestored(directory, from: backup, saved)
      #expect(bytes(file + ".new") == nil)
    }
  }

  @Test("changes nothing while a server runs or if the backup is damaged")
  func refused() throws {
    let (directory, backup, _) = try makeStore()
    let file = directory.database
    let before = Self.companions.map { bytes(file + $0) }
    let database = SQLiteDatabase(at: directory.store)
    let lock = try DirectoryLock(directory: directory.store)
    func restore(_ file: String) throws {
      _ = try database.restore(from: file, replacesIntact: true)
    }
    #expect(throws: StoreError.self) { try restore(backup) }
    lock.release()
    let intact = #expect(throws: StoreError.self) {
      try database.restore(from: backup, replacesIntact: false)
    }
    #expect(intact?.description.contains("--replace") == true)
    var damaged = try #require(bytes(backup))
    for offset in stride(from: 5_000, to: damaged.count, by: 97) { damaged[offset] ^= 1 }
    let files: [(name: String, bytes: [UInt8])] = [
      ("damaged", damaged), ("empty", []), ("text", Array("no database".utf8)),
    ]
    for (name, bytes) in files {
      let path = "\(directory.path)/\(name)"
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      #expect(throws: StoreError.self, "\(name)") { try restore(path) }
    }
    #expect(throws: StoreError.self) { try restore(directory.path + "/none") }
    #expect(Self.companions.map { bytes(file + $0) } == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.store)
    #expect(!names.contains { $0.hasSuffix(".new") || $0.hasPrefix("replaced") }, "\(names)")
  }

  @Test("through a symbolic link replaces the link's target")
  func link() throws {
    let (directory, backup, saved) = try makeStore()
    let elsewhere = directory.path + "/elsewhere"
    mkdir(elsewhere, 0o700)
    for suffix in ["", "-wal"] {
      rename(directory.database + suffix, elsewhere + "/database.sqlite" + suffix)
    }
    symlink(elsewhere + "/database.sqlite", directory.database)
    try expectRestored(directory, from: backup, saved)
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: directory.database)
        == elsewhere + "/database.sqlite"
    )
  }
}
