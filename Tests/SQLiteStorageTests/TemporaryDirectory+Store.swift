import Foundation
import GRDB
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

extension TemporaryDirectory {
  /// The path of a store in this directory, which does not exist initially.
  var store: String { path + "/store" }
  /// The path of that store's database.
  var database: String { store + "/database.sqlite" }

  /// Creates a directory with a copy of the current files of a store.
  convenience init(filesOf other: String) throws {
    try self.init()
    try copyFiles(of: other)
  }

  /// Copies the current files of a store, the mark before the database and that before its
  /// write-ahead log.
  func copyFiles(of other: String) throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    chmod(store, 0o700)
    for name in ["/database.sqlite-mark", "/database.sqlite", "/database.sqlite-wal"] {
      guard let data = FileManager.default.contents(atPath: other + name) else { continue }
      try data.write(to: URL(fileURLWithPath: store + name))
    }
  }

  /// Creates the files of a store from their bytes.
  func write(_ files: [String: [UInt8]]) throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    for (name, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: store + "/" + name))
    }
  }

  func databaseBytes() throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: database)))
  }

  func writeDatabase(_ bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: database))
  }

  /// Changes the first character of a text wherever it is in the database.
  func damage(_ text: String) throws {
    var bytes = try databaseBytes()
    let positions = bytes.indices.filter { bytes[$0...].starts(with: text.utf8) }
    #expect(!positions.isEmpty)
    for position in positions { bytes[position] ^= 1 }
    try writeDatabase(bytes)
  }

  /// Changes the database as another program might.
  func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
    let queue = try DatabaseQueue(path: database)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql, arguments: arguments) }
    try queue.close()
  }
}

/// The bytes of a file, nil if it is missing.
func bytes(_ path: String) -> [UInt8]? {
  FileManager.default.contents(atPath: path).map { [UInt8]($0) }
}

/// The processor time of this thread, which does not depend on what else the machine does.
func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

extension SQLiteTreeStore {
  /// Stores one commit.
  func commit(_ revision: Int64, _ changes: Change...) throws {
    try commit(revision, changes)
  }

  /// Stores one commit.
  func commit(_ revision: Int64, _ changes: [Change]) throws {
    let commit = Commit(revision: revision, timestamp: 0, changes: changes)
    try self.commit(CommitBatch(commits: [commit]))
  }
}

/// Checks that a store contains exactly what it must.
func check(
  _ tree: StoredTree,
  _ model: StoreModel,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(exactText(tree.root) == exactText(model.root), sourceLocation: sourceLocation)
  #expect(tree.revision == model.revision, sourceLocation: sourceLocation)
  let ledger = Dictionary(uniqueKeysWithValues: tree.ledger.map { ($0.client, $0) })
  #expect(ledger == model.ledger, sourceLocation: sourceLocation)
}
