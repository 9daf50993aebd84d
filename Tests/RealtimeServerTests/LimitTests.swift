import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

/// What is within a limit works; what exceeds it does not.
@Suite("A limit", .timeLimit(.minutes(1)), .cleansUp)
struct LimitTests {
  private func put(_ value: String) -> String { #"{"p":"/a","d":\#(value)}"# }

  /// The connections of two users.
  private func users(of server: DatabaseServer) async throws -> (ann: ClientProbe, bob: ClientProbe)
  {
    let (ann, bob) = (try await server.connectAndGreet(), try await server.connectAndGreet())
    try await ann.ask(1, "auth", #"{"cred":"ann"}"#)
    try await bob.ask(1, "auth", #"{"cred":"bob"}"#)
    return (ann, bob)
  }

  @Test("has the documented default")
  func defaults() {
    let expected = [
      "connections": 1_024, "connections-per-user": 64, "listens": 10_000, "listens-warning": 200,
      "requests": 1_000, "frame-bytes": 65_536, "message-frames": 1_024,
      "message-bytes": 16_777_216, "message-seconds": 30, "output-coalesce-bytes": 8_388_608,
      "output-bytes": 67_108_864, "output-seconds": 10, "disconnect-writes": 10_000,
      "disconnect-bytes": 1_048_576, "sign-in-seconds": 10, "header-bytes": 8_192,
      "header-lines": 64, "body-bytes": 16_777_216, "response-bytes": 268_435_456,
      "unindexed-children": 10_000,
      "writes-per-second": 200, "write-burst": 1_000, "stream-seconds": 30,
      "data-depth": 32, "json-depth": 64, "write-bytes-per-minute": 67_108_864,
      "stranger-bytes": 65_536, "memory-mebibytes": 128, "resident-mebibytes": 0,
    ]
    let table = DatabaseServer.Limits.table
    for (name, value) in expected {
      #expect(table.first { $0.name == name }?.defaultValue == value, "\(name)")
    }
    #expect(Set(table.map(\.name)).count == table.count)
  }

  @Test("is set by name, within its range")
  func setting() throws {
    var limits = DatabaseServer.Limits()
    for entry in DatabaseServer.Limits.table {
      try limits.set(entry.name, to: entry.minimum)
      #expect(throws: DatabaseServerError.self) {
        try limits.set(entry.name, to: entry.minimum - 1)
      }
      try limits.set(entry.name, to: entry.maximum)
      #expect(throws: DatabaseServerError.self) {
        try limits.set(entry.name, to: entry.maximum + 1)
      }
      // Several times as long must still be a time in nanoseconds.
      let isTime = entry.name.hasSuffix("-seconds")
      let (_, overflow) = entry.maximum.multipliedReportingOverflow(by: isTime ? 4_000_000_000 : 1)
      #expect(!overflow, "\(entry.name)")
    }
    #expect(limits != DatabaseServer.Limits())
    let error = #expect(throws: DatabaseServerError.self) { try limits.set("nonsense", to: 1) }
    #expect(error?.description.contains("connections") == true)
  }

  @Test("bounds the number of connections")
  func connections() async throws {
    let server = try await DatabaseServer.start(limiting: ["connections": 2])
    // An idle client would have to give way.
    func connect() async throws -> ClientProbe {
      let client = try await server.connectAndGreet()
      try await client.ask(1, "q", #"{"p":"/a","h":""}"#)
      return client
    }
    let first = try await connect()
    let second = try await HTTPProbe(server.address)
    let accept = ["Accept: text/event-stream"]
    try await second.request("GET", "/a.json", lines: accept, gives: 200)
    #expect(try await server.connect().closed().kind == .refused(status: 503))
    let http = try await HTTPProbe(server.address)
    for lines in [accept, []] {
      try await http.request("GET", "/a.json", lines: lines, gives: 503)
    }
    await second.close()
    try await eventually { try await http.request("GET", "/a.json").status == 200 }
    first.close()
  }

  @Test("closes the oldest silent connections somewhat beyond it")
  func silentConnections() async throws {
    let server = try await DatabaseServer.start(limiting: ["connections": 1])
    var silent: [HTTPProbe] = []
    for _ in 0..<65 { silent.append(try await HTTPProbe(server.address)) }
    // Connections are accepted in order: the last one is over the limit.
    let beyond = try await HTTPProbe(server.address)
    #expect(try await silent[0].rest().isEmpty)
    try await beyond.request("GET", "/a.json", gives: 200)
    #expect(try await silent[64].request("GET", "/a.json").status == 200)
  }

  @Test(
    "bounds the requests that wait for the disk before reading pauses",
    arguments: [(3, true), (100, false)]
  )
  func requests(limit: Int, isReached: Bool) async throws {
    let directory = try TemporaryDirectory()
    let store = GateStore()
    var options = DatabaseServer.Options(socketPath: directory.file("s"), port: 0, rules: .open)
    options.limits.requests = limit
    let server = try await DatabaseServer.startForTest(options, store: store)
    let http = try await HTTPProbe(.unix(path: directory.file("s")))
    func taken() async throws -> Int {
      let body = try await http.request("GET", "/.info/metrics.json").body
      let requests = try JSONParser.parse(body)["databases"]?["hearth"]?["requests"]
      return Int(requests?["write"]?.integer ?? 0)
    }
    let client = try await RawWebSocket(server.address)
    try await client.expect(#""t":"h""#)
    func send(_ number: Int, _ value: String) {
      client.send(#"{"t":"d","d":{"r":\#(number),"a":"p","b":\#(put(value))}}"#)
    }
    send(1, "1")
    try await store.waitForCommit()
    // Far more than the server may have read by the time it stops reading.
    let filler = String(repeating: "x", count: 40_000)
    for number in 2...50 { send(number, "\"\(filler)\"") }
    repeat {} while try await taken() < min(limit, 50)
    for _ in 0..<20 { #expect(try await (taken() < 50) == isReached) }
    store.open()
    for number in 1...50 {
      try await client.expect(#""r":\#(number),"b":{"s":"ok""#)
    }
  }

  @Test("bounds the time for a request and between two requests")
  func requestTimes() async throws {
    let server = try await DatabaseServer.start(limiting: [
      "request-seconds": 1, "keep-alive-seconds": 1,
    ])
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/a.json", gives: 200)
    #expect(try await http.rest().isEmpty)
    let slow = try await HTTPProbe(server.address)
    slow.send("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12")
    try await slow.answer(gives: 408)
  }

  @Test("bounds the time for a handshake")
  func handshake() async throws {
    let server = try await DatabaseServer.start(limiting: ["handshake-seconds": 1])
    let silent = try await HTTPProbe(server.address)
    #expect(try await silent.rest().isEmpty)
    let other = try await server.connectAndGreet()
    try await other.ask(1, "p", put("1"))
  }

  @Test("slows down a user who writes too often, and nobody else")
  func writeRate() async throws {
    let server = try await DatabaseServer.start(limiting: [
      "writes-per-second": 1, "write-burst": 3,
    ])
    let (ann, bob) = try await users(of: server)
    // Three are free; each of the others costs a second.
    let start = ContinuousClock.now
    async let slow = { () async throws -> ContinuousClock.Instant in
      for number in 2...9 { try await ann.ask(number, "p", put("\(number)")) }
      return ContinuousClock.now
    }()
    for number in 2...4 { try await bob.ask(number, "p", put("\(number)")) }
    let free = ContinuousClock.now
    #expect(try await slow - start > .milliseconds(3_900))
    #expect(try await free < slow)
  }

  @Test("makes each excess REST write of a user wait longer than the one before")
  func restWriteDebt() async throws {
    let server = try await DatabaseServer.start(limiting: [
      "writes-per-second": 1, "write-burst": 1,
    ])
    var probes: [HTTPProbe] = []
    for number in 1...40 {
      let probe = try await HTTPProbe(server.address)
      // The first response shows that the write behind it has arrived.
      let write = HTTPProbe.text("PUT", "/ann/\(number).json?auth=ann", "1")
      probe.send(HTTPProbe.text("OPTIONS", "/ann.json") + write)
      try await probe.answer(gives: 200)
      probes.append(probe)
    }
    let http = try await HTTPProbe(server.address)
    try await http.request("PUT", "/bob.json?auth=bob", "1", gives: 200)
    for probe in probes.prefix(4) { try await probe.answer(gives: 200) }
    try await http.request("GET", "/ann/4.json", gives: "1")
    // The last one waits for 39 seconds.
    try await http.request("GET", "/ann/40.json", gives: "null")
    // A stopping server does not wait for it.
    await server.stop()
    let last = try await probes[39].answer()
    #expect(last.status == 503)
    #expect(last.body.contains("the server is stopping; nothing was written"))
  }

  @Test("slows down a user who writes too much over WebSockets and REST, and nobody else")
  func writeBytes() async throws {
    let server = try await DatabaseServer.start(limiting: ["write-bytes-per-minute": 60_000])
    let (ann, bob) = try await users(of: server)
    // Half is allowed at once, then another half; after that, each thousand bytes cost a second.
    let half = "\"\(String(repeating: "x", count: 30_000))\""
    let start = ContinuousClock.now
    for client in [ann, bob] { try await client.ask(2, "p", put(half)) }
    let http = try await HTTPProbe(server.address)
    let more = "\"\(String(repeating: "x", count: 31_000))\""
    try await http.request("PUT", "/a.json?print=silent&auth=ann", more, gives: 204)
    try await ann.ask(3, "p", put("1"))
    #expect(ContinuousClock.now - start > .milliseconds(900))
    try await bob.ask(3, "p", put("1"))
  }
}
