import HearthLab
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import Testing

@testable import PostgresStorage

@Suite("Streaming a tree as rows", .needsPostgres, .timeLimit(.minutes(2)))
struct StreamingTests {
  /// Rows long enough for the socket buffers to hold only a small part of them.
  private static let rows = 8_000
  private static let row = String(repeating: "x", count: 5_000)

  private let server: PostgresServer
  private let url: String

  init() throws {
    server = try PostgresServer.shared.get()
    url = try server.makeDatabase()
  }

  /// Fills a database and leaves the last changes, which contain `row00000` and `late`, in the log.
  private func fill(
    _ options: PostgresStoreOptions = PostgresStoreOptions()
  ) throws -> (stores: PostgresTreeStores, store: any TreeStore) {
    let stores = PostgresTreeStores(at: PostgresAddress(url), options: options)
    _ = try stores.create("test")
    let filling = try #require(try stores.open("test"))
    let width = 200
    var revision: Int64 = 0
    for first in stride(from: 0, to: Self.rows, by: width) {
      revision += 1
      let changes = (first..<first + width).map { number in
        let digits = "0000\(number)".suffix(5)
        return Change(Path(wire: "all/row\(digits)"), to: .string(Self.row))
      }
      try filling.commit(
        CommitBatch(commits: [Commit(revision: revision, timestamp: 0, changes: changes)])
      )
    }
    try filling.close()
    let store = try #require(try stores.open("test"))
    let changes = [
      Change(Path(wire: "all/row00000"), to: .empty),
      Change(Path(wire: "late"), to: .string("late")),
    ]
    try store.commit(
      CommitBatch(commits: [Commit(revision: revision + 1, timestamp: 0, changes: changes)])
    )
    let unfolded =
      "SELECT count(*) FROM hearth.log l JOIN hearth.folds f USING (database) WHERE l.revision > f.revision"
    #expect(try server.sql(unfolded, at: url) == "1")
    return (stores, store)
  }

  /// The number of rows that PostgreSQL has sent so far in the current statement.
  private static func handedOver(by server: PostgresServer, at url: String) throws -> Int {
    let text = try server.sql(
      "SELECT tuples_processed FROM pg_stat_progress_copy WHERE datname = current_database()",
      at: url
    )
    return Int(text) ?? rows
  }

  /// The maximum number of rows that may be in transit: half of all.
  private static let limit = rows / 2

  @Test("An export writes rows before PostgreSQL has sent the rest")
  func export() throws {
    let (stores, store) = try fill()
    var lines = 0
    var pieces = 0
    var held: [Int] = []
    var last = ""
    try stores.database("test").export(.lines) { text in
      lines += text.utf8.count { $0 == UInt8(ascii: "\n") }
      last = text
      pieces += 1
      guard pieces.isMultiple(of: 50) else { return }
      held.append(try Self.handedOver(by: server, at: url) - lines)
    }
    #expect(lines == Self.rows - 1 + 5)
    #expect(last.hasSuffix("\n  },\n  \"late\": \"late\"\n}\n"))
    #expect(held.count > 5)
    #expect(held.allSatisfy { $0 < Self.limit }, "\(held)")
    try store.close()
  }

  @Test("A backup receives rows before PostgreSQL has sent the rest")
  func backup() throws {
    var options = PostgresStoreOptions()
    options.copy = { [server, url] rows, _ in
      var check = StoreCheck()
      var chunks = 0
      try rows.forEachChunk { chunk in
        check.rowCount += chunk.count
        chunks += 1
        guard chunks.isMultiple(of: 50) else { return }
        let held = try Self.handedOver(by: server, at: url) - check.rowCount
        if held >= Self.limit { check.add("\(held) rows are held") }
      }
      check.revision = rows.beside.revision
      #expect(chunks > 300)
      return check
    }
    let (stores, store) = try fill(options)
    let check = try stores.database("test").backUp(to: "")
    #expect(check.faults == [])
    #expect(check.rowCount == Self.rows)
    #expect(check.revision == Int64(Self.rows / 200 + 1))
    try store.close()
  }

  @Test("An error thrown while an export is written is rethrown unchanged")
  func refusal() throws {
    struct Refusal: Error {}
    let (stores, store) = try fill()
    #expect(throws: Refusal.self) {
      try stores.database("test").export(.lines) { _ in throw Refusal() }
    }
    #expect(try server.sql("SELECT count(*) FROM pg_stat_progress_copy", at: url) == "0")
    try store.close()
  }
}
