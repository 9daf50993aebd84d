import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("Access to a server", .timeLimit(.minutes(1)), .cleansUp)
struct AccessTests {
  private static let readers = #"{"rules":{".read":true}}"#

  @Test("Stored rules apply until a new document replaces them")
  func document() async throws {
    let store = MemoryTreeStore(StoredTree(rules: #"{"rules":{".write":true}}"#))
    let first = try await DatabaseServer.start(.init(port: 0, rules: .open), store: store)
      .endingWithTest()
    #expect(first.rulesState == .document)
    let http = try await HTTPProbe(first.address)
    try await http.request("PUT", "/a.json", "1", gives: 200)
    try await http.request("GET", "/a.json", gives: 401)
    await first.stop()
    let options = DatabaseServer.Options(port: 0, rules: .source(Self.readers))
    let second = try await DatabaseServer.start(options, store: store).endingWithTest()
    let again = try await HTTPProbe(second.address)
    try await again.request("GET", "/a.json", gives: "1")
    try await again.request("PUT", "/a.json", "1", gives: 401)
  }

  @Test("New rules apply at once; invalid rules leave the old ones in force")
  func setRules() async throws {
    let server = try await DatabaseServer.start(.init(port: 0)).endingWithTest()
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/a.json", gives: 401)
    try await server.setRules(Self.readers)
    try await http.request("GET", "/a.json", gives: 200)
    let error = await expectError(\DatabaseServerError.kind, .invalidRules) {
      try await server.setRules("{\n \"rules\": {\".read\": \"tru\"}}")
    }
    #expect(error?.description.hasPrefix("2:") == true)
    try await http.request("GET", "/a.json", gives: 200)
    await server.stop()
    await #expect(throws: DatabaseServerError.self) { try await server.setRules(Self.readers) }
  }

  @Test("A server with invalid rules or origins refuses to start")
  func invalid() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .source("{"))
    await expectError(\DatabaseServerError.kind, .invalidRules) {
      try await DatabaseServer.start(options)
    }
    options.rules = .locked
    options.allowedOrigins = ["localhost"]
    await expectError(\DatabaseServerError.kind, .invalidOptions) {
      try await DatabaseServer.start(options)
    }
  }
}
