import DurableFiles
import Foundation
import GRDB
import OfflineTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("SQLiteOfflineStore", .timeLimit(.minutes(1)))
struct SQLiteOfflineStoreTests {
  private let directory: TemporaryDirectory
  private let file: OfflineFile
  private let told = Told()

  init() throws {
    directory = try TemporaryDirectory()
    file = OfflineFile(directory: directory.file("d/e"), identity: "http://h:1?ns=n")
  }

  private func open() throws -> (store: SQLiteOfflineStore, state: OfflineState) {
    try SQLiteOfflineStore.open(file, observers: told.observers)
  }

  /// Has another program change the file.
  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: file.path)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  @Test("A closed store is unlocked even if a child process has inherited its files")
  func inheritedLock() throws {
    let (store, _) = try open()
    // Between `fork` and `exec`, a child process has copies of all descriptors.
    let inherited = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      .compactMap(Int32.init)
      .filter {
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\($0)"
        )
        return target == file.path + ".lock"
      }
      .map { dup($0) }
    defer { for descriptor in inherited { close(descriptor) } }
    #expect(inherited.count == 1)
    store.close()
    try open().store.close()
  }

  // MARK: Content

  @Test("A reopened store has all its data, and a new one is empty")
  func reopening() throws {
    let (store, state) = try open()
    #expect(state == OfflineState())
    let query = TrackedQuery(
      id: 1,
      path: "posts",
      query: Query(
        index: .child("m/x"),
        start: QueryBound(.bool(true)),
        limit: .init(3, side: .last)
      ),
      lastUse: 5,
      isComplete: true,
      isKept: true
    )
    let increment = Node.leaf(.deferred(.incrementInteger(2)))
    let saved = StoredWrite(
      number: 7,
      key: WriteKey(client: "c", number: 6),
      path: "a",
      operation: .merge([Change("x/y", to: increment), Change("z", to: .empty)]),
      estimate: .merge([Change("x/y", to: .integer(2)), Change("z", to: .empty)]),
      owner: "ann"
    )
    store.perform([.track(query), .replace(query: 1, .integer(1)), .saveWrite(saved)])
    store.close()
    let (second, next) = try open()
    #expect(next == OfflineState(writes: [saved], queries: [query]))
    #expect(second.data(of: 1) == .integer(1))
    #expect(second.data(of: 2) == nil)
    second.close()
  }

  @Test("Writes in a file from before owners existed are read without an owner")
  func earlierVersion() throws {
    let store = try open().store
    store.perform([.saveWrite(StoredWrite(1))])
    store.close()
    try execute("ALTER TABLE writes DROP COLUMN owner; PRAGMA user_version = 1;")
    let (second, state) = try open()
    #expect(state.writes == [StoredWrite(1)])
    second.perform([.saveWrite(StoredWrite(2, by: "ann"))])
    second.close()
    let (third, next) = try open()
    #expect(next.writes == [StoredWrite(1), StoredWrite(2, by: "ann")])
    third.close()
    #expect(told.problems.isEmpty)
  }

  @Test("The store matches a dictionary through random changes and restarts", arguments: 0..<20)
  func model(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var model = OfflineModel()
    var (store, state) = try open()
    for _ in 0..<60 {
      let batch = (0...random.below(6)).map { _ in change(&random) }
      store.perform(batch)
      for change in batch { model.apply(change) }
      if random.once(in: 4) { #expect(store.data(of: 1) == model.data[1]) }
      if random.once(in: 10) {
        store.close()
        (store, state) = try open()
        #expect(state == model.state)
        for query in Int64(1)...3 { #expect(store.data(of: query) == model.data[query]) }
      }
    }
    store.close()
    #expect(told.problems.isEmpty)
  }

  private func change(_ random: inout SplitMix64) -> OfflineChange {
    let query = Int64(1 + random.below(3))
    let keys: [ChildKey] = ["a", "é", "e\u{301}", "1", "01", "a/b", "\u{1F600}", "\"\\"]
    let path = Path((0...random.below(3)).map { _ in random.pick(keys) })
    switch random.below(8) {
    case 0: return .saveWrite(StoredWrite(Int64(random.below(20)), .set(node(&random))))
    case 1: return .removeWrite(Int64(random.below(20)))
    case 2:
      let limit = Query.Limit(1 + random.below(5), side: .first)
      let selection = Query(index: .key, start: QueryBound(.string("x")), limit: limit)
      return .track(TrackedQuery(id: query, path: path, query: selection, lastUse: Int64(query)))
    case 3: return .replace(query: query, node(&random))
    case 4: return .amend(query: query, Change(path, to: node(&random)))
    case 5: return random.once(in: 3) ? .forget(query: query) : .removeWrite(0)
    case _: return .update(query: query, Change(path, to: node(&random)))
    }
  }

  private func node(_ random: inout SplitMix64) -> Node {
    let leaves: [Node] = [
      .empty, .bool(true), .integer(.max), .leaf(LeafValue(number: 0.1)),
      .leaf(LeafValue(number: -1e300)), .string("\u{0}\n\"\u{2028}é"), .string(""),
      .leaf(.string("x"), priority: Priority(.integer(3))),
      .string(String(repeating: "x", count: 3_000)),
    ]
    var node = random.pick(leaves)
    for key: ChildKey in ["a", "1", "é"] where random.once(in: 2) {
      node.update(at: Path([key]), to: random.pick(leaves))
    }
    return random.once(in: 4) ? node.withPriority(.string("p")) : node
  }

  @Test("Every kind of data round-trips exactly")
  func exactness() throws {
    let store = try open().store
    let timestamp = Node.leaf(.deferred(.timestamp), priority: Priority(.deferred(.timestamp)))
    let values: [Node] = [
      .empty, .integer(.min), .integer(.max), .leaf(LeafValue(number: 1.5e-7)),
      .leaf(LeafValue(number: 2e19)), .leaf(LeafValue(number: .leastNonzeroMagnitude)), timestamp,
      .leaf(.deferred(.incrementDouble(0.5))),
      Node.empty.setting(Path(["a", "b"]), to: .bool(false)).withPriority(.string("p")),
    ]
    for (index, node) in values.enumerated() {
      store.perform([.saveWrite(StoredWrite(Int64(index), .set(node)))])
    }
    store.close()
    let kept = try open().state.writes.map(\.operation)
    #expect(kept == values.map { WriteOperation.set($0) })
  }

  @Test("Many small changes are compacted, so the file does not grow with them")
  func folding() throws {
    let store = try open().store
    let big = Node.string(String(repeating: "x", count: 2_000))
    store.perform([.replace(query: 1, .empty)])
    for number in 0..<2_000 {
      store.perform([.update(query: 1, Change(Path([ChildKey("k\(number % 10)")]), to: big))])
    }
    #expect(store.data(of: 1)?.childCount == 10)
    let last = try #require(told.sizes.last)
    #expect(last < 400_000, "the data is 20 kB, all changes are 4 MB")
    store.close()
  }

  @Test("Deleted data frees its space in the file")
  func shrinking() throws {
    let store = try open().store
    let big = Node.string(String(repeating: "x", count: 3_000_000))
    store.perform([.replace(query: 1, big)])
    _ = store.data(of: 1)
    let full = try #require(told.sizes.last)
    store.perform([.forget(query: 1)])
    _ = store.data(of: 1)
    let empty = try #require(told.sizes.last)
    #expect(full > 3_000_000)
    #expect(empty < 100_000)
    store.close()
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(try #require(attributes[.size] as? Int) < 100_000)
  }

  @Test("The log of a file behind a link does not grow without limit")
  func linkedLog() throws {
    try open().store.close()
    let target = directory.file("elsewhere.sqlite")
    try FileManager.default.moveItem(atPath: file.path, toPath: target)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: target)
    let store = try open().store
    let big = Node.string(String(repeating: "x", count: 1_000_000))
    for number in 0..<5 {
      store.perform([.replace(query: Int64(number), big)])
      _ = store.data(of: 100)
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: target + "-wal")
    #expect(try #require(attributes[.size] as? Int) < 3_000_000)
    store.close()
  }

  // MARK: Crashes

  @Test("A copy of the file at any moment contains whole calls only, never part of one")
  func crash() throws {
    var random = SplitMix64(seed: 1)
    let store = try open().store
    var states = [OfflineState()]
    var model = OfflineModel()
    var seen: Set<Int> = []
    for round in 0..<60 {
      let batch = (0...random.below(6)).map { _ in change(&random) }
      store.perform(batch)
      for change in batch { model.apply(change) }
      states.append(model.state)
      if round % 2 == 0 { _ = store.data(of: 1) }
      let copy = OfflineFile(directory: directory.file("c\(round)"), identity: "x")
      try copy.create()
      for companion in ["", "-wal"]
      where FileManager.default.fileExists(atPath: file.path + companion) {
        try? FileManager.default.removeItem(atPath: copy.path + companion)
        try FileManager.default.copyItem(
          atPath: file.path + companion,
          toPath: copy.path + companion
        )
      }
      let (other, state) = try SQLiteOfflineStore.open(copy, observers: Told().observers)
      other.close()
      let position = try #require(states.lastIndex(of: state), "no state of before")
      if round % 2 == 0 { #expect(position == round + 1 || states[position] == states[round + 1]) }
      seen.insert(position)
    }
    #expect(seen.count > 10)
    store.close()
  }

  @Test("A flush waits for the disk, and unflushed changes are at least written")
  func durability() async throws {
    let store = try open().store
    store.perform([.saveWrite(StoredWrite(1))])
    #expect(await store.flush() == nil)
    let reader = try DatabaseQueue(path: file.path)
    let count = try await reader.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM writes") }
    #expect(count == 1)
    store.close()
  }

  // MARK: Trouble

  @Test("A second store on the same file is refused until the first is closed")
  func inUse() throws {
    let store = try open().store
    let error = #expect(throws: OfflineStoreError.self) { try open() }
    #expect(error?.kind == .inUse)
    #expect(error?.description.contains(file.path) == true)
    store.close()
    try open().store.close()
  }

  @Test("A damaged file is renamed, reported and replaced by an empty one", arguments: 0..<3)
  func damage(kind: Int) throws {
    let store = try open().store
    store.perform((0..<200).map { .saveWrite(StoredWrite($0, .set(.string("text number \($0)")))) })
    store.close()
    let handle = try #require(FileHandle(forUpdatingAtPath: file.path))
    switch kind {
    case 0: try handle.write(contentsOf: Data("this is no database at all".utf8))
    case 1: try handle.truncate(atOffset: 6_000)
    case _:
      let size = try handle.seekToEnd()
      try handle.seek(toOffset: 4_096)
      try handle.write(contentsOf: Data(repeating: 0xFF, count: Int(size) - 4_096))
    }
    try handle.close()
    let (next, state) = try open()
    #expect(state == OfflineState())
    #expect(told.problems.map(\.kind) == [.damaged])
    #expect(told.problems.first?.description.contains(file.path + ".damaged-1") == true)
    #expect(FileManager.default.fileExists(atPath: file.path + ".damaged-1"))
    next.perform([.saveWrite(StoredWrite(1))])
    next.close()
    #expect(try open().state.writes == [StoredWrite(1)])
  }

  @Test(
    "Invalid rows also count as damage",
    arguments: [
      "INSERT INTO writes VALUES (1, 'c', 1, '[', '{}', NULL, NULL)",
      "INSERT INTO writes VALUES (1, 'c', '', '[]', '{}', NULL, NULL)",
      "INSERT INTO queries VALUES (1, '[]', '{}', 0, '', 0)",
      "INSERT INTO pieces VALUES (1, 'q', '[]', '1')",
    ]
  )
  func strangeRow(statement: String) throws {
    try open().store.close()
    try execute(statement)
    let (store, state) = try open()
    #expect(state == OfflineState())
    #expect(told.problems.map(\.kind) == [.damaged])
    store.close()
  }

  @Test(
    "The writes of a damaged file are kept up to one that cannot be read",
    arguments: [
      ("INSERT INTO queries VALUES (1, '[]', '{}', 0, '', 0)", 3),
      ("DROP TABLE queries", 3),
      ("UPDATE writes SET operation = '[' WHERE number = 2", 1),
    ]
  )
  func salvage(statement: String, count: Int) throws {
    let writes = (1...3).map { StoredWrite($0, by: "ann") }
    let original = try open().store
    original.perform(writes.map { .saveWrite($0) })
    original.close()
    try execute(statement)
    for _ in 0..<2 {
      let (store, state) = try open()
      #expect(state == OfflineState(writes: Array(writes.prefix(count))))
      store.close()
    }
    #expect(told.problems.map(\.kind) == [.damaged])
  }

  /// Overwrites the first page of the table with the data.
  private func damagePieces() throws {
    let queue = try DatabaseQueue(path: file.path)
    let page = try queue.read { database in
      let sql = "SELECT rootpage FROM sqlite_master WHERE name = 'pieces'"
      return try UInt64.fetchOne(database, sql: sql)
    }
    try queue.close()
    let handle = try #require(FileHandle(forUpdatingAtPath: file.path))
    try handle.seek(toOffset: 4_096 * (try #require(page) - 1))
    try handle.write(contentsOf: Data(repeating: 0xFF, count: 4_096))
    try handle.close()
  }

  @Test("The writes of a file that is damaged while it is open are kept, with later ones")
  func damagedWhileOpen() throws {
    try open().store.close()
    let (store, _) = try open()
    store.perform([.saveWrite(StoredWrite(1)), .saveWrite(StoredWrite(2))])
    #expect(store.data(of: 1) == nil)
    try damagePieces()
    // What another program writes makes the store read its pages again.
    try execute("UPDATE writes SET number = number")
    store.perform([.replace(query: 1, .integer(1))])
    #expect(store.data(of: 1) == nil)
    #expect(told.problems.map(\.kind) == [.damaged])
    let data = TrackedQuery(id: 7, path: "list", query: .all, lastUse: 0, isComplete: true)
    store.perform([.removeWrite(1), .saveWrite(StoredWrite(3)), .track(data)])
    store.perform([.update(query: 7, Change("a", to: .integer(1)))])
    #expect(store.data(of: 7) == nil)
    store.close()
    let (next, state) = try open()
    #expect(state == OfflineState(writes: [StoredWrite(2), StoredWrite(3)]))
    #expect(told.problems.count == 1)
    next.close()
  }

  @Test("The writes of a file whose data is damaged are kept")
  func damagedPage() throws {
    let original = try open().store
    original.perform([.saveWrite(StoredWrite(1)), .replace(query: 1, .integer(1))])
    original.close()
    try damagePieces()
    let (store, state) = try open()
    #expect(state == OfflineState(writes: [StoredWrite(1)]))
    #expect(told.problems.map(\.kind) == [.damaged])
    store.close()
  }

  @Test("Data that cannot be read is none, and the store goes on")
  func strangePiece() throws {
    let original = try open().store
    original.perform([
      .saveWrite(StoredWrite(1)), .replace(query: 1, .integer(1)), .replace(query: 2, .integer(2)),
    ])
    original.close()
    try execute("UPDATE pieces SET node = '[' WHERE query = 1")
    let (store, _) = try open()
    #expect(store.data(of: 1) == nil)
    #expect(store.data(of: 2) == .integer(2))
    let text = Node.string(String(repeating: "x", count: 20_000))
    store.perform([.update(query: 1, Change("a", to: text)), .saveWrite(StoredWrite(2))])
    #expect(store.data(of: 1) == nil)
    store.close()
    let (next, state) = try open()
    #expect(state.writes == [StoredWrite(1), StoredWrite(2)])
    #expect(told.problems.isEmpty)
    next.close()
  }

  // The byte at 63 is the version, which a later program may have written.
  @Test(
    "A file whose header is damaged keeps its writes or is renamed",
    arguments: (0..<108).filter { $0 != 63 }
  )
  func header(offset: Int) throws {
    let original = try open().store
    original.perform([.saveWrite(StoredWrite(1))])
    original.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file.path))
    for byte in [0, 1, 0x7F, 0xFF] as [UInt8] where bytes[offset] != byte {
      var damaged = bytes
      damaged[offset] = byte
      try damaged.write(to: URL(fileURLWithPath: file.path))
      let renamed = told.problems.count
      let (store, state) = try open()
      #expect(state.writes == [StoredWrite(1)] || told.problems.count > renamed)
      store.perform([.saveWrite(StoredWrite(2))])
      store.close()
      let (next, kept) = try open()
      #expect(kept.writes == state.writes + [StoredWrite(2)], "\(byte) at \(offset)")
      next.close()
    }
    #expect(told.problems.allSatisfy { $0.description.contains(file.path + ".damaged-") })
  }

  @Test("Writes in a file whose marks are damaged are kept")
  func marks() throws {
    let store = try open().store
    store.perform([.saveWrite(StoredWrite(1))])
    store.close()
    for mark in ["application_id = 7", "user_version = 0", "user_version = 16777218"] {
      try execute("PRAGMA \(mark)")
      let (store, state) = try open()
      #expect(state.writes == [StoredWrite(1)])
      store.close()
    }
    #expect(told.problems.isEmpty)
  }

  @Test("A later version's file is not touched")
  func laterVersion() throws {
    try open().store.close()
    try execute("PRAGMA user_version = 3")
    let error = #expect(throws: OfflineStoreError.self) { try open() }
    #expect(error?.kind == .unavailable)
    let version = try DatabaseQueue(path: file.path).read {
      try Int.fetchOne($0, sql: "PRAGMA user_version")
    }
    #expect(version == 3)
  }

  @Test("Another program's database is not touched")
  func foreign() throws {
    try file.create()
    try execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let error = #expect(throws: OfflineStoreError.self) { try open() }
    #expect(error?.kind == .unavailable)
    let count = try DatabaseQueue(path: file.path).read {
      try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t")
    }
    #expect(count == 1)
  }

  @Test("A file that cannot be created is reported")
  func noPlace() throws {
    try Data().write(to: URL(fileURLWithPath: directory.file("d")))
    let error = #expect(throws: OfflineStoreError.self) { try open() }
    #expect(error?.kind == .unavailable)
    #expect(error?.description.contains(directory.file("d")) == true)
  }

  @Test("A full disk is reported once, and pending changes are written once space is free")
  func full() async throws {
    let store = try open().store
    store.limitPages(20)
    let big = Node.string(String(repeating: "x", count: 200_000))
    store.perform([.saveWrite(StoredWrite(1))])
    #expect(await store.flush() == nil)
    store.perform([.replace(query: 1, big)])
    store.perform([.saveWrite(StoredWrite(2))])
    #expect(await store.flush()?.kind == .unavailable)
    #expect(await store.flush()?.kind == .unavailable)
    #expect(told.problems.map(\.kind) == [.unavailable])
    store.limitPages(1_000)
    store.perform([.saveWrite(StoredWrite(3))])
    #expect(await store.flush() == nil)
    #expect(store.data(of: 1) == big)
    store.close()
    #expect(try open().state.writes == [StoredWrite(1), StoredWrite(2), StoredWrite(3)])
  }

  @Test("A closed store returns nothing and stores nothing")
  func closed() async throws {
    let store = try open().store
    store.perform([.replace(query: 1, .integer(1))])
    store.close()
    store.perform([.replace(query: 1, .integer(2))])
    #expect(store.data(of: 1) == nil)
    store.close()
    let next = try open().store
    #expect(next.data(of: 1) == .integer(1))
    next.close()
  }

  // MARK: Files

  @Test("The directory and the files are accessible to their owner only")
  func permissions() throws {
    let store = try open().store
    store.perform([.saveWrite(StoredWrite(1))])
    _ = store.data(of: 1)
    for (path, expected) in [
      (directory.file("d"), 0o700), (directory.file("d/e"), 0o700), (file.path, 0o600),
      (file.path + "-wal", 0o600), (file.path + ".lock", 0o600),
    ] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == expected, "\(path)")
    }
    store.close()
  }

  @Test("Each server and namespace has its own file with a portable name")
  func names() {
    let identities = [
      "http://h:1?ns=a", "http://h:1?ns=A", "http://h:1?ns=a/b", "http://h:1?ns=a-b",
      "unix:/\(String(repeating: "x/", count: 200))s?ns=a", "unix:/é ../s?ns=a",
    ]
    let paths = identities.map { OfflineFile(directory: "/d", identity: $0).path }
    #expect(Set(paths).count == identities.count)
    for path in paths {
      let name = path.dropFirst(3)
      #expect(name.utf8.count < 128)
      #expect(name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
    }
  }

  // Differs: The file is in
  @Test("The file is in a directory of its own below that of all programs' state")
  func place() {
    let path = OfflineFile(directory: nil, identity: "db").path
    #expect(path.hasPrefix("\(FilePath.stateDirectory())/realtime-database/db-"))
  }
}
