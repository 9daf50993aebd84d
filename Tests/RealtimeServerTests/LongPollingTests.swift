import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("Long polling", .timeLimit(.minutes(1)), .cleansUp)
struct LongPollingTests {
  private func put(_ id: Int, _ path: String, _ value: String, action: String = "p") -> String {
    #"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":{"p":"\#(path)","d":\#(value)}}}"#
  }

  private func ok(_ id: Int) -> String { #"{"d":{"b":{"d":"","s":"ok"},"r":\#(id)},"t":"d"}"# }

  private func value(_ server: DatabaseServer, _ path: String) async throws -> String {
    try await HTTPProbe(server.address).request("GET", path).body
  }

  /// Waits until a location has a value.
  private func expect(_ server: DatabaseServer, _ path: String, _ wanted: String) async throws {
    try await eventually { try await value(server, path) == wanted }
  }

  /// A server, a client that polls it, and the name of the client's session.
  private func begin() async throws -> (
    server: DatabaseServer, client: PollingProbe, session: String
  ) {
    let server = try await DatabaseServer.startForTest()
    let client = try await PollingProbe(server.address)
    return (server, client, try await client.session())
  }

  @Test("Writes, listens and pushes work as over a WebSocket")
  func conversation() async throws {
    let (server, client, _) = try await begin()
    try await client.send(
      #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"a","h":""}}}"#,
      put(2, "a/b", #""</script>""#),
      #"{"t":"c","d":{"t":"p","d":{}}}"#
    )
    try await client.expect(#""r":1"#)
    var rest: [String] = []
    for _ in 0..<3 { rest.append(try await client.next()) }
    #expect(rest.contains(#"{"d":{"d":{},"t":"o"},"t":"c"}"#))
    let push = try #require(rest.firstIndex { $0.contains(#"<\/script>"#) })
    #expect(try #require(rest.firstIndex(of: ok(2))) > push)
    // What another client writes arrives at the request that waits.
    async let waiting = client.next()
    _ = try await HTTPProbe(server.address).request("PUT", "/a/c.json", "7")
    #expect(try await waiting.contains(#""d":7"#))
  }

  @Test("Messages sent in pieces arrive in order even if requests overtake each other")
  func overtaking() async throws {
    let (server, client, _) = try await begin()
    let pieces = await client.pieces(of: (1...4).map { put($0, "a/\($0)", "\($0)") }, bytes: 40)
    let first = await client.target(pieces[..<5])
    let second = await client.target(pieces[5...].prefix(0))
    let later =
      "\(second)\(pieces[5...].enumerated().map { $1.replacing("#", with: "\($0)") }.joined())"
    async let overtaken: Void = client.request(later)
    try await client.request(first)
    try await overtaken
    for id in 1...4 { #expect(try await client.next() == ok(id)) }
    #expect(try await value(server, "/a.json") == "[null,1,2,3,4]")
  }

  @Test("The frame that notices leaving suits pages of its own host, and does not show the session")
  func frame() async throws {
    let (server, client, _) = try await begin()
    let target = "/.lp?dframe=t&\(client.ticket)"
    let frame = try await HTTPProbe(server.address).request("GET", target, gives: 200)
    #expect(frame.lines["content-security-policy"]?.contains("frame-ancestors 'self'") == true)
    #expect(!frame.body.contains(client.ticket))
  }

  @Test("A session can move to a WebSocket and remains the same session")
  func upgrade() async throws {
    let (server, client, session) = try await begin()
    try await client.send(put(1, "gone", "true", action: "o"))
    #expect(try await client.next() == ok(1))
    let socket = try await RawWebSocket(server.address, target: "/.ws?v=5&s=\(session)")
    #expect(try await socket.next() == #"{"t":"c","d":{"t":"a","d":{}}}"#)
    for _ in 0..<2 {
      socket.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
      #expect(try await socket.next() == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    }
    // What is sent on the socket comes after what is still on its way by polling.
    socket.send(#"{"t":"c","d":{"t":"a","d":{}}}"#)
    socket.send(put(3, "a", "3"))
    try await client.send(put(2, "a", "2"), #"{"t":"c","d":{"t":"n","d":{}}}"#)
    var polled: [String] = []
    while polled.last != #"{"d":{"d":{},"t":"n"},"t":"c"}"# {
      polled.append(try await client.next())
    }
    if await client.close == nil { try await client.request(client.target()) }
    let number = await client.lists - 1
    #expect(await client.close == "pLPCommand(\"close\",\(number));")
    // The answer to the first write may have come on either.
    if polled.count == 1 { try await socket.expect(#""r":2,"b":{"s":"ok""#) }
    try await socket.expect(#""r":3,"b":{"s":"ok""#)
    // The end of the polling is not the end of the session.
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("POST", "/.lp?disconn=t&\(client.ticket)")
    socket.send(put(4, "a", "4"))
    try await socket.expect(#""r":4,"b":{"s":"ok""#)
    #expect(try await value(server, "/gone.json") == "null")
    #expect(try await value(server, "/a.json") == "4")
    socket.send(8, [])
    try await expect(server, "/gone.json", "true")
  }

  @Test("A stopping server answers the waiting request")
  func stop() async throws {
    let (server, client, _) = try await begin()
    let target = await client.target()
    async let answer = HTTPProbe(server.address).request("GET", target)
    let last = try await HTTPProbe(server.address)
    last.send(HTTPProbe.text("GET", await client.target()))
    await client.receive(try await answer.body)
    await server.stop()
    let number = await client.lists
    #expect(try await last.answer().body.contains("pLPCommand(\"close\",\(number));"))
  }

  @Test("A session whose requests are cut off continues where it was")
  func unplugged() async throws {
    let (server, client, _) = try await begin()
    for id in 1...5 {
      let target = await client.target(client.pieces(of: [put(id, "a", "\(id)")]))
      let lost = try await HTTPProbe(server.address)
      lost.send(HTTPProbe.text("GET", target))
      await lost.close()
      // The request arrives, and its answer does not; a browser then repeats it.
      try await expect(server, "/a.json", "\(id)")
      try await client.request(target)
      #expect(try await client.next() == ok(id))
    }
  }

  @Test("Sessions that are not polled give way to others from their address")
  func connections() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .locked)
    options.limits.connections = 8
    let server = try await DatabaseServer.startForTest(options)
    var clients: [PollingProbe] = []
    for _ in 0..<3 { clients.append(try await PollingProbe(server.address)) }
    try await clients[0].request(clients[0].target())
    #expect(await clients[0].close != nil)
    let http = try await HTTPProbe(server.address)
    for client in clients[1...] {
      #expect(try await http.request("GET", "/.lp?disconn=t&\(client.ticket)").body.isEmpty)
    }
  }
}
