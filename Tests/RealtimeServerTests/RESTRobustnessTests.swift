import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A server that receives hostile HTTP", .timeLimit(.minutes(1)), .cleansUp)
struct RESTRobustnessTests {
  private static let start = "PUT /a.json HTTP/1.1\r\nHost: localhost\r\n"

  private func expectAnswers(_ server: DatabaseServer) async throws {
    let http = try await HTTPProbe(server.address)
    try await http.request("PUT", "/alive.json", "1", gives: "1")
  }

  @Test(
    "answers with an error and closes the connection",
    arguments: [
      (start + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
      (start + "Transfer-Encoding: chunked\r\n\r\n5\r\n123456789\r\n", 400),
      (start + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n", 400),
      (start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
      (start + "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\n5\r\n0\r\n\r\n", 501),
      (start + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n5", 415),
      (start + "Content-Encoding: GZip\r\nTransfer-Encoding: chunked\r\n\r\n", 415),
      (start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n12", 400),
      (start + "Content-Length: -1\r\n\r\n", 400),
      (start + "Content-Length: 99999999999999999999999\r\n\r\n", 400),
      (start + "Content-Length: 16777217\r\n\r\n", 413),
      (start + "X: \(String(repeating: "x", count: 10_000))\r\n\r\n", 431),
      (
        "GET /\(String(repeating: "x", count: 10_000)).json HTTP/1.1\r\nHost: localhost\r\n\r\n",
        414
      ),
      ("GET /a\u{0}.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
      ("GET a.json\r\n\r\n", 400),
      ("GET /a.json HTTP/1.1\r\n\r\n", 403),
      ("GET /a.json HTTP/1.1\r\nHost: localhost\r\nX\u{0}: y\r\n\r\n", 400),
    ]
  )
  func malformed(request: String, status: Int) async throws {
    let server = try await DatabaseServer.startForTest()
    // The first request of a connection takes a different code path from later ones.
    for isLater in [false, true] {
      let http = try await HTTPProbe(server.address)
      if isLater { try await http.request("GET", "/a.json", gives: 200) }
      http.send(request)
      try await http.answer(gives: status)
      _ = try await http.rest()
    }
    try await expectAnswers(server)
  }

  @Test("refuses a body that grows too long while it arrives")
  func longChunks() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    http.send(Self.start + "Transfer-Encoding: chunked\r\n\r\n")
    let part = Array("100000\r\n".utf8) + [UInt8](repeating: 0x31, count: 0x100000)
    for _ in 0..<17 { http.send(part + Array("\r\n".utf8)) }
    try await http.answer(gives: 413)
    try await expectAnswers(server)
  }

  @Test("accepts a chunked body and one announced with Expect: 100-continue")
  func bodies() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    http.send(Self.start + "Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n3\r\n,2]\r\n0\r\n\r\n")
    try await http.answer(gives: "[1,2]")
    let coding = "Content-Encoding: Identity\r\nTransfer-Encoding: Chunked\r\n\r\n"
    http.send(Self.start + coding + "1\r\n3\r\n0\r\n\r\n")
    try await http.answer(gives: "3")
    http.send(Self.start + "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n")
    try await http.answer(gives: 100)
    http.send("7")
    try await http.answer(gives: "7")
    try await expectAnswers(server)
  }

  @Test("answers pipelined requests in order")
  func pipelining() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    var text = ""
    for number in 0..<300 {
      text += HTTPProbe.text("PUT", "/n.json", "\(number)") + HTTPProbe.text("GET", "/n.json")
    }
    http.send(text + "garbage\r\n\r\n")
    for number in 0..<300 {
      for _ in 0..<2 { try await http.answer(gives: "\(number)") }
    }
    try await http.answer(gives: 400)
    _ = try await http.rest()
    try await expectAnswers(server)
  }

  @Test("closes the connection after the response if asked to")
  func close() async throws {
    let server = try await DatabaseServer.startForTest()
    for (version, lines, isKept) in [
      ("1.1", "", true), ("1.1", "Connection: close\r\n", false), ("1.0", "", false),
      ("1.0", "Connection: keep-alive\r\n", true),
    ] {
      let http = try await HTTPProbe(server.address)
      http.send("GET /a.json HTTP/\(version)\r\nHost: localhost\r\n\(lines)\r\n")
      let answer = try await http.answer(gives: "null")
      #expect(answer.lines["connection"] == (isKept ? "keep-alive" : "close"))
      if !isKept { #expect(try await http.rest().isEmpty) }
    }
    try await expectAnswers(server)
  }

  @Test("answers a client of HTTP/1.0 that names no host, and refuses one that names another")
  func withoutHost() async throws {
    let server = try await DatabaseServer.startForTest()
    for (line, status) in [("", 200), ("Host: evil.test\r\n", 403), ("Host:\r\n", 403)] {
      let http = try await HTTPProbe(server.address)
      http.send("GET /a.json HTTP/1.0\r\n\(line)\r\n")
      try await http.answer(gives: status)
    }
  }

  @Test("answers a request for an unsupported protocol upgrade")
  func upgrade() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    let lines = ["Connection: Upgrade", "Upgrade: h2c"]
    let answer = try await http.request("PUT", "/a.json", "[1]", lines: lines, gives: "[1]")
    #expect(answer.lines["connection"] == "close")
    #expect(try await http.rest().isEmpty)
    try await expectAnswers(server)
  }

  @Test("keeps running when clients disconnect midway")
  func leaving() async throws {
    let server = try await DatabaseServer.startForTest()
    let request =
      HTTPProbe.text("PUT", "/a.json", #"{"b":1}"#)
      + HTTPProbe.text("GET", "/a.json", lines: ["Accept: text/event-stream"])
    for count in stride(from: 1, to: request.utf8.count, by: 3) {
      let http = try await HTTPProbe(server.address)
      http.send(Array(request.utf8.prefix(count)))
      await http.close()
    }
    try await expectAnswers(server)
  }

  @Test("keeps running when requests are damaged", arguments: [1, 2, 3] as [UInt64])
  func damaged(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let server = try await DatabaseServer.startForTest()
    let request = Array(
      (HTTPProbe.text("PUT", "/a.json?print=pretty", #"{"b":[1,2]}"#)
        + HTTPProbe.text("GET", #"/a.json?orderBy="$key"&startAt="b"&limitToLast=3"#)
        + HTTPProbe.text("GET", "/a.json", lines: ["Accept: text/event-stream"])).utf8
    )
    for _ in 0..<100 {
      var bytes = request
      for _ in 0...random.below(4) {
        let index = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[index] = UInt8(random.below(256))
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[index], at: index)
        }
      }
      let http = try await HTTPProbe(server.address)
      http.send(bytes)
      await http.close()
    }
    try await expectAnswers(server)
  }
}
