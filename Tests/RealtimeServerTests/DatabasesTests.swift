import NIOConcurrencyHelpers
import NIOCore
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A server with several databases", .timeLimit(.minutes(1)), .cleansUp)
struct DatabasesTests {
  /// Stores in memory, some of which cannot be opened; counts how often they are opened.
  private final class CountingStores: TreeStores {
    private let memory = MemoryTreeStores()
    private let damaged: Set<String>
    private let opened = NIOLockedValueBox<[(name: String, time: NIODeadline)]>([])

    init(_ names: [String], damaged: Set<String> = []) {
      self.damaged = damaged
      for name in names { _ = memory.create(name) }
    }

    /// The names that were opened, and when.
    var openings: [(name: String, time: NIODeadline)] { opened.withLockedValue { $0 } }

    func names() -> [String] { memory.names() }
    func create(_ name: String) -> Bool { memory.create(name) }

    func open(_ name: String) throws -> (any TreeStore)? {
      guard let store = memory.open(name) else { return nil }
      opened.withLockedValue { $0.append((name, .now())) }
      if damaged.contains(name) { throw StoreError(.damaged, description: "the file is damaged") }
      return store
    }
  }

  private func start(
    _ stores: any TreeStores,
    limits: DatabaseServer.Limits = DatabaseServer.Limits()
  ) async throws -> DatabaseServer {
    try await .start(.init(port: 0, rules: .open, limits: limits), stores: stores).endingWithTest()
  }

  @Test("opens a database on first request, and only once")
  func laziness() async throws {
    let stores = CountingStores(["one", "two"])
    let server = try await start(stores)
    #expect(stores.openings.map(\.name) == ["hearth"])
    let http = try await HTTPProbe(server.address)
    for _ in 0..<3 { _ = try await http.request("GET", "/x.json?ns=two") }
    #expect(stores.openings.map(\.name) == ["hearth", "two"])
  }

  @Test("finds a database created while it runs")
  func creation() async throws {
    let stores = CountingStores([])
    let server = try await start(stores)
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/x.json?ns=late", gives: 404)
    _ = stores.create("late")
    try await http.request("GET", "/x.json?ns=late", gives: 200)
  }

  @Test("gives new rules to the default one only")
  func rules() async throws {
    let server = try await start(CountingStores(["other"]))
    try await server.setRules(#"{"rules":{}}"#)
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/x.json", gives: 401)
    try await http.request("GET", "/x.json?ns=other", gives: 200)
  }

  @Test("serves the others when one is damaged, and does not retry it at once")
  func damage() async throws {
    let stores = CountingStores(["fine", "broken"], damaged: ["broken"])
    let server = try await start(stores)
    let http = try await HTTPProbe(server.address)
    for _ in 0..<3 {
      let answer = try await http.request("GET", "/x.json?ns=broken")
      #expect(answer.status == 503 && answer.body.contains("cannot be opened"))
    }
    #expect(try await server.connect(to: "broken").closed().kind == .refused(status: 503))
    try await http.request("PUT", "/x.json?ns=fine", "1", gives: 200)
    #expect(Set(stores.openings.map(\.name)) == ["hearth", "broken", "fine"])
    let tries = stores.openings.filter { $0.name == "broken" }.map(\.time)
    for (earlier, later) in zip(tries, tries.dropFirst()) {
      #expect(later - earlier >= .seconds(1))
    }
  }

  @Test("opens databases up to the limit and no more")
  func limit() async throws {
    var limits = DatabaseServer.Limits()
    limits.databases = 2
    let server = try await start(CountingStores(["one", "two"]), limits: limits)
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/x.json?ns=one", gives: 200)
    let answer = try await http.request("GET", "/x.json?ns=two")
    #expect(answer.status == 503 && answer.body.contains("too many databases"))
    try await http.request("GET", "/x.json?ns=one", gives: 200)
  }

  @Test("stores the last writes of every database when it stops")
  func stop() async throws {
    let stores = CountingStores(["one", "two"])
    let server = try await start(stores)
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("PUT", "/x.json?ns=one", "1")
    let client = try await server.connect(to: "two")
    _ = try await client.next()
    try await client.ask(1, "o", #"{"p":"/gone","d":true}"#)
    await server.stop()
    #expect(try #require(try stores.open("one")).load().root[Path(wire: "x")] == .integer(1))
    #expect(
      try #require(try stores.open("two")).load().root[Path(wire: "gone")] == .leaf(.bool(true))
    )
  }
}
