import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

/// What is within a limit works; what exceeds it does not.
@Suite("A limit", .timeLimit(.minutes(1)))
struct LimitTests {
  private func start(
    _ settings: [String: Int],
    rules: DatabaseServer.Rules = .open,
    root: Node = .empty
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(port: 0, rules: rules)
    for (name, value) in settings { try options.limits.set(name, to: value) }
    options.credentialVerifier = NamedVerifier()
    return try await .start(options, store: MemoryTreeStore(StoredTree(root: root)))
  }

  private func request(_ id: Int, _ action: String, _ body: String) -> String {
    #"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":\#(body)}}"#
  }

  private func listen(_ id: Int, _ path: String) -> String {
    request(id, "q", #"{"p":"\#(path)","h":""}"#)
  }

  private func put(_ id: Int, _ value: String) -> String {
    request(id, "p", #"{"p":"/a","d":\#(value)}"#)
  }

  @Test("has the documented default")
  func defaults() {
    let expected = [
      "connections": 1_024, "connections-per-user": 64, "listens": 10_000, "listens-warning": 200,
      "requests": 1_000, "frame-bytes": 65_536, "message-frames": 1_024,
      "message-bytes": 16_777_216, "message-seconds": 30, "output-coalesce-bytes": 8_388_608,
      "output-bytes": 67_108_864, "output-seconds": 10, "disconnect-writes": 10_000,
      "disconnect-bytes": 1_048_576, "sign-in-seconds": 10, "header-bytes": 8_192,
      "header-lines": 64, "response-bytes": 268_435_456, "unindexed-children": 10_000,
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
    }
    #expect(limits != DatabaseServer.Limits())
    let error = #expect(throws: DatabaseServerError.self) { try limits.set("nonsense", to: 1) }
    #expect(error?.description.contains("connections") == true)
  }

  @Test("bounds the number of connections")
  func connections() async throws {
    let server = try await start(["connections": 2])
    // An idle client would have to give way.
    func connect() async throws -> ClientProbe {
      let client = try await server.connectAndGreet()
      client.send(listen(1, "/a"))
      #expect(try await client.next().contains(#""s":"ok""#))
      return client
    }
    let first = try await connect()
    let second = try await connect()
    #expect(try await server.connect().closed().kind == .refused(status: 503))
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("GET", "/a.json").status == 503)
    second.close()
    _ = try await second.closed()
    #expect(try await http.request("GET", "/a.json").status == 200)
    first.close()
    await server.stop()
  }

  @Test("closes the oldest silent connections somewhat beyond it")
  func silentConnections() async throws {
    let server = try await start(["connections": 1])
    var silent: [HTTPProbe] = []
    for _ in 0..<65 { silent.append(try await HTTPProbe(server.address)) }
    // Connections are accepted in order: the last one is over the limit.
    let beyond = try await HTTPProbe(server.address)
    #expect(try await silent[0].rest().isEmpty)
    #expect(try await beyond.request("GET", "/a.json").status == 200)
    #expect(try await silent[64].request("GET", "/a.json").status == 200)
    await server.stop()
  }

  @Test("bounds the connections of each user separately")
  func connectionsPerUser() async throws {
    let server = try await start(["connections-per-user": 2])
    func signIn(_ name: String) async throws -> ClientProbe {
      let client = try await server.connectAndGreet()
      client.send(request(1, "auth", #"{"cred":"\#(name)"}"#))
      #expect(try await client.next().contains(#""s":"ok""#))
      return client
    }
    let first = try await signIn("ann")
    _ = try await signIn("ann")
    #expect(try await signIn("ann").closed().kind == .closedByPeer(code: 1_008))
    _ = try await signIn("bob")
    first.send(request(2, "unauth", "{}"))
    #expect(try await first.next().contains("unauthenticated"))
    let third = try await signIn("ann")
    third.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
    #expect(try await third.next().contains(#""t":"o""#))
    await server.stop()
  }

  @Test("bounds the listens of a connection")
  func listens() async throws {
    let server = try await start(["listens": 2])
    let client = try await server.connectAndGreet()
    for number in 1...2 {
      client.send(listen(number, "/a\(number)"))
      #expect(try await client.next().contains(#""s":"ok""#))
    }
    client.send(listen(3, "/a3"))
    #expect(try await client.next().contains(#""s":"unavailable""#))
    client.send(request(4, "n", #"{"p":"/a1"}"#))
    #expect(try await client.next().contains(#""s":"ok""#))
    client.send(listen(5, "/a3"))
    #expect(try await client.next().contains(#""s":"ok""#))
    await server.stop()
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
    #expect(try await client.next().contains(#""t":"h""#))
    client.send(put(1, "1"))
    try await store.waitForCommit()
    // Far more than the server may have read by the time it stops reading.
    let filler = String(repeating: "x", count: 40_000)
    for number in 2...50 { client.send(put(number, "\"\(filler)\"")) }
    repeat {} while try await taken() < min(limit, 50)
    for _ in 0..<20 { #expect(try await (taken() < 50) == isReached) }
    store.open()
    for number in 1...50 {
      #expect(try await client.next().contains(#""r":\#(number),"b":{"s":"ok""#))
    }
    await server.stop()
  }

  @Test("bounds the size of a frame")
  func frameBytes() async throws {
    let server = try await start(["frame-bytes": 2_048])
    let client = try await RawWebSocket(server.address)
    _ = try await client.next()
    let frame = put(1, "\"\(String(repeating: "x", count: 1_900))\"")
    client.send(frame + String(repeating: " ", count: 2_048 - frame.utf8.count))
    #expect(try await client.next().contains(#""s":"ok""#))
    client.send(String(repeating: " ", count: 2_049))
    #expect(try await client.closeCode() == 1_009)
    await server.stop()
  }

  @Test("bounds the number of frames in a message")
  func messageFrames() async throws {
    let server = try await start(["message-frames": 3])
    let client = try await RawWebSocket(server.address)
    _ = try await client.next()
    let text = put(1, "1")
    let middle = text.index(text.startIndex, offsetBy: 10)
    client.send("3")
    client.send(String(text[..<middle]))
    client.send(String(text[middle...]))
    client.send(" ")
    #expect(try await client.next().contains(#""s":"ok""#))
    // A message announced to be longer is skipped and answered, and the connection continues.
    client.send("4")
    client.send(String(text[..<middle]))
    client.send(String(text[middle...]))
    for _ in 0..<2 { client.send(" ") }
    #expect(try await client.next().contains(#""r":1,"b":{"s":"too_big""#))
    client.send(put(2, "2"))
    #expect(try await client.next().contains(#""r":2,"b":{"s":"ok""#))
    // Without a request number, no response is possible.
    client.send("4")
    for _ in 0..<4 { client.send(" ") }
    #expect(try await client.closeCode() == 1_009)
    await server.stop()
  }

  @Test("bounds the size of a message, whether split by the protocol or by WebSockets")
  func messageBytes() async throws {
    let server = try await start(["message-bytes": 4_096])
    let text = put(1, "\"\(String(repeating: "x", count: 4_000))\"")
    let full = text + String(repeating: " ", count: 4_096 - text.utf8.count)
    for (message, isFine) in [(full, true), (full + " ", false)] {
      let middle = message.index(message.startIndex, offsetBy: 2_000)
      let parts = (String(message[..<middle]), String(message[middle...]))
      let counted = try await RawWebSocket(server.address)
      _ = try await counted.next()
      counted.send("2")
      counted.send(parts.0)
      counted.send(parts.1)
      let fragmented = try await RawWebSocket(server.address)
      _ = try await fragmented.next()
      fragmented.send(1, Array(parts.0.utf8), isFinal: false)
      fragmented.send(0, Array(parts.1.utf8))
      for client in [counted, fragmented] {
        let status = isFine ? "ok" : "too_big"
        #expect(try await client.next().contains(#""r":1,"b":{"s":"\#(status)""#))
        client.send(put(2, "2"))
        #expect(try await client.next().contains(#""r":2,"b":{"s":"ok""#))
      }
    }
    await server.stop()
  }

  @Test("bounds the time a message may take")
  func messageSeconds() async throws {
    let server = try await start(["message-seconds": 1])
    let slow = try await RawWebSocket(server.address)
    let other = try await RawWebSocket(server.address)
    for client in [slow, other] { _ = try await client.next() }
    slow.send("2")
    slow.send("{")
    #expect(try await slow.closeCode() == 1_008)
    other.send(put(1, "1"))
    #expect(try await other.next().contains(#""s":"ok""#))
    await server.stop()
  }

  @Test("bounds onDisconnect writes in number and size")
  func disconnects() async throws {
    let server = try await start(["disconnect-writes": 2, "disconnect-bytes": 20])
    let client = try await server.connectAndGreet()
    for (number, path, value, status) in [
      (1, "a", "1", "ok"), (2, "b", "2", "ok"), (3, "c", "3", "unavailable"),
      (4, "b", #""1234567890""#, "ok"), (5, "b", #""123456789012345678""#, "too_big"),
    ] {
      client.send(request(number, "o", #"{"p":"/\#(path)","d":\#(value)}"#))
      #expect(try await client.next().contains(#""r":\#(number),"b":{"s":"\#(status)""#))
    }
    await server.stop()
  }

  @Test("bounds the header and the body of a request")
  func requestSizes() async throws {
    let server = try await start(["header-bytes": 512, "header-lines": 8, "body-bytes": 10])
    func status(_ lines: [String], _ body: String) async throws -> Int {
      try await HTTPProbe(server.address).request("PUT", "/a.json", body, lines: lines).status
    }
    #expect(try await status(["X: \(String(repeating: "x", count: 300))"], "1") == 200)
    #expect(try await status(["X: \(String(repeating: "x", count: 600))"], "1") == 431)
    #expect(try await status((0..<6).map { "X\($0): y" }, "1") == 200)
    #expect(try await status((0..<9).map { "X\($0): y" }, "1") == 431)
    #expect(try await status([], "1234567890") == 200)
    #expect(try await status([], "12345678901") == 413)
    await server.stop()
  }

  @Test("bounds the time for a request and between two requests")
  func requestTimes() async throws {
    let server = try await start(["request-seconds": 1, "keep-alive-seconds": 1])
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("GET", "/a.json").status == 200)
    #expect(try await http.rest().isEmpty)
    let slow = try await HTTPProbe(server.address)
    slow.send("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12")
    #expect(try await slow.rest().isEmpty)
    await server.stop()
  }

  @Test("bounds the time for a handshake")
  func handshake() async throws {
    let server = try await start(["handshake-seconds": 1])
    let silent = try await HTTPProbe(server.address)
    #expect(try await silent.rest().isEmpty)
    let other = try await server.connectAndGreet()
    other.send(put(1, "1"))
    #expect(try await other.next().contains(#""s":"ok""#))
    await server.stop()
  }

  @Test("bounds the children scanned without an index")
  func unindexedChildren() async throws {
    let children = (0..<5).map { "\"k\($0)\":{\"n\":\($0)}" }.joined(separator: ",")
    let root = try Node(json: try JSONParser.parse("{\"a\":{\(children)}}"))
    let query = request(1, "q", #"{"p":"/a","q":{"i":"n","l":1,"vf":"l"},"t":1,"h":""}"#)
    for (limit, isFine) in [(5, true), (4, false)] {
      let server = try await start(
        ["unindexed-children": limit],
        rules: .source(#"{"rules":{".read":true}}"#),
        root: root
      )
      let client = try await server.connectAndGreet()
      client.send(query)
      if isFine { #expect(try await client.next().contains(#""a":"d""#)) }
      #expect(try await client.next().contains(isFine ? "no_index" : "Index not defined"))
      await server.stop()
    }
  }

  @Test(
    "bounds the nesting of data and of JSON text",
    arguments: [([:], 32, 64), (["data-depth": 5, "json-depth": 9], 5, 9)]
  )
  func depth(settings: [String: Int], data: Int, text: Int) async throws {
    let server = try await start(settings)
    let http = try await HTTPProbe(server.address)
    let client = try await server.connectAndGreet()
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    }
    func answer(_ depth: Int) async throws -> HTTPProbeAnswer {
      try await http.request("PUT", "/.json", nested(depth))
    }
    #expect(try await answer(data).status == 200)
    for depth in [data + 1, text] {
      let refusal = try await answer(depth)
      #expect(refusal.status == 400 && !refusal.body.contains("parse"), "\(refusal.body)")
    }
    let unread = try await answer(text + 1)
    #expect(unread.status == 400 && unread.body.contains("couldn't parse"))
    // The path counts as well.
    client.send(request(1, "p", #"{"p":"/b/c","d":\#(nested(data - 2))}"#))
    #expect(try await client.next().contains(#""s":"ok""#))
    client.send(request(2, "p", #"{"p":"/b/c","d":\#(nested(data - 1))}"#))
    #expect(try await client.next().contains("deeper than \(data)"))
    // What is not parsed is answered as well, to the number that it has.
    client.send(request(3, "p", #"{"p":"/b","d":\#(nested(text + 1))}"#))
    let last = try await client.next()
    #expect(last.contains(#""r":3"#) && !last.contains(#""s":"ok""#))
    await server.stop()
  }

  @Test("slows down a user who writes too often, and nobody else")
  func writeRate() async throws {
    let server = try await start(["writes-per-second": 1, "write-burst": 3])
    let ann = try await server.connectAndGreet()
    let bob = try await server.connectAndGreet()
    for (client, name) in [(ann, "ann"), (bob, "bob")] {
      client.send(request(1, "auth", #"{"cred":"\#(name)"}"#))
      #expect(try await client.next().contains(#""s":"ok""#))
    }
    // Three are free; each of the others costs a second.
    let start = ContinuousClock.now
    async let slow = { () async throws -> ContinuousClock.Instant in
      for number in 2...9 {
        ann.send(put(number, "\(number)"))
        #expect(try await ann.next().contains(#""s":"ok""#))
      }
      return ContinuousClock.now
    }()
    for number in 2...4 {
      bob.send(put(number, "\(number)"))
      #expect(try await bob.next().contains(#""s":"ok""#))
    }
    let free = ContinuousClock.now
    #expect(try await slow - start > .milliseconds(3_900))
    #expect(try await free < slow)
    await server.stop()
  }

  @Test("makes each excess REST write of a user wait longer than the one before")
  func restWriteDebt() async throws {
    let server = try await start(["writes-per-second": 1, "write-burst": 1])
    var probes: [HTTPProbe] = []
    for number in 1...40 {
      let probe = try await HTTPProbe(server.address)
      // The first response shows that the write behind it has arrived.
      let write = HTTPProbe.text("PUT", "/ann/\(number).json?auth=ann", "1")
      probe.send(HTTPProbe.text("OPTIONS", "/ann.json") + write)
      #expect(try await probe.answer().status == 200)
      probes.append(probe)
    }
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("PUT", "/bob.json?auth=bob", "1").status == 200)
    for probe in probes.prefix(4) { #expect(try await probe.answer().status == 200) }
    #expect(try await http.request("GET", "/ann/4.json").body == "1")
    // The last one waits for 39 seconds.
    #expect(try await http.request("GET", "/ann/40.json").body == "null")
    // A stopping server does not wait for it.
    await server.stop()
    let last = try await probes[39].answer()
    #expect(last.status == 503)
    #expect(last.body.contains("the server is stopping; nothing was written"))
  }

  @Test("slows down a user who writes too much over WebSockets and REST, and nobody else")
  func writeBytes() async throws {
    let server = try await start(["write-bytes-per-minute": 60_000])
    let ann = try await server.connectAndGreet()
    let bob = try await server.connectAndGreet()
    for (client, name) in [(ann, "ann"), (bob, "bob")] {
      client.send(request(1, "auth", #"{"cred":"\#(name)"}"#))
      #expect(try await client.next().contains(#""s":"ok""#))
    }
    // Half is allowed at once, then another half; after that, each thousand bytes cost a second.
    let half = "\"\(String(repeating: "x", count: 30_000))\""
    let start = ContinuousClock.now
    for client in [ann, bob] {
      client.send(put(2, half))
      #expect(try await client.next().contains(#""r":2,"b":{"s":"ok""#))
    }
    let http = try await HTTPProbe(server.address)
    let more = "\"\(String(repeating: "x", count: 31_000))\""
    #expect(try await http.request("PUT", "/a.json?print=silent&auth=ann", more).status == 204)
    ann.send(put(3, "1"))
    #expect(try await ann.next().contains(#""r":3,"b":{"s":"ok""#))
    #expect(ContinuousClock.now - start > .milliseconds(900))
    bob.send(put(3, "1"))
    #expect(try await bob.next().contains(#""r":3,"b":{"s":"ok""#))
    await server.stop()
  }

  @Test("bounds memory, beyond which listens are refused and nothing else")
  func memory() async throws {
    for (mebibytes, isFine) in [(1, false), (1 << 30, true)] {
      let server = try await start(["resident-mebibytes": mebibytes])
      let client = try await server.connectAndGreet()
      client.send(listen(1, "/a"))
      #expect(try await client.next().contains(isFine ? #""s":"ok""# : #""s":"unavailable""#))
      client.send(put(2, "1"))
      if isFine { #expect(try await client.next().contains(#""a":"d""#)) }
      #expect(try await client.next().contains(#""s":"ok""#))
      let stream = try await HTTPProbe(server.address)
      stream.send(HTTPProbe.text("GET", "/a.json", lines: ["Accept: text/event-stream"]))
      #expect(try await stream.answer().status == (isFine ? 200 : 503))
      await server.stop()
    }
  }
}
