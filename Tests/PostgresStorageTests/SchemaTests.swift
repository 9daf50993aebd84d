import HearthLab
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@testable import PostgresStorage

@Suite("Schema versions", .needsPostgres, .timeLimit(.minutes(2)))
struct SchemaTests {
  private let server: PostgresServer
  private let url: String

  init() throws {
    server = try PostgresServer.shared.get()
    url = try server.makeDatabase()
  }

  @Test("Read-only access creates no schema")
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
    _ = try PostgresTreeStores(at: PostgresAddress(url)).create("test")
    #expect(try names() == ["test"])
  }

  @Test("A schema that lacks a table is damaged, and the error says what to do")
  func incomplete() throws {
    let stores = PostgresTreeStores(at: PostgresAddress(url))
    _ = try stores.create("test")
    _ = try server.sql("DROP TABLE hearth.ledger", at: url)
    expectError(\StoreError.kind, .damaged, saying: "hearth.ledger", "restore a backup") {
      try stores.open("test")
    }
  }

  @Test("A schema of another version is refused, and the error names both", arguments: [-1, 5])
  func otherVersion(difference: Int) throws {
    let stores = PostgresTreeStores(at: PostgresAddress(url))
    _ = try stores.create("test")
    let here = SchemaStatements.version
    _ = try server.sql("UPDATE hearth.format SET version = \(here + difference)", at: url)
    let error = #expect(throws: StoreError.self) {
      try PostgresTreeStores(at: PostgresAddress(url)).names()
    }
    #expect(error?.description.contains("format \(here + difference), here \(here)") == true)
  }
}
