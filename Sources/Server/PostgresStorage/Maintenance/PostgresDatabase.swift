import Foundation
package import RealtimeCore
package import RealtimeServer

/// A database in PostgreSQL, for tools.
package struct PostgresDatabase: StoredDatabase {
  let name: String
  let stores: PostgresTreeStores

  private var options: PostgresStoreOptions { stores.options }
  private var origin: String { stores.pools.origin(of: name) }

  package var exists: Bool { get throws(StoreError) { try stores.number(of: name) != nil } }

  // MARK: Reading

  private func read<Result>(_ body: (SnapshotReader) throws -> Result) throws(StoreError) -> Result
  {
    try StoreError.translating(at: origin) { try readAny(body) }
  }

  private func readAny<Result>(_ body: (SnapshotReader) throws -> Result) throws -> Result {
    guard let number = try stores.number(of: name) else {
      throw StoreError(.missing, description: "\(origin): there is no such database")
    }
    let connection = try PostgresConnection(to: stores.address)
    defer { connection.close() }
    return try SnapshotReader.read(connection, database: number, origin: origin, body: body)
  }

  package func load() throws(StoreError) -> StoredTree { try read { try $0.load() } }

  package func load(since known: StoredTree) throws(StoreError) -> StoredTree {
    try read { try $0.load(since: known) }
  }

  package func commits(after revision: Int64) throws(StoreError) -> [Commit]? {
    try read { reader in
      try reader.position().revision > revision ? reader.commits(after: revision) : []
    }
  }

  package func export(
    _ layout: ExportLayout,
    to sink: @escaping (String) throws -> Void
  ) throws {
    try StoreError.translatingStorage(at: origin) {
      try readAny { reader in
        var walk = RowWalk(TreeWriter(layout, sink: sink))
        try reader.rows().forEachChunk { chunk in
          try chunk.forEachNode { try walk.add($1, at: $0) }
        }
        try walk.finish().finish()
      }
    }
  }

  package func check() throws(StoreError) -> StoreCheck {
    try read { try $0.check() }
  }

  /// Copies everything that is committed at one moment, with the copy function of the options.
  package func backUp(to path: String) throws(StoreError) -> StoreCheck {
    guard let copy = options.copy else {
      throw StoreError(.failed, description: "\(origin): this program cannot write a copy")
    }
    return try read { try copy(try $0.rows(), path) }
  }

  // MARK: Changing

  package func importTree(
    _ json: inout JSONTokenizer,
    mode: ImportMode,
    patience: Duration
  ) throws -> ImportResult {
    var replaced = 0
    let revision = try changeDirectly(patience: patience) { editor, head in
      var importer = TreeImporter(RowTree(editor), mode: mode)
      try importer.addAll(&json)
      replaced = importer.replacedCount
      return head + 1
    }
    return ImportResult(revision: revision, replacedCount: replaced)
  }

  package func restore(_ tree: StoredTree) throws {
    guard try !exists || load() == StoredTree() else {
      throw StoreError(.failed, description: "\(origin): it already exists and is not empty")
    }
    _ = try changeDirectly(patience: .zero, beside: CommitBatch(beside: tree)) { editor, _ in
      try RowTree(editor).apply(Change(.root, to: tree.root))
      return tree.revision
    }
  }

  /// Changes the nodes directly, in one transaction, after folding everything in the log.
  ///
  /// The batch is stored beside the tree in the same transaction. The body receives the number of
  /// the last commit and returns that of its own. `patience` is how long to wait for a
  /// server that is releasing the database.
  ///
  /// - Throws: `StoreError` when a server leads the database, or any error of the body; then
  ///   nothing is changed.
  private func changeDirectly(
    patience: Duration,
    beside batch: CommitBatch = CommitBatch(commits: []),
    _ body: (PostgresRowEditor, Int64) throws -> Int64
  ) throws -> Int64 {
    _ = try stores.create(name)
    let parameters = try BatchParameters(batch)
    let keeper = try stores.acquireOwn(name, patience: patience)
    defer { keeper.release() }
    try PostgresFolder(pools: stores.pools, database: keeper.number, options: options).fold()
    return try StoreError.translatingStorage(at: origin) {
      let connection = try PostgresConnection(to: stores.address)
      defer { connection.close() }
      return try connection.transact {
        let head = try connection.query(
          """
          SELECT last_batch, last_id, last_revision FROM hearth.add_barrier($1::integer, $2::uuid)
          """,
          with: [.integer(keeper.number), .text(keeper.lease.id)]
        )
        guard head.count == 1, let last = head.uuid(0, column: 1) else {
          throw StoreError(.superseded, description: "\(origin): a server took it in the meantime")
        }
        // Reading the text may take longer than PostgreSQL's default idle timeout.
        try connection.query(
          "SELECT set_config('idle_in_transaction_session_timeout', '0', true)"
        )
        let editor = PostgresRowEditor(connection, database: keeper.number)
        let revision = try body(editor, head.integer(0, column: 2))
        try editor.flush()
        try connection.query(
          """
          UPDATE hearth.folds SET revision = $2, target = $2, applied = 0, rows = rows + $3
          WHERE database = $1
          """,
          with: [.integer(keeper.number), .integer(revision), .integer(editor.addedRows)]
        )
        let stored = try connection.query(
          CommitLink.statement,
          with: [
            .integer(keeper.number), .text(keeper.lease.id), .integer(head.integer(0, column: 0)),
            .uuid(last), .uuid(UUID()), .integer(revision),
          ] + parameters.values
        )
        guard stored.bool(0, column: 0) else {
          throw StoreError(.superseded, description: "\(origin): a server took it in the meantime")
        }
        return revision
      }
    }
  }

  /// Does nothing: PostgreSQL keeps all data itself, so nothing beside it can be missing.
  ///
  /// - Throws: `StoreError`: locked when a server leads the database.
  package func acceptLoss() throws(StoreError) -> AcceptedLoss? {
    guard try exists else { return nil }
    try stores.acquireOwn(name, patience: .zero).release()
    return nil
  }
}
