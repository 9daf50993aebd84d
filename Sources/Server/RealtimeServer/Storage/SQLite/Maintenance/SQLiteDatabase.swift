import DurableFiles
import Foundation
import GRDB
package import RealtimeCore

/// A database in a directory, or a copy of one in a single file, for tools.
package struct SQLiteDatabase: StoredDatabase {
  private let path: String
  /// What its file is to a check.
  private let role: FileRole
  /// When its store folds its log during an import, and how large it may grow.
  private let options: StoreOptions
  /// The time in milliseconds since 1970.
  private let now: @Sendable () -> Int64

  /// Describes a database at a path, which need not exist yet.
  ///
  /// The path is that of its directory; for reading, that of a single file is accepted as well. A
  /// copy is one that somebody has named, such as a backup, and must not be empty.
  package init(
    at path: String,
    isCopy: Bool = false,
    options: StoreOptions = StoreOptions(),
    now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
  ) {
    self.path = path
    role = isCopy ? .copy : .checkedData
    self.options = options
    self.now = now
  }

  package var exists: Bool {
    get throws(StoreError) { try StoreDirectory(path: path).hasDatabase }
  }

  package func load() throws(StoreError) -> StoredTree { try StoreFile(at: path).load() }

  package func commits(after revision: Int64) throws(StoreError) -> [Commit]? {
    try StoreFile(at: path).commits(after: revision)
  }

  package func export(
    _ layout: ExportLayout,
    to sink: @escaping (String) throws -> Void
  ) throws {
    try StoreFile(at: path).export(layout, to: sink)
  }

  package func check() throws(StoreError) -> StoreCheck {
    try StoreFile(at: path, as: role).check()
  }

  package func backUp(to path: String) throws(StoreError) -> StoreCheck {
    try StoreFile(at: self.path).backUp(to: path)
  }

  package func importTree(
    _ json: inout JSONTokenizer,
    mode: ImportMode,
    patience: Duration
  ) throws -> ImportResult {
    var options = options
    options.lockPatience = patience
    let store = try SQLiteTreeStore(directory: path, now: now(), options: options)
    let result = Result { try store.importTree(&json, mode: mode) }
    // The commit is durable by now; anything that closing could not fold is folded after the next
    // opening.
    try? store.close()
    return try result.get()
  }

  package func restore(_ tree: StoredTree) throws(StoreError) {
    try fill(beside: tree) { try $0.apply(Change(.root, to: tree.root)) }
  }

  /// Fills the database with what a tree has beside its data, and with rows.
  private func fill(
    beside tree: StoredTree,
    with body: (NodeTable) throws -> Void
  ) throws(StoreError) {
    let store = try SQLiteTreeStore(directory: path, now: 0, options: options)
    defer { try? store.close() }
    guard try store.load() == StoredTree() else {
      throw StoreError(
        .failed,
        description: "\(path): the database already exists and is not empty"
      )
    }
    _ = try StoreError.translating(at: path) {
      try store.commitDirectly(as: tree.revision) {
        try SideTables($0).save(CommitBatch(beside: tree))
      } _: {
        try body($0)
      }
    }
  }

  /// Writes the whole content of another storage into an empty file, row by row, and checks it.
  ///
  /// As with ``backUp(to:)``, the copy is durable when this returns.
  package static func copy(_ rows: StoredRows, to path: String) throws(StoreError) -> StoreCheck {
    let draft = SQLiteDatabase(at: "\(path)-draft")
    // A process that was killed may have left one behind.
    try? FileManager.default.removeItem(atPath: draft.path)
    defer { try? FileManager.default.removeItem(atPath: draft.path) }
    try draft.fill(beside: rows.beside) { nodes in
      try rows.forEachChunk { try nodes.insert($0) }
    }
    return try draft.backUp(to: path)
  }

  /// Replaces the database with a copy, which is checked first.
  ///
  /// The copy is a backup, or the directory of another database. The previous files are kept in a
  /// separate directory. Only if `replacesIntact` is set may the database be without damage.
  ///
  /// - Returns: The check of the new database, and where the previous files are; nil if there were
  ///   none.
  /// - Throws: ``StoreError`` when a server holds the database, the copy is damaged, or the
  ///   database is not; then nothing has changed.
  package func restore(
    from copy: String,
    replacesIntact: Bool
  ) throws(StoreError) -> (check: StoreCheck, replaced: String?) {
    let source = try StoreFile(at: copy, as: .copy)
    let directory = StoreDirectory(path: path)
    try directory.create()
    let lock = try DirectoryLock(directory: path)
    defer { lock.release() }
    return try StoreError.translating(at: directory.database) {
      let draft = CompanionFile.resolved(directory.database) + ".new"
      unlink(draft)
      defer { unlink(draft) }
      if !replacesIntact, let check = try? StoreFile(at: path).check(), check.faults.isEmpty,
        check.revision > 0
      {
        throw StoreError(
          .failed,
          description:
            "\(directory.database) is intact, with everything up to commit \(check.revision);"
            + " \"--replace\" puts the backup in its place all the same, and keeps its files"
        )
      }
      try PrivateFile.create(draft, followsLink: false)
      let check = try source.backUp(to: draft)
      let hasFiles =
        try directory.hasDatabase || access(CompanionFile.log(of: directory.database), F_OK) == 0
      let replaced = hasFiles ? try directory.copyAside(as: "replaced") : nil
      try directory.replaceDatabase(with: draft)
      return (check, replaced)
    }
  }

  /// Continues with what is left of a database in which acknowledged data is missing.
  ///
  /// Its files are first copied into a separate directory, and the copies are on the disk before
  /// anything is changed. Nothing is repaired: what remains is what SQLite can read of the
  /// database.
  ///
  /// - Returns: What was missing; nil if nothing was, and nothing has been done.
  /// - Throws: ``StoreError`` when a server holds the database, or its files cannot be used.
  package func acceptLoss() throws(StoreError) -> AcceptedLoss? {
    let directory = StoreDirectory(path: path)
    guard try directory.hasDatabase else { return nil }
    let lock = try DirectoryLock(directory: path)
    defer { lock.release() }
    let file = directory.database
    let acknowledged = try AcknowledgedCommits(ofStoreAt: file)
    return try StoreError.translating(at: file) {
      guard let fault = try acknowledged.fault() else { return nil }
      let copies = try directory.copyAside(as: "damaged")
      if acknowledged.foreignLog != nil {
        for name in ["-wal", "-shm"] {
          try CompanionFile.remove(CompanionFile.resolved(file) + name)
        }
      } else if acknowledged.hasFile {
        let queue = try StoreSchema.openWriter(path: file, synchronous: "FULL", expecting: 2)
        // This discards what lies behind the damage. Otherwise every start would report it missing.
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.close()
      } else {
        try CompanionFile.remove(CompanionFile.log(of: file))
      }
      try CompanionFile.remove(CompanionFile.mark(of: file))
      try DirectoryNames.synchronize(path)
      return AcceptedLoss(fault: fault, copies: copies)
    }
  }
}
