package import RealtimeHub

extension StoreFile {
  /// Reads what has been committed after a commit, also while a server uses the file.
  ///
  /// The log keeps the last commits only: whoever wants all of them asks again and again.
  ///
  /// - Parameter revision: The last commit that is known.
  /// - Returns: The commits after it in their order, or nil when the log does not reach back so far.
  /// - Throws: `StoreError` when the file cannot be read, or is damaged.
  /// - Complexity: O(size of the commits)
  package func commits(after revision: Int64) throws(StoreError) -> [Commit]? {
    try StoreError.translating(at: path) {
      try read { database -> [Commit]? in
        let log = LogTable(database, path: path)
        guard try log.lastRevision() > revision else { return [] }
        guard try log.firstRevision(after: revision) == revision + 1 else { return nil }
        var commits: [Commit] = []
        try log.forEachBatch(after: revision) { batch in
          commits += batch
          return true
        }
        return commits
      } ?? []
    }
  }
}
