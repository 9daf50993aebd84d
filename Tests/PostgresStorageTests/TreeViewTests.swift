import Foundation
import HearthLab
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import Testing

@testable import PostgresStorage

@Suite("The view hearth_tree", .needsPostgres, .timeLimit(.minutes(2)))
struct TreeViewTests {
  @Test("shows every kind of leaf at its path, whether packed into one row or split into many")
  func leaves() throws {
    let server = try PostgresServer.shared.get()
    let url = try server.makeDatabase()
    let stores = PostgresTreeStores(at: PostgresAddress(url))
    _ = try stores.create("test")
    let lease = try stores.acquire("test", by: ServerID("a"), for: .seconds(60))
    let store = try stores.open(lease)
    #expect(try store.load() == StoredTree())
    let json = """
      {
        "doubles": {"half": 0.5, "many": 3.141592653589793, "minus": -0.1, "tiny": 5e-324},
        "flags": {"no": false, "yes": true},
        "numbers": {"low": -9007199254740991, "one": 1, "two": {".value": 2, ".priority": "p"}},
        "texts": {"quoted": "a \\"b\\" \\\\ é", "zero": "a\\u0000b"}
      }
      """
    let long = String(repeating: "x", count: 2_000)
    let many = Node(
      sortedChildren: (100..<150).map { (ChildKey("k\($0)"), Node.string("\($0)\(long)")) }
    )
    try store.commit(
      CommitBatch(commits: [
        Commit(
          revision: 1,
          timestamp: 0,
          changes: [
            Change(Path(wire: "small"), to: try Node(json: JSONParser.parse(json))),
            Change(Path(wire: "many"), to: many),
          ]
        )
      ])
    )
    try store.close()
    let rows = try server.sql(
      """
      SELECT path || ' ' || left(value::text, 20) FROM hearth.hearth_tree
      WHERE database = 'test' ORDER BY path COLLATE "C"
      """,
      at: url
    ).split(separator: "\n").map(String.init)
    #expect(rows.prefix(50) == (100..<150).map { "/many/k\($0) \"\($0)\(long.prefix(16))" }[...])
    #expect(
      rows.dropFirst(50) == [
        "/small/doubles/half 0.5", "/small/doubles/many 3.141592653589793",
        "/small/doubles/minus -0.1", "/small/doubles/tiny 0.000000000000000000",
        "/small/flags/no false", "/small/flags/yes true",
        "/small/numbers/low -9007199254740991", "/small/numbers/one 1", "/small/numbers/two 2",
        "/small/numbers/two/.priority \"p\"", "/small/texts/quoted \"a \\\"b\\\" \\\\ é\"",
        "/small/texts/zero \"a\\\\000b\"",
      ]
    )
  }
}
