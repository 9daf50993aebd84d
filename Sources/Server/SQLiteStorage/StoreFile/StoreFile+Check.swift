import GRDB
import RealtimeCore
package import RealtimeHub

extension StoreFile {
  /// Looks at everything in the file and changes nothing.
  ///
  /// - Returns: What is there, and what of it is damaged.
  /// - Throws: `StoreError` when the file cannot be read at all, or is none of this program.
  /// - Complexity: O(size)
  package func check() throws(StoreError) -> StoreCheck {
    let acknowledged = try AcknowledgedCommits(ofStoreAt: path)
    return try StoreError.translating(at: path) {
      try read { database in
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
          try FoldTable(database, path: path).checkRows(check.rowCount)
        }
        report(in: &check) { try checkLog(of: database, &$0) }
        report(in: &check) { _ in _ = try LedgerTable(database, path: path).load() }
        report(in: &check) { _ in _ = try SessionTable(database, path: path).load() }
        report(in: &check) { _ in _ = try RulesTable(database, path: path).load() }
        return check
      } ?? StoreCheck(faults: acknowledged.absence.map { ["\(path): \($0)"] } ?? [])
    }
  }

  /// Makes a fault of what a part of the check throws, and lets the next part go on.
  private func report(
    in check: inout StoreCheck,
    _ body: (inout StoreCheck) throws -> Void
  ) {
    do {
      try body(&check)
    } catch {
      check.add(StoreError(error, at: path).description)
    }
  }

  private func checkNodes(of database: Database, _ check: inout StoreCheck) throws {
    var walk = RowWalk(BranchCheck())
    try NodeRows.forEachChunk(of: database) { chunk in
      chunk.forEachRow { key, value in
        check.rowCount += 1
        do {
          try walk.add(key, try NodeTable.decode(value, key: key))
        } catch {
          check.add(NodeTable.damaged(path, key: key, error).description)
        }
      }
    }
    if try walk.finish().hasBarePriority {
      check.add("\(path): a priority belongs to nothing")
    }
  }

  private func checkLog(of database: Database, _ check: inout StoreCheck) throws {
    let log = LogTable(database, path: path)
    check.revision = try log.lastRevision()
    let folded = try FoldTable(database, path: path).progress().revision
    try log.forEachBatch(after: folded) { _ in
      check.batchCount += 1
      return true
    }
  }
}

/// Finds priorities of nodes that have no data.
private struct BranchCheck: RowVisitor {
  private(set) var hasBarePriority = false
  private var levels: [(hasPriority: Bool, hasData: Bool)] = [(false, false)]

  mutating func open(_ key: ChildKey) { levels.append((false, false)) }

  mutating func add(_ node: Node, as key: ChildKey?) { levels[levels.count - 1].hasData = true }

  mutating func setPriority(_ priority: LeafValue) { levels[levels.count - 1].hasPriority = true }

  mutating func close() {
    let level = levels.removeLast()
    if level.hasPriority, !level.hasData { hasBarePriority = true }
    if level.hasData { levels[levels.count - 1].hasData = true }
  }
}
