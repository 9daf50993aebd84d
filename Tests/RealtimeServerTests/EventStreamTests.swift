import NIOCore
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("An event stream", .timeLimit(.minutes(1)), .cleansUp)
struct EventStreamTests {
  private let accept = "Accept: text/event-stream"

  private func open(
    _ server: DatabaseServer,
    _ target: String
  ) async throws -> HTTPProbe {
    let stream = try await HTTPProbe(server.address)
    let answer = try await stream.request("GET", target, lines: [accept], gives: 200)
    #expect(answer.lines["content-type"] == "text/event-stream")
    #expect(answer.lines["cache-control"] == "no-cache")
    #expect(answer.lines["x-accel-buffering"] == "no")
    return stream
  }

  private func event(_ name: String, _ data: String) -> String {
    "event: \(name)\ndata: \(data)\n\n"
  }

  @Test(
    "counts no more once it has ended, neither for its address nor for its user",
    arguments: ["/a.json", "/a.json?auth=ann"]
  )
  func share(target: String) async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.limits.guestStreams = 1
    options.limits.connectionsPerUser = 1
    options.credentialVerifier = NamedVerifier()
    let server = try await DatabaseServer.startForTest(options)
    let stream = try await open(server, target)
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", target, lines: [accept], gives: 429)
    await stream.close()
    try await eventually {
      let next = try await HTTPProbe(server.address)
      return try await next.request("GET", target, lines: [accept]).status == 200
    }
  }

  @Test("ends with a final chunk when the server stops")
  func stop() async throws {
    let server = try await DatabaseServer.startForTest()
    let stream = try await open(server, "/a.json")
    _ = try await stream.chunk()
    await server.stop()
    #expect(try await stream.chunk().isEmpty)
    #expect(try await stream.rest().isEmpty)
  }

  @Test("is sent unchunked to an HTTP/1.0 client")
  func oldClient() async throws {
    let server = try await DatabaseServer.startForTest()
    let stream = try await HTTPProbe(server.address)
    stream.send("GET /a.json HTTP/1.0\r\nHost: localhost\r\n\(accept)\r\n\r\n")
    #expect(try await stream.answer().lines["transfer-encoding"] == nil)
    await server.stop()
    #expect(try await stream.rest() == event("put", #"{"path":"/","data":null}"#))
  }

  @Test("is refused if its initial data fails to be stored")
  func storeFailure() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let http = try await HTTPProbe(server.address)
    http.send(HTTPProbe.text("PUT", "/a.json", "1"))
    try await store.waitForCommit()
    let stream = try await HTTPProbe(server.address)
    // The first response shows that the request behind it has arrived.
    let text = HTTPProbe.text("OPTIONS", "/a.json")
    stream.send(text + HTTPProbe.text("GET", "/a.json", lines: [accept]))
    try await stream.answer(gives: 200)
    store.release(StoreError(.full, description: "the disk is full"))
    try await http.answer(gives: 507)
    try await stream.answer(gives: 503)
    store.open()
    try await stream.request("GET", "/a.json", gives: "null")
  }

  @Test("allows the server to exit when idle once its client has left")
  func disconnect() async throws {
    let server = try await DatabaseServer.startForTest(
      .init(port: 0, rules: .open, idleExit: .seconds(5))
    )
    let stream = try await open(server, "/a.json")
    _ = try await stream.chunk()
    await stream.close()
    try await server.waitUntilStopped()
  }

  @Test("yields the same data as a read when replayed", arguments: [1, 2, 3] as [UInt64])
  func replay(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let server = try await DatabaseServer.startForTest()
    let client = try await server.connectAndGreet()
    let http = try await HTTPProbe(server.address)
    let stream = try await open(server, "/r.json")
    for number in 0..<120 {
      let keys = ["a", "b", "0", "1"]
      let path = (0...random.below(3)).map { _ in random.pick(keys) }.joined(separator: "/")
      let value = random.pick(["null", "1", #"{"a":{"b":2},"1":true}"#, #""s""#, "[1,2]"])
      switch random.below(3) {
      case 0: _ = try await http.request("PUT", "/r/\(path).json", value)
      case 1:
        let body = #"{"a/\#(random.pick(keys))":\#(value),"b":\#(number)}"#
        _ = try await http.request("PATCH", "/r/\(path).json", body)
      default:
        client.send(
          #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/r/\#(path)","d":\#(value)}}}"#
        )
        _ = try await client.next()
      }
    }
    _ = try await http.request("PUT", "/r/end.json", "true")
    let final = try await http.request("GET", "/r.json").body
    var node = Node.empty
    while node[ChildKey("end")] != .bool(true) { try replay(try await stream.chunk(), on: &node) }
    #expect(node == (try Node(json: try JSONParser.parse(final))))
  }

  private func replay(_ event: String, on node: inout Node) throws {
    let lines = event.split(separator: "\n")
    let data = try JSONParser.parse(String(lines[1].dropFirst("data: ".count)))
    let path = Path(wire: try #require(data["path"]?.string))
    let json = try #require(data["data"])
    switch lines[0] {
    case "event: put": node.update(at: path, to: try Node(json: json))
    case "event: patch":
      for member in json.members ?? [] {
        node.update(at: path.appending(Path(wire: member.name)), to: try Node(json: member.value))
      }
    default: Issue.record("unexpected \(event)")
    }
  }
}
