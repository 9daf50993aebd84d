/// The content of a store, with the tree as rows that are read one after another.
package struct StoredRows {
  /// Reads the tree, keeping little of it in memory: passes its rows in path order to a closure, one
  /// chunk at a time, and throws any error of the storage or of the closure.
  package typealias Reading = (_ body: (NodeRows) throws -> Void) throws -> Void

  /// Everything but the data, which is empty here.
  package let beside: StoredTree
  package let forEachChunk: Reading

  /// Describes content whose tree is read only on request.
  package init(beside: StoredTree, forEachChunk: @escaping Reading) {
    self.beside = beside
    self.forEachChunk = forEachChunk
  }
}

extension CommitBatch {
  /// Makes a batch that stores what a tree has beside its data.
  package init(beside tree: StoredTree) {
    self.init(
      commits: [],
      ledger: tree.ledger,
      sessions: tree.sessions.map { SessionUpdate($0) },
      rules: tree.rules
    )
  }
}
