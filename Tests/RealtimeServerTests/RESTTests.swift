import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("REST", .timeLimit(.minutes(1)))
struct RESTTests {
  private func store() throws -> MemoryTreeStore {
    let root = try Node(json: try JSONParser.parse(RESTCase.data))
    return MemoryTreeStore(StoredTree(root: root))
  }

  private func check(_ test: RESTCase, on http: HTTPProbe) async throws {
    let answer = try await http.request(test.method, test.target, test.sent, lines: test.lines)
    #expect(answer.status == test.status)
    #expect(answer.body == test.body)
    #expect(answer.lines["access-control-allow-origin"] == nil)
    if let (name, value) = test.expected { #expect(answer.lines[name] == value) }
  }

  @Test("reads in every format", arguments: RESTCase.reads)
  func read(test: RESTCase) async throws {
    let server = try await DatabaseServer.startForTest(store: try store())
    try await check(test, on: try await HTTPProbe(server.address))
    await server.stop()
  }

  @Test("selects children", arguments: RESTCase.queries)
  func query(test: RESTCase) async throws {
    let server = try await DatabaseServer.startForTest(store: try store())
    try await check(test, on: try await HTTPProbe(server.address))
    await server.stop()
  }

  @Test(
    "refuses invalid requests with the reason and changes nothing",
    arguments: RESTCase.refusals
  )
  func refuse(test: RESTCase) async throws {
    let store = try store()
    let before = store.load().root
    let server = try await DatabaseServer.startForTest(store: store)
    try await check(test, on: try await HTTPProbe(server.address))
    await server.stop()
    #expect(store.load().root == before)
  }

  @Test("applies every kind of write", arguments: RESTCase.writes)
  func write(test: RESTCase, target: String, expected: String) async throws {
    let server = try await DatabaseServer.startForTest(store: try store())
    let http = try await HTTPProbe(server.address)
    try await check(test, on: http)
    #expect(try await http.request("GET", target).body == expected)
    await server.stop()
  }

  @Test("generates ascending names for posted data")
  func post() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    var names: [String] = []
    for number in 0..<20 {
      let answer = try await http.request("POST", "/posts.json", "\(number)")
      #expect(answer.status == 200)
      let name = try JSONParser.parse(answer.body)["name"]?.string
      names.append(try #require(name))
    }
    #expect(names == names.sorted())
    #expect(names.allSatisfy { PushID.time(of: $0) == 1_700_000_000_000 })
    let all = try JSONParser.parse(try await http.request("GET", "/posts.json").body)
    #expect(all.members?.map(\.value) == (0..<20).map { .integer($0) })
    await server.stop()
  }

  @Test("shows tools the settings and the database names, and refuses to change settings")
  func tools() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    let server = try await DatabaseServer.startForTest(.init(socketPath: path))
    let http = try await HTTPProbe(.unix(path: path))
    let limit = "/.settings/defaultWriteSizeLimit.json"
    #expect(try await http.request("GET", limit).body == #""unlimited""#)
    #expect(try await http.request("PUT", limit, #""unlimited""#).status == 200)
    #expect(try await http.request("PUT", limit, #""large""#).status == 400)
    #expect(try await http.request("GET", "/.settings/none.json").status == 404)
    let list = try await http.request("GET", "/.inspect/databases.json?ns=hearth")
    #expect(list.body == #"[{"name":"hearth"}]"#)
    await server.stop()
  }

  @Test("works on a Unix socket with any host name")
  func unixSocket() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    let server = try await DatabaseServer.startForTest(.init(socketPath: path))
    let http = try await HTTPProbe(.unix(path: path))
    http.send("PUT /a.json HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n7")
    #expect(try await http.answer().body == "7")
    #expect(try await http.request("GET", "/a.json").body == "7")
    await server.stop()
  }

  @Test("exchanges writes with WebSocket clients")
  func webSockets() async throws {
    let server = try await DatabaseServer.startForTest()
    let client = try await server.connectAndGreet()
    client.send(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#)
    #expect(try await client.next().contains(#""s":"ok""#))
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("PUT", "/a/b.json", "1")
    #expect(try await client.next() == #"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":1}}}"#)
    client.send(#"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/b","d":2}}}"#)
    for _ in 0..<2 { _ = try await client.next() }
    #expect(try await http.request("GET", "/a.json").body == #"{"b":2}"#)
    await server.stop()
  }

  @Test("answers a write only once it is stored")
  func durability() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let writer = try await HTTPProbe(server.address)
    writer.send(HTTPProbe.text("PUT", "/a.json", "1"))
    try await store.waitForCommit()
    let reader = try await HTTPProbe(server.address)
    reader.send(HTTPProbe.text("GET", "/a.json?timeout=20ms"))
    #expect(try await reader.answer().status == 400)
    #expect(store.load().root.isEmpty)
    store.open()
    #expect(try await writer.answer().body == "1")
    #expect(store.load().root[Path(wire: "a")] == .integer(1))
    #expect(try await reader.request("GET", "/a.json").body == "1")
    await server.stop()
  }

  @Test("fails a read that exceeds its time limit, wherever the time is spent")
  func slowRead() async throws {
    let store = GateStore(isOpen: true)
    let server = try await DatabaseServer.startForTest(store: store)
    let http = try await HTTPProbe(server.address)
    let members = (0..<20_000).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
    #expect(try await http.request("PUT", "/a.json?print=silent", "{\(members)}").status == 204)
    let late = try await http.request("GET", "/a.json?timeout=1ms")
    #expect(late.status == 400)
    #expect(late.body.contains("longer than timeout allows"))
    #expect(try await http.request("GET", "/a.json?timeout=15min").status == 200)
    await server.stop()
  }

  @Test("answers 507 when the store is full")
  func storeFailure() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let http = try await HTTPProbe(server.address)
    store.release(StoreError(.full, description: "the disk is full"))
    let answer = try await http.request("PUT", "/a.json", "1")
    #expect(answer.status == 507 && answer.body.contains("full"))
    store.open()
    #expect(try await http.request("PUT", "/a.json", "2").body == "2")
    await server.stop()
  }

  @Test("answers requests in progress when the server stops, then closes the connection")
  func stop() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let http = try await HTTPProbe(server.address)
    let idle = try await HTTPProbe(server.address)
    _ = try await idle.request("GET", "/a.json")
    http.send(HTTPProbe.text("PUT", "/a.json", "1"))
    try await store.waitForCommit()
    async let stopped: Void = server.stop()
    #expect(try await idle.rest().isEmpty)
    store.open()
    let answer = try await http.answer()
    #expect(answer.body == "1" && answer.lines["connection"] == "close")
    await stopped
    #expect(store.isClosed)
  }

  @Test("does not keep an idle server from exiting")
  func idleExit() async throws {
    let server = try await DatabaseServer.startForTest(
      .init(port: 0, rules: .open, idleExit: .seconds(5))
    )
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("PUT", "/a.json", "1").body == "1")
    try await server.waitUntilStopped()
    #expect(try await http.rest().isEmpty)
  }
}
