package import RealtimeCore

extension SQLiteTreeStore {
  /// Takes data in from JSON as one commit, however long the text is.
  ///
  /// No more of the text is in memory than a small part. It is for a process that has the store to
  /// itself: a hub on the same store would not learn of the commit.
  ///
  /// - Parameters:
  ///   - json: The text, not yet begun; afterwards it tells how far it has been read.
  ///   - mode: What stays of the data that are there.
  /// - Returns: The revision of the commit, and how many places it has replaced.
  /// - Throws: ``JSONError``, ``ImportError``, `StoreError` or what the source of the text throws;
  ///   then the store is as it was.
  /// - Complexity: O(text · log size)
  package func importTree(
    _ json: inout JSONTokenizer,
    _ mode: ImportMode
  ) throws -> (revision: Int64, places: Int) {
    var places = 0
    let revision = try commitDirectly { table in
      var importer = TreeImporter(table, mode: mode)
      if case .merging = mode {
        guard let token = try json.next(), token == .objectStart else {
          throw ImportError("the data to be added must be a JSON object", at: .root)
        }
        try importer.add(token)
      }
      while let token = try json.next() { try importer.add(token) }
      places = importer.entryCount
    }
    return (revision, places)
  }
}
