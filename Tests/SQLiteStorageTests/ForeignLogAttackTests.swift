import Foundation
import GRDB
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

/// Somebody copies files of several moments or databases into one directory.
@Suite("A write-ahead log beside a file that it does not belong to")
struct ForeignLogAttackTests {
  /// What a user may have of one database.
  private struct Past {
    let directory: TemporaryDirectory
    var model = StoreModel(seed: 3)
    /// The files at rest after each run of a server.
    var atRest: [[UInt8]] = []
    /// Backups made in each run, and the model at that time.
    var backups: [[UInt8]] = []

    /// Runs a server several times, and kills the last one.
    init(seed: UInt64, runs: Int = 3) throws {
      directory = try TemporaryDirectory()
      model = StoreModel(seed: seed)
      let living = try TemporaryDirectory()
      for run in 1...runs {
        let store = try SQLiteTreeStore(directory: living.store, now: 0)
        for round in 0..<9 {
          if round == 3 { try store.fold() }
          try store.commit(model.nextBatch())
          guard round == 2 || round == 6 else { continue }
          let backup = "\(living.path)/backup-\(run)-\(round)"
          _ = try StoreFile(at: living.store).backUp(to: backup)
          backups.append(Array(try Data(contentsOf: URL(fileURLWithPath: backup))))
        }
        if run == runs { try directory.copyFiles(of: living.store) }
        try store.close()
        if run < runs { atRest.append(try living.databaseBytes()) }
      }
    }

    /// Opens what is left of the killed server.
    func expectWhole(_ note: String = "") throws {
      let copy = try TemporaryDirectory(filesOf: directory.store)
      #expect(try StoreFile(at: copy.store).check().faults == [], "\(note)")
      let store = try SQLiteTreeStore(directory: copy.store, now: 0)
      #expect(exactText(try store.load().root) == exactText(model.root), "\(note)")
      try store.close()
    }
  }

  /// Expects every way to use a store to be refused without a change, and the file to be usable
  /// without its log afterwards.
  private func expectForeign(_ image: TemporaryDirectory, _ file: [UInt8], _ note: String) throws {
    try image.writeDatabase(file)
    let names = ["", "-wal", "-mark"]
    let before = names.map { bytes(image.database + $0) }
    let uses: [(StoreFile) throws -> Void] = [
      { _ in _ = try SQLiteTreeStore(directory: image.store, now: 0) },
      { _ = try $0.load() }, { try $0.export(.lines) { _ in } },
      { _ = try $0.backUp(to: image.path + "/copy") },
    ]
    for use in uses {
      let error = #expect(throws: StoreError.self, "\(note)") {
        try use(try StoreFile(at: image.store))
      }
      #expect(
        error?.description.contains("belongs to another file") == true,
        "\(note) \(error?.description ?? "")"
      )
      #expect(error?.description.contains("hearth restore FILE") == true, "\(note)")
    }
    #expect(try StoreFile(at: image.store).check().faults.count == 1, "\(note)")
    #expect(names.map { bytes(image.database + $0) } == before, "\(note)")
    #expect(try SQLiteDatabase(at: image.store).acceptLoss() != nil, "\(note)")
    let alone = try TemporaryDirectory()
    try alone.writeDatabase(file)
    let store = try SQLiteTreeStore(directory: image.store, now: 0)
    #expect(try store.load() == StoreFile(at: alone.store).load(), "\(note)")
    try store.close()
    #expect(try StoreFile(at: image.store).check().faults == [], "\(note)")
  }

  @Test(
    "is never copied into it, whatever was copied over the file",
    arguments: Thoroughness.third(of: 1...2 as ClosedRange<UInt64>)
  )
  func copiedOver(seed: UInt64) throws {
    let past = try Past(seed: seed)
    try past.expectWhole()
    let other = try Past(seed: seed + 50)
    let files =
      past.backups.map { ("backup", $0) } + past.atRest.dropLast().map { ("old file", $0) }
      + other.backups.map { ("backup of another", $0) } + other.atRest.map { ("another file", $0) }
    for keepsMark in [true, false] {
      for (index, file) in files.enumerated() {
        let image = try TemporaryDirectory(filesOf: past.directory.store)
        if !keepsMark { unlink(image.database + "-mark") }
        try expectForeign(image, file.1, "\(file.0) \(index)")
      }
    }
  }

  @Test("of a newer or older generation is not copied either")
  func generations() throws {
    for runs in 1...3 {
      let (past, later) = (try Past(seed: 8, runs: runs), try Past(seed: 8, runs: 4))
      // Each run names its logs anew, so even the same writes do not make the same database.
      let image = try TemporaryDirectory(filesOf: past.directory.store)
      let log = try #require(bytes(later.directory.database + "-wal"))
      try Data(log).write(to: URL(fileURLWithPath: image.database + "-wal"))
      try expectForeign(image, try image.databaseBytes(), "\(runs)")
    }
  }

  @Test("is copied into its own file, and does no harm when the shared memory is old")
  func ownLog() throws {
    let living = try TemporaryDirectory()
    var model = StoreModel(seed: 5)
    let first = try SQLiteTreeStore(directory: living.store, now: 0)
    for _ in 0..<5 { try first.commit(model.nextBatch()) }
    try first.close()
    // The file as it is when the next log begins.
    let base = try living.databaseBytes()
    let second = try SQLiteTreeStore(directory: living.store, now: 0)
    for _ in 0..<5 { try second.commit(model.nextBatch()) }
    let past = try TemporaryDirectory(filesOf: living.store)
    try second.close()
    let image = try TemporaryDirectory(filesOf: past.store)
    try image.writeDatabase(base)
    try Data([UInt8](repeating: 9, count: 32_768))
      .write(to: URL(fileURLWithPath: image.database + "-shm"))
    let store = try SQLiteTreeStore(directory: image.store, now: 0)
    #expect(exactText(try store.load().root) == exactText(model.root))
    try store.close()
    // A log alone is evidence of a loss.
    unlink(past.database)
    unlink(past.database + "-mark")
    expectError(\StoreError.kind, .damaged) {
      try SQLiteTreeStore(directory: past.store, now: 0)
    }
  }

  @Test("of an earlier version is copied into an intact file, which gets a name then")
  func earlierVersion() throws {
    let past = try Past(seed: 6)
    // An earlier version knows no identity: its log has other names for the table.
    let unnamed = try TemporaryDirectory(filesOf: past.directory.store)
    unlink(unnamed.database + "-wal")
    try unnamed.execute("DROP TABLE IF EXISTS log_identity")
    unlink(unnamed.database + "-mark")
    let writer = try StoreSchema.openWriter(
      path: unnamed.database,
      synchronous: "FULL",
      expecting: 2
    )
    try writer.write { database in
      let revision = try LogTable(database).lastRevision() + 1
      let commit = Commit(revision: revision, timestamp: 0, changes: [])
      try LogTable(database).append(BatchCoding.encode([commit]), revision: revision)
    }
    let image = try TemporaryDirectory(filesOf: unnamed.store)
    try writer.close()
    #expect(try WriteAheadLog(of: image.database) != nil)
    #expect(LogIdentity.ofFile(image.database) == .name(nil))
    let store = try SQLiteTreeStore(directory: image.store, now: 0)
    try store.commit(CommitBatch(commits: [], rules: "{}"))
    try store.close()
    guard case .name(.some) = LogIdentity.ofFile(image.database)
    else { throw Unexpected("the file has no name") }
  }

  @Test("is not copied into the accounts of another directory, nor into an older copy")
  func accounts() throws {
    var copies: [(name: String, run: Int, bytes: [UInt8])] = []
    var killed: [TemporaryDirectory] = []
    for name in ["ann", "bob"] {
      let living = try TemporaryDirectory()
      let file = living.store + "/accounts.sqlite"
      for run in 0..<3 {
        let store = try SQLiteIdentityStore(directory: living.store)
        for number in 0..<5 {
          let account = Account(database: "hearth", uid: "\(name)\(run)\(number)", created: 1)
          try store.apply([.save(account)])
        }
        if run == 2 {
          let image = try TemporaryDirectory()
          try FileManager.default.createDirectory(
            atPath: image.store,
            withIntermediateDirectories: true
          )
          chmod(image.store, 0o700)
          for suffix in ["-mark", "", "-wal"] {
            try Data(try #require(bytes(file + suffix)))
              .write(to: URL(fileURLWithPath: image.store + "/accounts.sqlite" + suffix))
            chmod(image.store + "/accounts.sqlite" + suffix, 0o600)
          }
          killed.append(image)
        }
        try store.close()
        copies.append((name, run, try #require(bytes(file))))
      }
    }
    for (number, image) in killed.enumerated() {
      let file = image.store + "/accounts.sqlite"
      let own = try #require(bytes(file))
      // The log of the last run continues the file of the run before it.
      for (name, run, copy) in copies where run == 0 || name != ["ann", "bob"][number] {
        try Data(copy).write(to: URL(fileURLWithPath: file))
        let log = bytes(file + "-wal")
        let error = #expect(throws: StoreError.self) {
          try SQLiteIdentityStore(directory: image.store)
        }
        #expect(error?.description.contains("belongs to another file") == true)
        #expect(bytes(file) == copy && bytes(file + "-wal") == log)
      }
      try Data(own).write(to: URL(fileURLWithPath: file))
      let store = try SQLiteIdentityStore(directory: image.store)
      #expect(try store.accounts(in: "hearth", after: nil, limit: .max).count == 15, "\(number)")
      try store.close()
    }
  }
}
