package import RealtimeCore

extension SQLiteTreeStore {
  /// Imports JSON as one commit, however long the text is.
  ///
  /// Only a small part of the text is in memory; afterwards its position shows how far it has been
  /// read. The process must have exclusive use of the store: a hub on the same store would not
  /// learn of the commit.
  ///
  /// - Throws: ``JSONError``, ``ImportError``, `StoreError`, or an error of the source of the text;
  ///   then the store is unchanged.
  /// - Complexity: O(text · log size)
  package func importTree(
    _ json: inout JSONTokenizer,
    mode: ImportMode
  ) throws -> ImportResult {
    var replaced = 0
    let revision = try commitDirectly { table in
      var importer = TreeImporter(table.tree, mode: mode)
      try table.withLongRowsApart { try importer.addAll(&json) }
      replaced = importer.replacedCount
    }
    return ImportResult(revision: revision, replacedCount: replaced)
  }
}
