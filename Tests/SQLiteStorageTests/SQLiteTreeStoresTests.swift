import DurableFiles
import FaultyStorage
import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A directory of stores")
struct SQLiteTreeStoresTests {
  private let directory: TemporaryDirectory
  private let stores: SQLiteTreeStores

  init() throws {
    directory = try TemporaryDirectory()
    stores = SQLiteTreeStores(directory: directory.file("data")) { 1_700_000_000_000 }
  }

  private func write(_ value: Int64, to name: String) throws {
    let store = try #require(try stores.open(name))
    let changes = [Change(.root, to: .integer(value))]
    try store.commit(CommitBatch(commits: [Commit(revision: 1, timestamp: 1, changes: changes)]))
    try store.close()
  }

  @Test("has no databases at first")
  func empty() throws {
    #expect(try stores.names().isEmpty)
    #expect(try stores.open("hearth") == nil)
    #expect(try stores.open("other") == nil)
    #expect(!FileManager.default.fileExists(atPath: directory.file("data")))
  }

  @Test("tells a database that cannot be read from one that is missing")
  func unreadable() throws {
    _ = try stores.create("other")
    let databases = directory.file("data/databases")
    try Data().write(to: URL(fileURLWithPath: databases + "/notes"))
    #expect(mkdir(databases + "/loop", 0o700) == 0)
    #expect(symlink("database.sqlite", databases + "/loop/database.sqlite") == 0)
    #expect(try stores.names() == ["loop", "other"])
    #expect(throws: StoreError.self) { try stores.open("loop") }
    #expect(throws: StoreError.self) { try stores.database("loop").exists }
    #expect(try !stores.database("notes").exists)
  }

  @Test("keeps databases apart, with the main one in its original place")
  func isolation() throws {
    _ = try stores.create("hearth")
    _ = try stores.create("other")
    try write(1, to: "hearth")
    try write(2, to: "other")
    let main = try StoreFile(at: directory.file("data")).load()
    #expect(main.root == .integer(1))
    let other = try StoreFile(at: directory.file("data/databases/other")).load()
    #expect(other.root == .integer(2))
  }

  @Test("names the store in its load events, so that several can load at once")
  func events() throws {
    let events = Record<String>()
    var options = StoreOptions()
    options.report = { events.append(text($0)) }
    let stores = SQLiteTreeStores(directory: directory.file("data"), options: options) { 1 }
    for name in ["a", "b"] { _ = try stores.create(name) }
    let (first, second) = (try #require(try stores.open("a")), try #require(try stores.open("b")))
    _ = (try first.load(), try second.load())
    let expected = ["a", "b"].flatMap { name in
      ["loading \(stores.directory(of: name))", "loaded \(stores.directory(of: name))"]
    }
    #expect(events.elements == expected)
    try first.close()
    try second.close()
  }

  @Test("retries opening its mark with later commits and reports the recovery")
  func lateMark() throws {
    let (events, file) = (Record<String>(), directory.file("database.sqlite"))
    let path = CompanionFile.mark(of: file)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let mark = StoreMark(beside: file, at: .init(commit: 3)) { events.append(text($0)) }
    mark.note(4)
    #expect(events.elements.count == 1, "a failure is told once")
    #expect(events.elements.first?.contains(path) == true)
    mark.synchronize()
    try FileManager.default.removeItem(atPath: path)
    mark.note(5)
    mark.note(6)
    #expect(events.elements.dropFirst() == ["recovered"])
    mark.synchronize()
    #expect(try HighWaterMark.read(path) == .position(.init(commit: 6)))
  }

  @Test("opens the other databases when one is damaged or in use")
  func damage() throws {
    for name in ["broken", "busy", "fine"] { _ = try stores.create(name) }
    let file = stores.directory(of: "broken") + "/database.sqlite"
    try Data(repeating: 0x41, count: 9_000).write(to: URL(filePath: file))
    let busy = try #require(try stores.open("busy"))
    #expect(throws: StoreError.self) { try stores.open("broken") }
    expectError(\StoreError.kind, .locked) { try stores.open("busy") }
    try write(3, to: "fine")
    #expect(try stores.names() == ["broken", "busy", "fine"])
    try busy.close()
  }

  @Test("is not held by a process that has locked a file of the same number elsewhere")
  func sameNumber() throws {
    let (path, list) = (directory.file("data"), directory.file("locks"))
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: path + "/lock"))
    var status = stat()
    #expect(stat(path + "/lock", &status) == 0)
    let line = "1: FLOCK  ADVISORY  WRITE \(getpid()) 00:00:\(status.st_ino) 0 EOF\n"
    try Data(line.utf8).write(to: URL(fileURLWithPath: list))
    #expect(DirectoryLock.holder(of: path, in: list) == nil)
    let lock = try DirectoryLock(directory: path)
    #expect(DirectoryLock.holder(of: path, in: list) == getpid())
    lock.release()
  }

  @Test("leaves nothing of a database that cannot be created")
  func fullDisk() throws {
    _ = try stores.create("other")
    let disk = FaultyDisk(directory: directory.file("data"))
    disk.fail(at: 1, .full, lasting: true)
    #expect(throws: StoreError.self) { try stores.create("more") }
    let databases = directory.file("data/databases")
    #expect(try FileManager.default.contentsOfDirectory(atPath: databases) == ["other"])
    disk.repair()
    #expect(try stores.create("more"))
  }

  @Test("does not say that a database exists where only other files have its name")
  func otherFiles() throws {
    _ = try stores.create("other")
    let path = stores.directory(of: "more")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: path + "/notes"))
    let error = #expect(throws: StoreError.self) { try stores.create("more") }
    #expect(error?.description.contains(path) == true)
    #expect(try stores.names() == ["other"])
    #expect(FileManager.default.fileExists(atPath: path + "/notes"))
  }

  @Test("deletes data that links lead to, and nothing else there")
  func links() throws {
    for name in ["team", "crew"] {
      _ = try stores.create(name)
      try write(7, to: name)
    }
    let files = FileManager.default
    let team = stores.directory(of: "team")
    let file = stores.directory(of: "crew") + "/database.sqlite"
    let elsewhere = directory.file("elsewhere")
    try files.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
    for (path, name) in [(team, "team"), (file, "crew.sqlite")] {
      try files.moveItem(atPath: path, toPath: "\(elsewhere)/\(name)")
      try files.createSymbolicLink(atPath: path, withDestinationPath: "\(elsewhere)/\(name)")
    }
    try Data().write(to: URL(fileURLWithPath: elsewhere + "/team/notes"))
    for name in ["team", "crew"] {
      try stores.remove(name, withAccountsIn: directory.file("accounts"))
    }
    #expect(try stores.names().isEmpty)
    let left = try #require(files.subpaths(atPath: elsewhere))
    #expect(left.contains("team/notes"))
    #expect(!left.contains { $0.contains("sqlite") }, "\(left)")
  }

  @Test("finishes a deletion that was interrupted", arguments: [true, false])
  func interruptedDeletion(byServer: Bool) throws {
    for name in ["hearth", "other", "third"] { _ = try stores.create(name) }
    let databases = directory.file("data/databases")
    let left = databases + "/.deleted-team-1"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
    for name in ["database.sqlite", "database.sqlite-wal", "lock"] {
      try Data("left".utf8).write(to: URL(fileURLWithPath: "\(left)/\(name)"))
    }
    // Whoever uses another database may do so beside a deletion.
    try #require(try stores.open("other")).close()
    #expect(FileManager.default.fileExists(atPath: left + "/database.sqlite"))
    if byServer {
      try #require(try stores.open("hearth")).close()
    } else {
      try stores.remove("third", withAccountsIn: directory.file("accounts"))
    }
    #expect(!FileManager.default.fileExists(atPath: left))
    #expect(try stores.names() == (byServer ? ["hearth", "other", "third"] : ["hearth", "other"]))
  }

  @Test("omits unfinished drafts and directories without a database")
  func leftovers() throws {
    _ = try stores.create("other")
    for name in [".draft-1", "empty"] {
      let path = directory.file("data/databases/\(name)")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    #expect(try stores.names() == ["other"])
  }

  @Test(
    "leaves the accounts of a database that cannot take another name",
    arguments: ["hearth", "taken", "missing/directory"]
  )
  func refusedName(_ name: String) throws {
    _ = try stores.create("team")
    let taken = directory.file("data/databases/taken")
    try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: taken + "/notes"))
    let accounts = directory.file("accounts")
    let store = try SQLiteIdentityStore(directory: accounts)
    try store.apply([.save(Account(database: "team", uid: "u1", created: 1_000))])
    try store.close()
    #expect(throws: StoreError.self) {
      try stores.rename("team", to: name, withAccountsIn: accounts)
    }
    let again = try SQLiteIdentityStore(directory: accounts)
    #expect(try again.account("u1", in: "team") != nil)
    try again.close()
    try stores.rename("team", to: "crew", withAccountsIn: accounts)
    #expect(try stores.names() == ["crew"])
  }

  @Test(
    "keeps accounts with a renamed database whose new name may not be durable",
    .enabled(if: geteuid() != 0, "root may read every directory")
  )
  func unsureName() throws {
    _ = try stores.create("team")
    let (accounts, databases) = (directory.file("accounts"), directory.file("data/databases"))
    let store = try SQLiteIdentityStore(directory: accounts)
    try store.apply([.save(Account(database: "team", uid: "u1", created: 1_000))])
    try store.close()
    // Its entries may be changed, but nobody may wait until they are on the disk.
    #expect(chmod(databases, 0o300) == 0)
    #expect(throws: StoreError.self) {
      try stores.rename("team", to: "crew", withAccountsIn: accounts)
    }
    #expect(chmod(databases, 0o700) == 0)
    #expect(try stores.names() == ["crew"])
    let again = try SQLiteIdentityStore(directory: accounts)
    #expect(try again.account("u1", in: "crew") != nil)
    try again.close()
  }

  @Test("creates subdirectories accessible only to their owner")
  func permissions() throws {
    _ = try stores.create("other")
    for (path, mode) in [("databases", 0o700), ("databases/other", 0o700)] {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: directory.file("data/\(path)")
      )
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }
}

/// Describes an event that a store has reported.
private func text(_ event: StoreEvent) -> String {
  switch event {
  case .loading(let directory, _): "loading \(directory)"
  case .loaded(let directory, _): "loaded \(directory)"
  case .foldFailed(let error), .markFailed(let error): "failed \(error)"
  case .madePrivate(let directory): "made \(directory) private"
  case .foldedAgain, .markedAgain: "recovered"
  }
}
