package import RealtimeCore
package import RealtimeHub
import TreeStorage

extension SQLiteTreeStore {
  /// Imports JSON as one commit, however long the text is.
  ///
  /// Only a small part of the text is in memory. The process must have the store to itself: a hub on
  /// the same store would not learn of the commit.
  ///
  /// - Parameters:
  ///   - json: The text, not yet begun; afterwards it tells how far it has been read.
  ///   - mode: What stays of the present data.
  /// - Returns: The commit, and how many subtrees it has replaced.
  /// - Throws: ``JSONError``, ``ImportError``, `StoreError` or what the source of the text throws;
  ///   then the store is as it was.
  /// - Complexity: O(text · log size)
  package func importTree(
    _ json: inout JSONTokenizer,
    mode: ImportMode
  ) throws -> ImportResult {
    var replaced = 0
    let revision = try commitDirectly { table in
      var importer = TreeImporter(table.tree, mode: mode)
      try importer.addAll(&json)
      replaced = importer.replacedCount
    }
    return ImportResult(revision: revision, replacedCount: replaced)
  }
}
