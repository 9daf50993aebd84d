import DurableFiles
import Foundation
import GRDB

/// The file of a store for reading only, whether or not a server uses it: ``StoredDatabase`` says
/// what each operation does.
///
/// Operations that read the whole file fail if acknowledged data is missing.
struct StoreFile: Sendable {
  let path: String
  private let role: FileRole

  /// Locates the file of a store, given by its path or by its directory; a copy must not be empty.
  ///
  /// - Throws: ``StoreError`` when there is no file.
  init(at path: String, as role: FileRole = .data) throws(StoreError) {
    self.role = role
    var status = stat()
    let isDirectory = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    self.path = isDirectory ? StoreDirectory(path: path).database : path
    let file = self.path
    guard try StoreError.translating(at: file, { try FilePath.exists(file) }) else {
      if let fault = try AcknowledgedCommits(ofStoreAt: self.path).absence {
        throw StoreError.loss(of: self.path, fault: fault)
      }
      throw StoreError(.missing, description: "there is no database at \(self.path)")
    }
  }

  /// Reads the file in one transaction, unless acknowledged data is missing from it.
  ///
  /// - Returns: The result of the body, or nil when the file is empty, as before the first start.
  /// - Throws: ``StoreError`` when data is missing, or any error of ``read(_:)``.
  private func readWhole<Result>(_ body: (Database) throws -> Result) throws -> Result? {
    let acknowledged = try AcknowledgedCommits(ofStoreAt: path)
    if let fault = acknowledged.foreignLog { throw StoreError.loss(of: path, fault: fault) }
    let result = try read { database in
      if let fault = try acknowledged.fault(in: database) {
        throw StoreError.loss(of: path, fault: fault)
      }
      return try body(database)
    }
    if result == nil, let fault = acknowledged.absence {
      throw StoreError.loss(of: path, fault: fault)
    }
    return result
  }

  /// Reads the file in one transaction.
  ///
  /// - Returns: The result of the body, or nil when the file is empty, as before the first start.
  /// - Throws: Any error of the body, and errors of the database and damage as ``StoreError``.
  func read<Result>(_ body: (Database) throws -> Result) throws -> Result? {
    do {
      let reader = try StoreSchema.openReader(path: path)
      defer { try? reader.close() }
      return try reader.read { try StoreSchema.isStore($0) ? body($0) : nil }
    } catch let error as DatabaseError
      where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK
    {
      // The first start was interrupted before anything was stored.
      return nil
    } catch let error where error is DatabaseError || error is DamagedData {
      throw StoreError(error, at: path, as: role)
    }
  }

  // MARK: Reading

  func load() throws(StoreError) -> StoredTree {
    try StoreError.translating(at: path, as: role) {
      try readWhole { database in
        let rows = try NodeTable(database).rowCount()
        return try StoredTree(reading: database, rows: rows)
      } ?? StoredTree()
    }
  }

  func commits(after revision: Int64) throws(StoreError) -> [Commit]? {
    try StoreError.translating(at: path, as: role) {
      try read { database -> [Commit]? in
        let log = LogTable(database)
        return try log.lastRevision() > revision ? log.commits(after: revision) : []
      } ?? []
    }
  }

  /// Writes the tree, which is never in memory.
  ///
  /// Commits that are only in the log are folded into a copy of the node table, which SQLite keeps
  /// in a temporary file.
  func export(
    _ layout: ExportLayout,
    to sink: @escaping (String) throws -> Void
  ) throws {
    let isStore: Void? = try readWhole { database in
      let rows = try NodeTable(database).rowCount()
      try FoldTable(database).checkRows(rows)
      let table = try LogTable(database).foldedNodes()
      var walk = RowWalk(TreeWriter(layout, sink: sink))
      try NodeRows.forEachChunk(of: database, table: table, rowCount: rows) { chunk in
        try chunk.forEachNode { try walk.add($1, at: $0) }
      }
      try walk.finish().finish()
    }
    if isStore == nil { try TreeWriter(layout, sink: sink).finish() }
  }

  // MARK: Copying

  /// Copies the store, with the ledger, the scheduled writes and the rules, and checks the copy.
  func backUp(to copy: String) throws(StoreError) -> StoreCheck {
    let reader = try StoreError.translating(at: path, as: role) {
      guard try readWhole({ _ in true }) == true else {
        throw empty
      }
      return try StoreSchema.openReader(path: path)
    }
    defer { try? reader.close() }
    let check = try StoreError.translating(at: copy, as: .copy) {
      do {
        try reader.writeWithoutTransaction { database in
          try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
      } catch let error as DatabaseError where Self.isOfSource(error) {
        throw StoreError(error, at: path)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
        // The error of a store would tell to start its server again.
        let detail = error.message ?? "code \(error.extendedResultCode.rawValue)"
        throw StoreError(.failed, description: "\(copy) cannot be written: \(detail)")
      }
      try LogIdentity.renew(copy)
      try Self.sync(copy)
      return try StoreFile(at: copy, as: .copy).check()
    }
    if let fault = check.faults.first {
      let source = role == .copy ? " \(path)" : ""
      throw StoreError(
        .damaged,
        description: "the copy is damaged: \(fault); \"hearth fsck\(source)\" lists all damage"
      )
    }
    return check
  }

  /// The error for an empty file: in a data directory, no server has used it yet.
  private var empty: StoreError {
    role == .copy
      ? .damaged(path, because: "it is empty, and not a backup", as: role)
      : StoreError(.missing, description: "\(path) is empty: no server has used it yet")
  }

  /// Whether copying has failed because of what is copied.
  private static func isOfSource(_ error: DatabaseError) -> Bool {
    [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_BUSY].contains(error.resultCode)
      || [.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ].contains(error.extendedResultCode)
  }

  /// Waits until a file is on the disk, which SQLite does not do for a copy.
  private static func sync(_ file: String) throws(StoreError) {
    let descriptor = open(file, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError(systemCode: errno, "cannot open \(file)") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw StoreError(systemCode: errno, "cannot write \(file)")
    }
  }

  // MARK: Checking

  /// Verifies every page, row and checksum, without changing the file.
  ///
  /// - Throws: `StoreError` when the file cannot be read at all, belongs to another program, or is
  ///   an empty copy.
  func check() throws(StoreError) -> StoreCheck {
    let acknowledged = try AcknowledgedCommits(ofStoreAt: path)
    if let fault = acknowledged.foreignLog { return StoreCheck(faults: ["\(path): \(fault)"]) }
    return try StoreError.translating(at: path, as: role) {
      let check = try read { database in
        var check = StoreCheck()
        for line in try String.fetchAll(
          database,
          sql: "PRAGMA integrity_check(\(StoreCheck.faultLimit))"
        ) where line != "ok" {
          check.add("\(path): \(line)")
        }
        report(in: &check) { check in
          if let fault = try acknowledged.fault(in: database) { check.add("\(path): \(fault)") }
        }
        report(in: &check) { check in
          try checkNodes(of: database, &check)
          try FoldTable(database).checkRows(check.rowCount)
        }
        report(in: &check) { try checkLog(of: database, &$0) }
        let sides = SideTables(database)
        report(in: &check) { _ in _ = try sides.ledger() }
        report(in: &check) { _ in _ = try sides.sessions() }
        report(in: &check) { _ in _ = try sides.rules() }
        return check
      }
      if let check { return check }
      let fault = acknowledged.absence
      if fault == nil, role == .copy { throw empty }
      return StoreCheck(faults: fault.map { ["\(path): \($0)"] } ?? [])
    }
  }

  /// Runs part of the check, and lists any error as a fault.
  private func report(
    in check: inout StoreCheck,
    _ body: (inout StoreCheck) throws -> Void
  ) {
    do {
      try body(&check)
    } catch {
      check.add(StoreError(error, at: path, as: role).description)
    }
  }

  private func checkNodes(of database: Database, _ check: inout StoreCheck) throws {
    var walk = RowWalk(BranchCheck())
    let known = try? FoldTable(database).rowCount()
    try NodeRows.forEachChunk(of: database, rowCount: known) { chunk in
      chunk.forEachRow { key, value in
        check.rowCount += 1
        do {
          try walk.add(try NodeRow.decode(value, key: key), at: key)
        } catch {
          let damage = DamagedData(key: key, by: error)
          check.add(StoreError(damage, at: path, as: role).description)
        }
      }
    }
    if try walk.finish().hasBarePriority {
      check.add("\(path): a priority has no node")
    }
  }

  private func checkLog(of database: Database, _ check: inout StoreCheck) throws {
    let log = LogTable(database)
    check.revision = try log.lastRevision()
    let folded = try FoldTable(database).progress().revision
    try log.forEachBatch(after: folded) { _ in check.batchCount += 1 }
  }
}
