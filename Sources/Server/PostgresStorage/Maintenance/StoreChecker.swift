import RealtimeServer

/// Verifies every byte of a database.
struct StoreChecker {
  private let origin: String

  /// - Parameter origin: The name of the database in faults.
  init(origin: String) { self.origin = origin }

  /// Reads everything, and lists all damage.
  ///
  /// - Throws: An error of PostgreSQL, when the database cannot be read.
  func check(_ reader: SnapshotReader) throws -> StoreCheck {
    var check = StoreCheck()
    let position = try reader.position()
    check.revision = position.revision
    var walk = RowWalk(BranchCheck())
    let count = try reader.forEachChunk { chunk in
      chunk.forEachRow { key, value in
        check.rowCount += 1
        do {
          try walk.add(try NodeRow.decode(value, key: key), at: key)
        } catch {
          check.add("\(origin): \(DamagedData(key: key, by: error).description)")
        }
      }
    }
    if try walk.finish().hasBarePriority { check.add("\(origin): a priority has no node") }
    if count != position.rows {
      check.add("\(origin): it has \(count) data rows instead of \(position.rows)")
    }
    try report(in: &check) { check in
      var last = position.fold.revision
      try reader.forEachBatch(after: position.fold.revision) { commits in
        check.batchCount += 1
        last = commits.last?.revision ?? last
      }
      if last != position.revision { check.add("\(origin): commit \(last + 1) is missing") }
    }
    try report(in: &check) { _ in _ = try reader.ledger() }
    try report(in: &check) { _ in _ = try reader.sessions() }
    try report(in: &check) { _ in _ = try reader.rules() }
    return check
  }

  /// Runs part of the check, and lists any damage as a fault.
  private func report(
    in check: inout StoreCheck,
    _ body: (inout StoreCheck) throws -> Void
  ) throws {
    do {
      try body(&check)
    } catch let error as DamagedData {
      check.add(StoreError(error, at: origin).description)
    }
  }
}
