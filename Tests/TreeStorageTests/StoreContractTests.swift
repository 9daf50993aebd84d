import Foundation
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

/// Behaviour that all storages share, whatever they store the data in.
///
/// A new storage becomes a case of ``Storage``, and has to pass all of these tests.
@Suite("The storage contract", .timeLimit(.minutes(2)))
struct StoreContractTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open(_ stores: any TreeStores, _ name: String = "test") throws -> any TreeStore {
    _ = try stores.create(name)
    return try #require(try stores.open(name))
  }

  private func check(_ tree: StoredTree, _ model: StoreModel) {
    #expect(exactText(tree.root) == exactText(model.root))
    #expect(tree.revision == model.revision)
    #expect(Dictionary(uniqueKeysWithValues: tree.ledger.map { ($0.client, $0) }) == model.ledger)
  }

  // MARK: Stores

  @Test("A new database is empty", arguments: Storage.allCases)
  func empty(storage: Storage) throws {
    let store = try open(storage.stores(in: directory))
    #expect(try store.load() == StoredTree())
    try store.close()
  }

  @Test("A store keeps its commits, even across a reopening", arguments: Storage.allCases)
  func commits(storage: Storage) throws {
    let stores = try storage.stores(in: directory)
    var store = try open(stores)
    var model = StoreModel(seed: 11)
    for _ in 0..<6 {
      for _ in 0..<5 { try store.commit(model.nextBatch()) }
      check(try store.load(), model)
      try store.close()
      store = try open(stores)
      check(try store.load(), model)
    }
    try store.close()
  }

  @Test(
    "Ledger entries are replaced, and removed by a negative number",
    arguments: Storage.allCases
  )
  func ledger(storage: Storage) throws {
    let store = try open(storage.stores(in: directory))
    var first = LedgerEntry(
      client: "a",
      upTo: 7,
      refused: [3: .permissionDenied, 5: .tooBig],
      lastSeen: 3
    )
    let second = LedgerEntry(owner: .user("é"), client: "a", upTo: 0, lastSeen: 4)
    try store.commit(CommitBatch(commits: [], ledger: [first, second]))
    #expect(try Set(store.load().ledger.map(\.upTo)) == [7, 0])
    first.upTo = 9
    try store.commit(CommitBatch(commits: [], ledger: [first]))
    #expect(try store.load().ledger.contains(first))
    first.upTo = -1
    try store.commit(CommitBatch(commits: [], ledger: [first]))
    #expect(try store.load().ledger == [second])
    try store.close()
  }

  @Test("onDisconnect writes stay unresolved until their session ends", arguments: Storage.allCases)
  func sessions(storage: Storage) throws {
    let stores = try storage.stores(in: directory)
    let store = try open(stores)
    let session = StoredSession(
      id: 4,
      identity: .user(.object(("uid", .string("ann")))),
      changes: [
        Change("a/b", to: .leaf(.deferred(.incrementInteger(2)))),
        Change("a/b/.priority", to: .leaf(.deferred(.timestamp))),
        Change("a/c", to: .empty),
      ]
    )
    let other = StoredSession(
      id: 9,
      owner: RemoteSession(server: "run of a server", name: "name"),
      changes: [
        Change(.root, to: .string("x").withPriority(.integer(3))), Change("z", to: .integer(1)),
      ]
    )
    try store.commit(
      CommitBatch(commits: [], sessions: [session, other].map { SessionUpdate($0) })
    )
    try store.close()
    let again = try open(stores)
    #expect(try again.load().sessions == [session, other])
    let end = SessionUpdate(StoredSession(id: 4, changes: []))
    try again.commit(CommitBatch(commits: [], sessions: [end]))
    #expect(try again.load().sessions == [other])
    try again.close()
  }

  @Test("The rules are the ones set last", arguments: Storage.allCases)
  func rules(storage: Storage) throws {
    let stores = try storage.stores(in: directory)
    let store = try open(stores)
    #expect(try store.load().rules == nil)
    try store.commit(CommitBatch(commits: [], rules: "one"))
    try store.commit(CommitBatch(commits: [], rules: "two é"))
    try store.commit(
      CommitBatch(commits: [], ledger: [LedgerEntry(client: "c", upTo: 1, lastSeen: 1)])
    )
    try store.close()
    let again = try open(stores)
    #expect(try again.load().rules == "two é")
    try again.commit(CommitBatch(commits: [], rules: ""))
    #expect(try again.load().rules?.isEmpty == true)
    try again.close()
  }

  @Test("Databases have names and share nothing", arguments: Storage.allCases)
  func databases(storage: Storage) throws {
    let stores = try storage.stores(in: directory)
    #expect(try stores.names() == [])
    #expect(try stores.open("b") == nil)
    for (name, value) in [("b", 1), ("a", 2), ("hearth", 3)] as [(String, Int64)] {
      #expect(try stores.create(name))
      #expect(try !stores.create(name))
      let store = try open(stores, name)
      let change = Change(.root, to: .integer(value))
      try store.commit(
        CommitBatch(commits: [Commit(revision: 1, timestamp: 0, changes: [change])])
      )
      try store.close()
    }
    #expect(try stores.names() == ["a", "b", "hearth"])
    for (name, value) in [("b", 1), ("a", 2), ("hearth", 3)] as [(String, Int64)] {
      let store = try open(stores, name)
      #expect(try store.load().root == .integer(value))
      try store.close()
    }
  }

  @Test("A batch out of sequence is refused entirely", arguments: Storage.durable)
  func gaps(storage: Storage) throws {
    let store = try open(storage.stores(in: directory))
    for revisions in [[2], [0], [1, 3], [1, 1]] as [[Int64]] {
      let commits = revisions.map {
        Commit(revision: $0, timestamp: 0, changes: [Change("a", to: .integer(1))])
      }
      let entry = LedgerEntry(client: "c", upTo: 1, lastSeen: 5)
      #expect(throws: StoreError.self) {
        try store.commit(CommitBatch(commits: commits, ledger: [entry], rules: "{}"))
      }
    }
    #expect(try store.load() == StoredTree())
    try store.close()
  }

  @Test("Only one server at a time can open a database", arguments: Storage.durable)
  func lock(storage: Storage) throws {
    let stores = try storage.stores(in: directory)
    let store = try open(stores)
    let error = #expect(throws: StoreError.self) { try stores.open("test") }
    #expect(error?.kind == .locked)
    try store.close()
    try open(stores).close()
  }

  // MARK: Maintenance

  private func text(of database: any StoredDatabase, _ layout: ExportLayout) throws -> String {
    var text = ""
    try database.export(layout) { text += $0 }
    return text
  }

  private func importText(
    _ text: String,
    into database: any StoredDatabase,
    mode: ImportMode = .replacing
  ) throws -> ImportResult {
    var pieces = [Array(text.utf8)]
    var json = JSONTokenizer { pieces.popLast() ?? [] }
    return try database.importTree(&json, mode: mode, patience: .zero)
  }

  @Test(
    "Tools read committed data while the server runs and afterwards",
    arguments: Storage.durable
  )
  func reading(storage: Storage) throws {
    let databases = try storage.databases(in: directory)
    let database = databases.database("test")
    #expect(try !database.exists)
    #expect(throws: StoreError.self) { try database.load() }
    let store = try open(databases)
    #expect(try database.exists)
    var model = StoreModel(seed: 3)
    for _ in 0..<10 {
      try store.commit(model.nextBatch())
      check(try database.load(), model)
      #expect(try database.check().revision == model.revision)
      let exported = try Node(json: JSONParser.parse(text(of: database, .oneLine)))
      #expect(exported == (try Node(json: JSONParser.parse(text(of: database, .lines)))))
      #expect(exported == (try Node(json: model.root.json(.export))))
    }
    try store.close()
    check(try database.load(), model)
    #expect(try database.check().faults == [])
  }

  @Test(
    "The history yields every commit once, from any starting point it reaches",
    arguments: Storage.durable
  )
  func history(storage: Storage) throws {
    let databases = try storage.databases(in: directory)
    let database = databases.database("test")
    let store = try open(databases)
    var model = StoreModel(seed: 5)
    var seen: [Commit] = []
    var expected: [Commit] = []
    for _ in 0..<12 {
      let batch = model.nextBatch()
      expected += batch.commits
      try store.commit(batch)
      seen += try #require(try database.commits(after: seen.last?.revision ?? 0))
    }
    #expect(seen == expected)
    for known in 0...model.revision {
      #expect(try database.commits(after: known) == Array(expected.drop { $0.revision <= known }))
    }
    try store.close()
  }

  @Test("A backup is complete, and the server continues", arguments: Storage.durable)
  func backup(storage: Storage) throws {
    let databases = try storage.databases(in: directory)
    let database = databases.database("test")
    let store = try open(databases)
    var model = StoreModel(seed: 7)
    for _ in 0..<8 { try store.commit(model.nextBatch()) }
    try store.commit(CommitBatch(commits: [], rules: "the rules"))
    let copy = directory.file("copy")
    #expect(FileManager.default.createFile(atPath: copy, contents: nil))
    let check = try database.backUp(to: copy)
    #expect(check.revision == model.revision)
    #expect(check.faults == [])
    try store.commit(model.nextBatch())
    self.check(try store.load(), model)
    try store.close()
  }

  @Test("A whole database can be moved to another storage", arguments: Storage.durable)
  func restoring(storage: Storage) throws {
    let databases = try storage.databases(in: directory)
    var model = StoreModel(seed: 19)
    var tree = StoredTree()
    for _ in 0..<20 {
      let batch = model.nextBatch()
      for commit in batch.commits {
        for change in commit.changes { tree.root.update(at: change.path, to: change.node) }
      }
    }
    tree.revision = model.revision
    tree.ledger = model.ledger.values.sorted { $0.name < $1.name }
    let change = Change(Path(wire: "a/b"), to: .leaf(.deferred(.timestamp)))
    tree.sessions = [StoredSession(id: 7, changes: [change], withdrawn: [Path(wire: "a/b/c")])]
    tree.rules = "the rules"
    let database = databases.database("moved")
    try database.restore(tree)
    let found = try database.load()
    #expect(found == tree)
    #expect(exactText(found.root) == exactText(tree.root))
    #expect(try database.check().faults == [])
    #expect(throws: StoreError.self) { try database.restore(StoredTree(root: .integer(1))) }
    let store = try open(databases, "moved")
    #expect(try store.load() == tree)
    try store.commit(model.nextBatch())
    #expect(try store.load().revision == model.revision)
    try store.close()
  }

  @Test("An import is one commit, or none if it fails", arguments: Storage.durable)
  func imports(storage: Storage) throws {
    let databases = try storage.databases(in: directory)
    let database = databases.database("test")
    #expect(try importText(#"{"a":{"x":1,"y":2},"b":3}"#, into: database).revision == 1)
    let merging = ImportMode.merging { $0.count < 2 }
    #expect(try importText(#"{"a":{"y":4,"z":5}}"#, into: database, mode: merging).revision == 2)
    let expected = try Node(json: JSONParser.parse(#"{"a":{"x":1,"y":4,"z":5},"b":3}"#))
    #expect(try database.load() == StoredTree(root: expected, revision: 2))
    for text in [#"{"a":1,"#, #"{"a/b":1}"#, #"{"a":{".sv":"timestamp"}}"#] {
      #expect(throws: (any Error).self) { try importText(text, into: database) }
    }
    #expect(try database.load() == StoredTree(root: expected, revision: 2))
    let store = try open(databases)
    #expect(throws: StoreError.self) { try importText("1", into: database) }
    try store.close()
  }

  @Test("Accepting a loss does nothing when nothing is missing", arguments: Storage.durable)
  func loss(storage: Storage) throws {
    let databases = try storage.databases(in: directory)
    let database = databases.database("test")
    #expect(try database.acceptLoss() == nil)
    let store = try open(databases)
    var model = StoreModel(seed: 1)
    try store.commit(model.nextBatch())
    #expect(throws: StoreError.self) { try database.acceptLoss() }
    try store.close()
    #expect(try database.acceptLoss() == nil)
    check(try database.load(), model)
  }
}
