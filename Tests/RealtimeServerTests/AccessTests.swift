import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("Access to a server", .timeLimit(.minutes(1)), .cleansUp)
struct AccessTests {
  private static let put = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#
  private static let readers = #"{"rules":{".read":true}}"#

  private func connect(_ url: String) async throws -> ClientProbe {
    let client = try await ClientProbe(try DatabaseURL(url).target)
    #expect(try await client.next().contains(#""t":"h""#))
    return client
  }

  @Test("Without rules, the port denies everything and the socket allows everything")
  func locked() async throws {
    let directory = try TemporaryDirectory()
    let server = try await DatabaseServer.start(.init(socketPath: directory.file("s"), port: 0))
      .endingWithTest()
    #expect(server.rulesState == .locked)
    let local = try await connect(try #require(server.urls.first))
    local.send(Self.put)
    #expect(try await local.next().contains(#""s":"ok""#))
    let remote = try await connect(try #require(server.urls.last))
    remote.send(Self.put)
    #expect(try await remote.next().contains("permission_denied"))
    let port = try await HTTPProbe(server.address)
    #expect(try await port.request("GET", "/a.json").status == 401)
    let socket = try await HTTPProbe(.unix(path: directory.file("s")))
    #expect(try await socket.request("GET", "/a.json").body == "1")
  }

  @Test("Stored rules apply until a new document replaces them")
  func document() async throws {
    let store = MemoryTreeStore(StoredTree(rules: #"{"rules":{".write":true}}"#))
    let first = try await DatabaseServer.start(.init(port: 0, rules: .open), store: store)
      .endingWithTest()
    #expect(first.rulesState == .document)
    let http = try await HTTPProbe(first.address)
    #expect(try await http.request("PUT", "/a.json", "1").status == 200)
    #expect(try await http.request("GET", "/a.json").status == 401)
    await first.stop()
    let options = DatabaseServer.Options(port: 0, rules: .source(Self.readers))
    let second = try await DatabaseServer.start(options, store: store).endingWithTest()
    let again = try await HTTPProbe(second.address)
    #expect(try await again.request("GET", "/a.json").body == "1")
    #expect(try await again.request("PUT", "/a.json", "1").status == 401)
  }

  @Test("New rules apply at once; invalid rules leave the old ones in force")
  func setRules() async throws {
    let server = try await DatabaseServer.start(.init(port: 0)).endingWithTest()
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("GET", "/a.json").status == 401)
    try await server.setRules(Self.readers)
    #expect(try await http.request("GET", "/a.json").status == 200)
    let error = await #expect(throws: DatabaseServerError.self) {
      try await server.setRules("{\n \"rules\": {\".read\": \"tru\"}}")
    }
    #expect(error?.kind == .invalidRules)
    #expect(error?.description.hasPrefix("2:") == true)
    #expect(try await http.request("GET", "/a.json").status == 200)
    await server.stop()
    await #expect(throws: DatabaseServerError.self) { try await server.setRules(Self.readers) }
  }

  @Test("A server with invalid rules or origins refuses to start")
  func invalid() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .source("{"))
    let rules = await #expect(throws: DatabaseServerError.self) {
      try await DatabaseServer.start(options)
    }
    #expect(rules?.kind == .invalidRules)
    options.rules = .locked
    options.allowedOrigins = ["localhost"]
    let origin = await #expect(throws: DatabaseServerError.self) {
      try await DatabaseServer.start(options)
    }
    #expect(origin?.kind == .invalidOptions)
  }
}
