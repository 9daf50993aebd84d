import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("REST", .timeLimit(.minutes(1)), .cleansUp)
struct RESTTests {
  @Test("generates ascending names for posted data")
  func post() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    var names: [String] = []
    for number in 0..<20 {
      let answer = try await http.request("POST", "/posts.json", "\(number)", gives: 200)
      let name = try JSONParser.parse(answer.body)["name"]?.string
      names.append(try #require(name))
    }
    #expect(names == names.sorted())
    #expect(names.allSatisfy { PushID.time(of: $0) == 1_700_000_000_000 })
    let all = try JSONParser.parse(try await http.request("GET", "/posts.json").body)
    #expect(all.members?.map(\.value) == (0..<20).map { .integer($0) })
  }

  @Test("shows settings and names to tools at its socket for any host, and refuses changes")
  func tools() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    _ = try await DatabaseServer.startForTest(.init(socketPath: path))
    let http = try await HTTPProbe(.unix(path: path))
    let limit = "/.settings/defaultWriteSizeLimit.json"
    try await http.request("GET", limit, gives: #""unlimited""#)
    try await http.request("PUT", limit, #""unlimited""#, gives: 200)
    try await http.request("PUT", limit, #""large""#, gives: 400)
    try await http.request("GET", "/.settings/none.json", gives: 404)
    try await http.request(
      "GET",
      "/.inspect/databases.json?ns=hearth",
      gives: #"[{"name":"hearth"}]"#
    )
    // On the socket, any host will do.
    http.send("PUT /a.json HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n7")
    try await http.answer(gives: "7")
    try await http.request("GET", "/a.json", gives: "7")
  }

  @Test("answers every request of a client that has ended its side, in full")
  func halfClosed() async throws {
    let directory = try TemporaryDirectory()
    let server = try await DatabaseServer.startForTest(
      .init(socketPath: directory.file("s"), port: 0, rules: .open)
    )
    let long = String(repeating: "long ", count: 400_000)
    let both = [try server.address, ListenAddress.unix(path: directory.file("s"))]
    for (number, address) in both.enumerated() {
      let write = HTTPProbe.text("PUT", "/\(number).json?print=silent", #""\#(long)""#)
      #expect(
        try await RawPeer.exchange(address, write, isAll: true).hasPrefix("HTTP/1.1 204")
      )
      let requests = ["2", "3"].map { HTTPProbe.text("POST", "/\(number)/list.json", $0) }
      let answers = try await RawPeer.exchange(address, requests.joined(), isAll: true)
      #expect(answers.split(separator: "HTTP/1.1 200").count == 2)
      let read = HTTPProbe.text("GET", "/\(number)/list.json?print=pretty")
      #expect(try await RawPeer.exchange(address, read, isAll: true).contains(": 3\n}"))
      // Whatever waits behind the last request, its answer comes whole.
      let put = HTTPProbe.text("PUT", "/long\(number).json?print=silent", #""\#(long)""#)
      _ = try await RawPeer.exchange(address, put, isAll: true)
      let last = HTTPProbe.text("GET", "/long\(number).json", lines: ["Connection: close"])
      let rest = String(repeating: "\r\n", count: 300)
      #expect(try await RawPeer.exchange(address, last + rest, isAll: true).hasSuffix(#"long ""#))
      // A WebSocket ends with its client's side.
      _ = try await RawPeer.exchange(address, RawPeer.upgradeRequest(), isAll: true)
      // What ends in the middle of a request is none.
      let part = String(HTTPProbe.text("DELETE", "/\(number).json").dropLast(2))
      #expect(try await !RawPeer.exchange(address, part, isAll: true).contains(" 200 "))
      let http = try await HTTPProbe(address)
      #expect(try await http.request("GET", "/\(number)/list.json?shallow=true").body != "null")
    }
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
    try await reader.answer(gives: 400)
    #expect(store.load().root.isEmpty)
    store.open()
    try await writer.answer(gives: "1")
    #expect(store.load().root[Path(wire: "a")] == .integer(1))
    try await reader.request("GET", "/a.json", gives: "1")
  }

  @Test("fails a read that exceeds its time limit, wherever the time is spent")
  func slowRead() async throws {
    let store = GateStore(isOpen: true)
    let server = try await DatabaseServer.startForTest(store: store)
    let http = try await HTTPProbe(server.address)
    let members = (0..<20_000).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
    try await http.request("PUT", "/a.json?print=silent", "{\(members)}", gives: 204)
    let late = try await http.request("GET", "/a.json?timeout=1ms", gives: 400)
    #expect(late.body.contains("longer than timeout allows"))
    try await http.request("GET", "/a.json?timeout=15min", gives: 200)
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
    #expect(try await http.answer(gives: "1").lines["connection"] == "close")
    await stopped
    #expect(store.isClosed)
  }

  @Test("does not keep an idle server from exiting")
  func idleExit() async throws {
    let server = try await DatabaseServer.startForTest(
      .init(port: 0, rules: .open, idleExit: .seconds(5))
    )
    let http = try await HTTPProbe(server.address)
    try await http.request("PUT", "/a.json", "1", gives: "1")
    try await server.waitUntilStopped()
    #expect(try await http.rest().isEmpty)
  }

  @Test("applies fifty conditional increments that race exactly once each")
  func increments() async throws {
    let server = try await DatabaseServer.startForTest()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          let http = try await HTTPProbe(server.address)
          var answer = try await http.request("GET", "/n.json", lines: ["X-Firebase-ETag: true"])
          repeat {
            let tag = try #require(answer.lines["etag"])
            let next = (Int(answer.body) ?? 0) + 1
            answer = try await http.request(
              "PUT",
              "/n.json",
              "\(next)",
              lines: ["if-match: \(tag)"]
            )
          } while answer.status == 412
          #expect(answer.status == 200)
        }
      }
      try await group.waitForAll()
    }
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/n.json", gives: "50")
  }
}
