import RealtimeCore
import RealtimeServer
import StoreTestSupport
import TestSupport
import Testing

@Suite("Rows overlaid with changes")
struct RowOverlayTests {
  /// Rows in memory, ordered by path.
  struct Table: RowTable {
    var rows: [(path: [UInt8], value: [UInt8])] = []

    func values(at paths: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>: [UInt8]] {
      let wanted = Set(paths)
      let found = rows.filter { wanted.contains($0.path[...]) }
      return Dictionary(uniqueKeysWithValues: found.map { ($0.path[...], $0.value) })
    }

    func paths(from first: ArraySlice<UInt8>, before end: ArraySlice<UInt8>) -> [[UInt8]] {
      let found = rows.lazy.map(\.path).filter {
        !$0.lexicographicallyPrecedes(first) && $0.lexicographicallyPrecedes(end)
      }
      // So few that a search has to continue.
      return Array(found.prefix(2))
    }

    /// The rows with changes applied.
    func joined(with changes: [Change]) throws -> Table {
      let overlay = RowOverlay(above: self)
      try overlay.apply(changes)
      var merge = overlay.merge()
      var table = Table()
      func take(_ chunk: NodeRows) {
        chunk.forEachRow { table.rows.append((Array($0), Array($1))) }
      }
      for (path, value) in rows {
        try path.withUnsafeBytes { path in
          try value.withUnsafeBytes { try merge.add(path: path, value: $0, to: take) }
        }
      }
      try merge.finish(to: take)
      return table
    }

    /// The tree that the rows form, and whether any priority belongs to a node without data.
    func tree() throws -> (root: Node, hasBarePriority: Bool) {
      let decoder = RowDecoder()
      var walk = RowWalk(BranchCheck())
      for (path, value) in rows {
        var chunk = NodeRows()
        path.withUnsafeBytes { path in
          value.withUnsafeBytes { chunk.append(path: path, value: $0) }
        }
        try chunk.forEachNode { try walk.add($1, at: $0) }
        decoder.add(chunk)
      }
      return (try decoder.finish(), try walk.finish().hasBarePriority)
    }
  }

  @Test("equal the rows of the changed tree, in order", arguments: Thoroughness.seeds(300))
  func random(seed: UInt64) throws {
    var model = StoreModel(seed: seed)
    var table = Table()
    for round in 1...12 {
      var changes = CoalescedChanges()
      for _ in 0..<round {
        for change in model.nextBatch().commits.flatMap(\.changes) { changes.add(change) }
      }
      table = try table.joined(with: changes.changes)
      let tree = try table.tree()
      #expect(exactText(tree.root) == exactText(model.root))
      #expect(!tree.hasBarePriority)
      for (row, next) in zip(table.rows, table.rows.dropFirst()) {
        #expect(row.path.lexicographicallyPrecedes(next.path))
      }
    }
  }
}
