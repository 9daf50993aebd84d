import Foundation
import GRDB
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Opening a store")
struct StoreOpeningTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func error(_ directory: String) -> StoreError? {
    #expect(throws: StoreError.self) { try SQLiteTreeStore(directory: directory, now: 0) }
  }

  @Test("creates a directory and files accessible only to their owner")
  func permissions() throws {
    let nested = directory.path + "/x/y"
    let store = try SQLiteTreeStore(directory: nested, now: 0)
    try store.commit(1)
    #expect(try mode(nested) == 0o700)
    for name in ["/database.sqlite", "/database.sqlite-wal", "/database.sqlite-shm", "/lock"] {
      #expect(try mode(nested + name) == 0o600, "\(name)")
    }
    try store.close()
  }

  private func mode(_ path: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test("makes a directory private if others can enter it, and reports that")
  func othersMayEnter() throws {
    let messages = Record<String>()
    var options = StoreOptions()
    options.report = { if case .madePrivate(let path) = $0 { messages.append(path) } }
    #expect(mkdir(directory.store, 0o755) == 0 && chmod(directory.store, 0o755) == 0)
    for (bits, count) in [(0o755, 1), (0o700, 1), (0o777, 2)] as [(mode_t, Int)] {
      #expect(chmod(directory.store, bits) == 0)
      try SQLiteTreeStore(directory: directory.store, now: 0, options: options).close()
      #expect(try mode(directory.store) == 0o700)
      #expect(messages.elements == Array(repeating: directory.store, count: count))
    }
  }

  @Test("is refused if others can enter the directory and it contains other files")
  func sharedDirectory() throws {
    #expect(mkdir(directory.store, 0o755) == 0 && chmod(directory.store, 0o755) == 0)
    let page = directory.store + "/index.html"
    try Data("x".utf8).write(to: URL(fileURLWithPath: page))
    #expect(chmod(page, 0o644) == 0)
    let error = error(directory.store)
    #expect(error?.kind == .notWritable)
    #expect(error?.description.contains("chmod go=") == true)
    #expect(try mode(directory.store) == 0o755)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.store) == ["index.html"])
    #expect(chmod(directory.store, 0o700) == 0)
    try SQLiteTreeStore(directory: directory.store, now: 0).close()
  }

  @Test("makes every commit wait for the disk")
  func durability() throws {
    let path = directory.path + "/x.sqlite"
    let queue = try StoreSchema.openWriter(path: path, synchronous: "FULL", expecting: 2)
    let (level, mode, checkpoint) = try queue.writeWithoutTransaction { database in
      (
        try Int.fetchOne(database, sql: "PRAGMA synchronous"),
        try String.fetchOne(database, sql: "PRAGMA journal_mode"),
        try Int.fetchOne(database, sql: "PRAGMA wal_autocheckpoint")
      )
    }
    #expect(level == 2)
    #expect(mode == "wal")
    #expect(checkpoint == 0)
    try queue.close()
  }

  @Test("is refused if commits would not wait for the disk")
  func durabilityRefused() throws {
    let path = directory.path + "/x.sqlite"
    #expect(throws: StoreError.self) {
      try StoreSchema.openWriter(path: path, synchronous: "NORMAL", expecting: 2)
    }
  }

  @Test("leaves a file that is not a database unchanged", arguments: [10, 100, 5_000])
  func garbage(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    try directory.writeDatabase(bytes)
    let error = error(directory.store)
    #expect(error?.kind == .damaged)
    #expect(error?.description.contains(directory.database) == true)
    #expect(try directory.databaseBytes() == bytes)
    #expect(throws: StoreError.self) {
      try StoreFile(at: directory.store).load()
    }
  }

  @Test("treats an empty file as a new store")
  func emptyFile() throws {
    try directory.writeDatabase([])
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    #expect(try store.load() == StoredTree())
    try store.close()
  }

  @Test("leaves another program's database unchanged", arguments: [0, 5])
  func foreign(applicationID: Int) throws {
    try directory.writeDatabase([])
    try directory.execute(
      "CREATE TABLE notes (text); PRAGMA application_id = \(applicationID)"
    )
    let bytes = try directory.databaseBytes()
    let error = error(directory.store)
    #expect(error?.kind == .damaged)
    #expect(error?.description.contains("another program") == true)
    #expect(try directory.databaseBytes() == bytes)
  }

  @Test("leaves a store of a newer version unchanged")
  func newer() throws {
    try SQLiteTreeStore(directory: directory.store, now: 0).close()
    try directory.execute("PRAGMA user_version = 99")
    let bytes = try directory.databaseBytes()
    let error = error(directory.store)
    #expect(error?.kind == .damaged)
    #expect(error?.description.contains("newer version") == true)
    #expect(try directory.databaseBytes() == bytes)
  }

  @Test("is refused where nothing can be written")
  func notWritable() throws {
    let file = directory.path + "/file"
    try Data("x".utf8).write(to: URL(fileURLWithPath: file))
    #expect(error(file)?.kind == .notWritable)
    #expect(error(file + "/below")?.kind == .notWritable)
    #expect(error("/proc/no-such-store")?.kind == .notWritable)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("x".utf8))
  }

  @Test("is refused where the database is a directory")
  func directoryInPlace() throws {
    try FileManager.default.createDirectory(
      atPath: directory.database,
      withIntermediateDirectories: true
    )
    #expect(error(directory.store)?.kind == .notWritable)
  }

  @Test("fails without a database when read-only, and creates none")
  func readOnlyMissing() throws {
    #expect(throws: StoreError.self) {
      try StoreFile(at: directory.store).load()
    }
    #expect(!FileManager.default.fileExists(atPath: directory.store))
  }

  @Test("reports a full disk as such")
  func fullDisk() {
    let error = StoreError(DatabaseError(resultCode: .SQLITE_FULL), at: "/x")
    #expect(error.kind == .full)
    #expect(StoreError(systemCode: ENOSPC, "cannot write").kind == .full)
  }
}
