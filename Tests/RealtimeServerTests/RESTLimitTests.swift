import RealtimeCore
import RealtimeTransport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// What one request, stream or user may cost over REST.
@Suite("REST limits", .timeLimit(.minutes(2)))
struct RESTLimitTests {
  private func start(
    _ settings: [String: Int] = [:],
    store: any TreeStore = MemoryTreeStore()
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    for (name, value) in settings { try options.limits.set(name, to: value) }
    options.credentialVerifier = NamedVerifier()
    return try await .start(options, store: store)
  }

  private func stream(_ server: DatabaseServer, _ user: String) async throws -> HTTPProbe {
    let stream = try await HTTPProbe(server.address)
    stream.send(
      HTTPProbe.text("GET", "/s.json?auth=\(user)", lines: ["Accept: text/event-stream"])
    )
    return stream
  }

  @Test("A user's event streams and WebSockets count together, those of others separately")
  func streamsPerUser() async throws {
    let server = try await start(["connections-per-user": 2])
    let socket = try await server.connectAndGreet()
    socket.send(#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"ann"}}}"#)
    #expect(try await socket.next().contains(#""s":"ok""#))
    let open = try await stream(server, "ann")
    #expect(try await open.answer().status == 200)
    let refused = try await stream(server, "ann").answer()
    #expect(refused.status == 429)
    #expect(refused.lines["retry-after"] == "1")
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("GET", "/a.json?auth=ann").status == 429)
    #expect(try await http.request("PUT", "/a.json?auth=ann", "1").status == 429)
    #expect(try await http.request("GET", "/a.json?auth=bob").body == "null")
    #expect(try await http.request("GET", "/a.json").status == 200)
    let second = try await server.connectAndGreet()
    second.send(#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"ann"}}}"#)
    #expect(try await second.closed().kind == .closedByPeer(code: 1_008))
    await open.close()
    while try await http.request("GET", "/a.json?auth=ann").status == 429 {}
    #expect(try await http.request("GET", "/a.json?auth=ann").status == 200)
    await server.stop()
  }

  @Test("A user's request counts while it is in progress")
  func requestsPerUser() async throws {
    let store = GateStore()
    let server = try await start(["connections-per-user": 1], store: store)
    let slow = try await HTTPProbe(server.address)
    slow.send(HTTPProbe.text("PUT", "/a.json?auth=ann", "1"))
    try await store.waitForCommit()
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("GET", "/b.json?auth=ann").status == 429)
    store.open()
    #expect(try await slow.answer().status == 200)
    #expect(try await http.request("GET", "/b.json?auth=ann").status == 200)
    await server.stop()
  }

  @Test("A request with an invalid credential does not count")
  func refusedCredentials() async throws {
    let server = try await start(["connections": 2])
    let http = try await HTTPProbe(server.address)
    for _ in 0..<3 {
      #expect(try await http.request("GET", "/a.json?auth=bad").status == 401)
      #expect(try await stream(server, "bad").answer().status == 401)
    }
    #expect(try await http.request("GET", "/a.json?auth=ann").status == 200)
    await server.stop()
  }

  // MARK: Sizes

  /// This many children, each with a value.
  private func children(_ count: Int) -> Node {
    Node(sortedChildren: (0..<count).map { (ChildKey("k\(1_000_000 + $0)"), .bool(true)) })
  }

  @Test("The write size limit counts the values removed, replaced and written")
  func writeSizes() async throws {
    let root = Node(sortedChildren: [
      (ChildKey("at"), children(100_000)), (ChildKey("beyond"), children(100_001)),
    ])
    let server = try await start(store: MemoryTreeStore(StoredTree(root: root)))
    let http = try await HTTPProbe(server.address)
    let refusal =
      #"{"error":"Data to write exceeds the maximum size that can be modified with a single request."}"#
    for (method, target, body) in [
      ("DELETE", "/beyond.json", nil), ("DELETE", "/.json", nil),
      ("PUT", "/beyond.json", "1"), ("PATCH", "/.json", #"{"beyond":null}"#),
      ("PATCH", "/.json", #"{"at":null,"beyond/k1000000":null}"#),
    ] {
      let answer = try await http.request(method, target + "?writeSizeLimit=tiny", body)
      #expect(answer.status == 400, "\(method) \(target)")
      #expect(answer.body == refusal)
    }
    #expect(try await http.request("GET", "/.json?shallow=true").body.contains("beyond"))
    #expect(try await http.request("DELETE", "/at.json?writeSizeLimit=tiny").status == 200)
    #expect(try await http.request("DELETE", "/beyond.json?writeSizeLimit=small").status == 200)
    #expect(try await http.request("GET", "/.json").body == "null")
    await server.stop()
  }

  @Test("The write size limit counts the bytes sent")
  func writeLengths() async throws {
    let server = try await start()
    let http = try await HTTPProbe(server.address)
    let text = #"{"a":""# + String(repeating: "x", count: 8 * 1_024 * 1_024 - 8) + #""}"#
    let tiny = "/a.json?print=silent&writeSizeLimit=tiny"
    #expect(try await http.request("PUT", tiny, text).status == 204)
    #expect(try await http.request("PUT", tiny, text + " ").status == 400)
    #expect(try await http.request("POST", tiny, text + " ").status == 400)
    #expect(try await http.request("PUT", "/a.json?print=silent", text + " ").status == 204)
    await server.stop()
  }

  @Test("Each write size stands for the documented time")
  func writeTimes() {
    let seconds = WriteSize.allCases.map(\.target)
    #expect(seconds == [.seconds(1), .seconds(10), .seconds(30), .seconds(60), nil])
    var estimate = WriteEstimate(upTo: .seconds(1), bytes: 0)
    #expect(estimate.duration == .zero)
    estimate.add(.empty)
    #expect(estimate.duration == .zero)
    estimate.add(children(100_000))
    #expect(estimate.duration == .seconds(1))
    estimate.add(.bool(true))
    #expect(estimate.duration > .seconds(1))
    #expect(WriteEstimate(upTo: .seconds(1), bytes: 8 << 20).duration == .seconds(1))
  }

  @Test("The response size limit applies to reads over REST and WebSockets")
  func responseBytes() async throws {
    let body = #"{"k":"0123456789"}"#
    let server = try await start(["response-bytes": 200])
    let http = try await HTTPProbe(server.address)
    let fitting = "\"" + String(repeating: "x", count: 198) + "\""
    #expect(try await http.request("PUT", "/big.json", fitting).status == 200)
    #expect(try await http.request("GET", "/big.json").status == 200)
    let long = "\"" + String(repeating: "x", count: 199) + "\""
    #expect(try await http.request("PUT", "/big.json", long).status == 200)
    let refusal = try await http.request("GET", "/big.json")
    #expect(refusal.status == 413)
    #expect(refusal.body.contains("Data requested exceeds the maximum size"))
    #expect(try await http.request("GET", "/.json?shallow=true").body == #"{"big":true}"#)
    #expect(try await http.request("PUT", "/small.json", body).status == 200)
    let client = try await server.connectAndGreet()
    for (number, action, extra) in [(1, "g", #","q":{}"#), (2, "q", #","h":"""#)] {
      client.send(
        #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":{"p":"/big"\#(extra)}}}"#
      )
      #expect(
        try await client.next().hasPrefix(#"{"t":"d","d":{"r":\#(number),"b":{"s":"too_big""#)
      )
    }
    // A refused listen does not exist: later writes at its path are not pushed.
    #expect(try await http.request("PUT", "/big.json", "1").status == 200)
    client.send(#"{"t":"d","d":{"r":3,"a":"g","b":{"p":"/small","q":{}}}}"#)
    #expect(try await client.next() == #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":\#(body)}}}"#)
    await server.stop()
  }

  @Test("The response size limit applies to a stream's first event but not to later ones")
  func firstEvent() async throws {
    let server = try await start(["response-bytes": 200])
    let http = try await HTTPProbe(server.address)
    let accept = "Accept: text/event-stream"
    func text(_ count: Int) -> String { "\"" + String(repeating: "x", count: count) + "\"" }
    // The event's lines and the object around the data take 39 bytes.
    #expect(try await http.request("PUT", "/big.json", text(159)).status == 200)
    let stream = try await HTTPProbe(server.address)
    #expect(try await stream.request("GET", "/big.json", lines: [accept]).status == 200)
    #expect(try await stream.chunk().utf8.count == 200)
    #expect(try await http.request("PUT", "/big.json", text(160)).status == 200)
    #expect(try await stream.chunk().utf8.count == 201)
    let refusal = try await http.request("GET", "/big.json", lines: [accept])
    #expect(refusal.status == 413)
    #expect(refusal.body.contains("Data requested exceeds the maximum size"))
    // A refused request no longer counts for any user.
    await stream.close()
    #expect(try await http.request("PUT", "/big.json", "1").status == 200)
    #expect(try await http.request("GET", "/big.json").body == "1")
    await server.stop()
  }

  @Test("The size limits have the documented defaults: 16 MB for a write, 256 MB for a read")
  func defaults() {
    let limits = DatabaseServer.Limits()
    #expect(limits.bodyBytes == 16 * 1_024 * 1_024)
    #expect(limits.messageBytes == 16 * 1_024 * 1_024)
    #expect(limits.responseBytes == 256 * 1_024 * 1_024)
    #expect(limits.hub.responseBytes == limits.responseBytes)
  }
}
