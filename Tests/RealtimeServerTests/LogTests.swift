import Logging
import NIOConcurrencyHelpers
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("The log of a server", .timeLimit(.minutes(1)), .cleansUp)
struct LogTests {
  private func run(
    _ options: DatabaseServer.Options,
    _ body: (DatabaseServer) async throws -> Void
  ) async throws -> [String] {
    let lines = NIOLockedValueBox<[String]>([])
    let logger = Logger.collecting(lines)
    let server = try await DatabaseServer.start(options, logger: logger).endingWithTest()
    try await body(server)
    await server.stop()
    return lines.withLockedValue { $0 }
  }

  @Test("contains no tokens, paths or data, at any level")
  func privacy() async throws {
    let secrets = ["path", "data", "token", "query", "header"].map { "s3cret-\($0)" }
    let lines = try await run(.emulator(port: 0)) { server in
      let client = try await server.connectAndGreet()
      for message in [
        #"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"s3cret-token"}}}"#,
        #"{"t":"d","d":{"r":2,"a":"gauth","b":{"cred":"s3cret-token"}}}"#,
        #"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/s3cret-path","d":"s3cret-data"}}}"#,
        #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/s3cret-path","h":"s3cret-data"}}}"#,
        #"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/s3cret.path#","d":"s3cret-data"}}}"#,
        #"{"t":"d","d":{"r":6,"a":"s3cret-path","b":{}}}"#,
      ] {
        client.send(message)
        _ = try await client.next()
      }
      client.send("s3cret-data")
      _ = try await client.closed()
      let http = try await HTTPProbe(server.address)
      for target in ["/s3cret-path.json?auth=s3cret-token&orderBy=s3cret-query", "/s3cret-path"] {
        _ = try await http.request(
          "PUT",
          target,
          "s3cret-data",
          lines: ["Authorization: Bearer s3cret-token", "X-S: s3cret-header"]
        )
      }
      let page = RawPeer.upgradeRequest(
        path: "/.ws?ns=s3cret-query",
        lines: ["Host: s3cret-header", "Origin: s3cret-header"]
      )
      _ = try await RawPeer.exchange(server.address, page)
    }
    #expect(lines.contains { $0.contains("undecodable message") })
    #expect(lines.contains { $0.contains("answered") })
    for secret in secrets {
      #expect(!lines.contains { $0.contains(secret) }, "\(secret)")
    }
  }

  @Test("reports a connection with many listens once", arguments: [(2, 1), (4, 1), (5, 0)])
  func manyListens(limit: Int, notes: Int) async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.limits.listensWarning = limit
    let lines = try await run(options) { server in
      let client = try await server.connectAndGreet()
      for number in 1...5 {
        try await client.ask(number, "q", #"{"p":"/a\#(number)","h":""}"#)
      }
    }
    #expect(lines.filter { $0.contains("more than \(limit) listens") }.count == notes)
  }

  @Test("reports a user's connections together once an hour, without skipping other users")
  func manyListensOfOne() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.credentialVerifier = NamedVerifier()
    options.limits.listens = 2
    options.limits.listensWarning = 1
    options.limits.disconnectWrites = 1
    let lines = try await run(options) { server in
      for user in ["ann", "ann", "bob", nil, nil] {
        let client = try await server.connectAndGreet()
        if let user { try await client.ask(0, "auth", #"{"cred":"\#(user)"}"#) }
        for number in 1...2 {
          try await client.ask(number, "q", #"{"p":"/a\#(number)","h":""}"#)
        }
        try await client.ask(3, "o", #"{"p":"/a","d":1}"#)
      }
    }
    for text in ["more than 1 listens", "has 2 listens", "scheduled 1 writes"] {
      #expect(lines.filter { $0.contains(text) }.count == 3, "\(text)")
    }
  }

  @Test("repeats a note about a user once an hour and remembers a bounded number")
  func hourlyNotes() {
    var notes = HourlyNotes()
    func isDue(_ user: String?, _ minute: Int64) -> Bool {
      notes.isDue(HourlyNotes.Subject(what: "x", user: user), at: minute * 60_000)
    }
    #expect(
      [0, 59, 60, 61, 119, 120].map { isDue("ann", $0) } == [true, false, true, false, false, true]
    )
    #expect(isDue(nil, 120))
    #expect(isDue("ann", 50))
    let due = (0..<2_000).filter { isDue("u\($0)", 121) }
    #expect(due.count == HourlyNotes.limit - 1)
    #expect(isDue("u1999", 181))
    #expect(!isDue("u1999", 182))
  }

  @Test("reports once why connections were dropped, also if their clients were notified")
  func dropped() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.limits.frameBytes = 2_048
    options.limits.messageFrames = 2
    let lines = try await run(options) { server in
      for _ in 0..<3 {
        let long = try await RawWebSocket(server.address)
        long.send(String(repeating: "x", count: 3_000))
        #expect(try await long.closeCode() == 1_009)
        let nameless = try await RawWebSocket(server.address)
        for text in ["3", "a", "b", "c"] { nameless.send(text) }
        #expect(try await nameless.closeCode() == 1_009)
        let garbled = try await RawWebSocket(server.address)
        garbled.send("{")
        #expect(try await garbled.closeCode() == 1_002)
        let told = try await server.connectAndGreet()
        told.close()
        _ = try await told.closed()
      }
    }
    let notes = lines.filter { $0.hasPrefix("notice dropped a connection") }
    #expect(notes.count == 3)
    #expect(notes.contains { $0.contains("a message that cannot be understood") })
    #expect(notes.contains { $0.contains("a frame of more than 2048 bytes") })
    #expect(notes.contains { $0.contains("a message of 3 frames is longer than 2 frames") })
  }

  @Test("reports metrics periodically if enabled")
  func metrics() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.metricsInterval = .milliseconds(10)
    let lines = try await run(options) { server in
      let client = try await server.connectAndGreet()
      for number in 1...100 {
        try await client.ask(number, "p", #"{"p":"/a","d":\#(number)}"#)
      }
      let http = try await HTTPProbe(server.address)
      http.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      _ = try await http.rest()
    }
    #expect(lines.contains { $0.contains("metrics") && $0.contains("uptimeSeconds") })
  }
}
