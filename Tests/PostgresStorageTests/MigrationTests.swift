import HearthLab
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import Testing

@testable import PostgresStorage

@Suite(
  "Older schema versions",
  .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(2))
)
struct MigrationTests {
  private let server: PostgresServer
  private let url: String

  init() throws {
    server = try PostgresServer.shared.get()
    url = try server.makeDatabase()
  }

  /// Makes the schema as the first version did, with three batches that are not folded.
  private func makeFirstVersion() throws {
    let connection = try PostgresConnection(to: PostgresAddress(url))
    defer { connection.close() }
    try connection.run("CREATE SCHEMA hearth", within: .seconds(5))
    let first = try #require(SchemaStatements.migrations.first)
    try connection.runScript(first + FirstVersion.functions, within: .seconds(60))
    try connection.run("UPDATE hearth.format SET version = 1", within: .seconds(5))
    for name in ["test", "empty"] {
      try connection.query(
        "SELECT hearth.make_database($1)",
        with: [.text(name)],
        within: .seconds(5)
      )
    }
    for revision in 1...3 as ClosedRange<Int64> {
      try #require(try commit(revision, through: connection).bool(0, column: 0))
    }
  }

  /// Commits as a server of the first version does.
  private func commit(
    _ revision: Int64,
    through connection: PostgresConnection
  ) throws -> PostgresRows {
    let numbers = (2...22).map { "$\($0)" }.joined(separator: ", ")
    return try connection.query(
      "SELECT hearth.commit($1::integer, \(numbers))",
      with: [
        .integer(1), .integer(0), .integer(0), .integer(revision - 1), .integer(revision - 1),
        .integer(revision),
      ] + BatchParameters(batch(revision, rules: "rules")).values,
      within: .seconds(5)
    )
  }

  @Test("The first version is migrated with all its data")
  func first() throws {
    try makeFirstVersion()
    let stores = PostgresTreeStores(at: PostgresAddress(url))
    #expect(try stores.names() == ["empty", "test"])
    let tree = try stores.database("test").load()
    #expect(tree.revision == 3 && tree.root.childCount == 3 && tree.rules == "rules")
    #expect(tree.ledger.map(\.upTo) == [3])
    #expect(try stores.database("test").check().faults == [])
    #expect(try stores.database("empty").load() == StoredTree())
    let view = try stores.view()
    #expect(view.leases == [] && view.positions["test"]?.revision == 3)
    #expect(view.positions["test"]?.batch == 4, "a barrier follows what was there")
    let store = try stores.open(stores.acquire("test", by: ServerID("a"), for: .seconds(60)))
    try store.commit(batch(4, rules: "rules"))
    try store.close()
    #expect(try stores.database("test").load().root.childCount == 4)
    #expect(try stores.database("test").check().faults == [])
  }

  @Test("A server of the first version cannot commit once the schema is newer")
  func oldServer() throws {
    try makeFirstVersion()
    let old = try PostgresConnection(to: PostgresAddress(url))
    defer { old.close() }
    _ = try PostgresTreeStores(at: PostgresAddress(url)).names()
    #expect(throws: PostgresFailure.self) { try commit(4, through: old) }
    #expect(try PostgresTreeStores(at: PostgresAddress(url)).database("test").load().revision == 3)
  }

  @Test("Read-only access neither creates nor migrates a schema")
  func looking() throws {
    var options = PostgresStoreOptions()
    options.changesSchema = false
    func names() throws -> [String] {
      try PostgresTreeStores(at: PostgresAddress(url), options: options).names()
    }
    let missing = #expect(throws: StoreError.self) { try names() }
    #expect(missing?.description.contains("no schema hearth") == true)
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'hearth'"
    #expect(try server.sql(schemas, at: url) == "0")
    try makeFirstVersion()
    let older = #expect(throws: StoreError.self) { try names() }
    #expect(older?.description.contains("format 1, and this program needs 2") == true)
    #expect(try server.sql("SELECT version FROM hearth.format", at: url) == "1")
    _ = try PostgresTreeStores(at: PostgresAddress(url)).names()
    #expect(try names() == ["empty", "test"])
  }

  @Test("A newer schema is refused, and the error names both versions")
  func newer() throws {
    let stores = PostgresTreeStores(at: PostgresAddress(url))
    _ = try stores.create("test")
    let here = SchemaStatements.migrations.count
    _ = try server.sql("UPDATE hearth.format SET version = \(here + 5)", at: url)
    let error = #expect(throws: StoreError.self) {
      try PostgresTreeStores(at: PostgresAddress(url)).names()
    }
    #expect(error?.description.contains("format \(here + 5), here \(here)") == true)
  }
}
