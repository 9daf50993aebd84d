extension StoreFile {
  /// Writes everything as JSON with priorities, piece by piece.
  ///
  /// The tree is never in memory. Commits that are in the log only are folded into a copy of the node
  /// table, which SQLite keeps in a temporary file.
  ///
  /// - Parameters:
  ///   - layout: How the text is broken into lines.
  ///   - sink: Takes the pieces of the text, each of whole characters.
  /// - Throws: `StoreError` when the store is damaged, or what the sink throws.
  /// - Complexity: O(size)
  package func export(
    _ layout: ExportLayout,
    to sink: @escaping (String) throws -> Void
  ) throws {
    let isStore: Void? = try readWhole { database in
      let rows = try NodeTable(database, path: path).rowCount()
      try FoldTable(database, path: path).checkRows(rows)
      let table = try LogTable(database, path: path).foldedNodes()
      var walk = RowWalk(TreeWriter(layout, sink: sink))
      try NodeRows.forEachChunk(of: database, table: table) { chunk in
        try chunk.forEachNode(path) { try walk.add($0, $1) }
      }
      try walk.finish().finish()
    }
    if isStore == nil { try TreeWriter(layout, sink: sink).finish() }
  }
}
