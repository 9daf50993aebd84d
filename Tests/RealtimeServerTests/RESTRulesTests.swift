import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("REST under rules", .timeLimit(.minutes(1)), .cleansUp)
struct RESTRulesTests {
  private static let rules = """
    {"rules":{"users":{"$uid":{".read":"auth.uid === $uid",".write":"auth.uid === $uid"}}}}
    """
  private static let root = "Authorization: Bearer root"
  private static let settings = "/.settings/rules.json"
  private static let time: Int64 = 1_700_000_000_000

  private func start(
    rules: String? = RESTRulesTests.rules,
    socketPath: String? = nil,
    clock: @escaping @Sendable () -> Int64 = { RESTRulesTests.time }
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(socketPath: socketPath, port: 0)
    options.credentialVerifier = NamedVerifier()
    let data = #"{"public":1,"users":{"ann":{"age":3},"bob":{"age":4}}}"#
    let root = try Node(json: try JSONParser.parse(data))
    return try await .start(
      options,
      store: MemoryTreeStore(StoredTree(root: root, rules: rules)),
      clock: clock
    ).endingWithTest()
  }

  @Test("treats processes on its private socket as administrators")
  func unixSocket() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    let server = try await start(rules: nil, socketPath: path)
    let http = try await HTTPProbe(.unix(path: path))
    try await http.request("GET", "/public.json", gives: "1")
    let override = "auth_variable_override=%7B%22uid%22:%22ann%22%7D"
    try await http.request("GET", "/public.json?\(override)", gives: 401)
    try await http.request("PUT", Self.settings, Self.rules, gives: 200)
    try await http.request("GET", "/users/ann/age.json?\(override)", gives: "3")
    try await http.request("GET", "/users/bob/age.json?\(override)", gives: 401)
    let network = try await HTTPProbe(server.address)
    try await network.request("GET", Self.settings, gives: 401)
  }

  @Test("acknowledges new rules only once they are stored")
  func durability() async throws {
    let store = GateStore()
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.credentialVerifier = NamedVerifier()
    let server = try await DatabaseServer.startForTest(options, store: store)
    let writer = try await HTTPProbe(server.address)
    let rules = #"{"rules":{}}"#
    writer.send(HTTPProbe.text("PUT", Self.settings, rules, lines: [Self.root]))
    try await store.waitForCommit()
    let reader = try await HTTPProbe(server.address)
    let shown = try await reader.request("GET", Self.settings, lines: [Self.root])
    #expect(shown.body != rules)
    store.open()
    try await writer.answer(gives: #"{"status":"ok"}"#)
    try await reader.request("GET", Self.settings, lines: [Self.root], gives: rules)
  }
}
