import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A client that stops reading", .timeLimit(.minutes(1)), .cleansUp)
struct SlowConsumerTests {
  private static let filler = String(repeating: "x", count: 4_000)

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func start(
    coalesce: Int,
    bytes: Int = 64 * 1_024 * 1_024,
    seconds: Int = 10
  ) async throws -> DatabaseServer {
    // The kernel buffers less for a Unix socket than for TCP.
    var options = DatabaseServer.Options(socketPath: directory.file("s"), port: 0, rules: .open)
    options.limits.outputCoalesceBytes = coalesce
    options.limits.outputBytes = bytes
    options.limits.outputSeconds = seconds
    return try await .start(options).endingWithTest()
  }

  /// Writes about 4 KB below /a for each number, and reads the responses.
  private func write(_ numbers: ClosedRange<Int>, over client: ClientProbe) async throws {
    for number in numbers {
      let body = #"{"p":"/a/k\#(number % 20)","d":"\#(number)\#(Self.filler)"}"#
      client.send(#"{"t":"d","d":{"r":\#(number),"a":"p","b":\#(body)}}"#)
    }
    for _ in numbers { try await client.expect(#""s":"ok""#) }
  }

  @Test("gets only the newest data when it reads again, and then its responses")
  func coalescing() async throws {
    let server = try await start(coalesce: 100_000)
    let slow = try await RawWebSocket(.unix(path: directory.file("s")))
    try await slow.expect(#""t":"h""#)
    let query = #"{"i":".key","l":1,"vf":"r"}"#
    slow.send(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#)
    slow.send(#"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","q":\#(query),"t":7,"h":""}}}"#)
    for number in 1...2 { try await slow.expect(#""r":\#(number)"#) }
    try await slow.setReading(false)
    let writer = try await server.connectAndGreet()
    try await write(1...1_000, over: writer)
    slow.send(#"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/own","d":"mine"}}}"#)
    try await slow.setReading(true)
    var view = Node.empty
    var window = Node.empty
    var count = 0
    while true {
      let text = try await slow.next()
      count += 1
      let json = try JSONParser.parse(text)
      let data = try #require(json["d"])
      if data["r"]?.integer == 3 { break }
      let isWindow = data["b"]?["t"]?.integer == 7
      let path = Path(wire: String((data["b"]?["p"]?.string ?? "").dropFirst(1)))
      let node = try Node(json: data["b"]?["d"] ?? .null)
      switch data["a"]?.string {
      case "d" where isWindow: window.update(at: path, to: node)
      case "d": view.update(at: path, to: node)
      case "m":
        for (key, child) in try #require(node.children ?? nil).map {
          if isWindow { window.update(at: path.appending(key), to: child) }
        }
      default: Issue.record("\(text.prefix(80))")
      }
    }
    // What the last response acknowledges has been seen.
    #expect(view[Path(wire: "own")] == .leaf(.string("mine")))
    #expect(count < 1_000)
    let http = try await HTTPProbe(server.address)
    let now = try Node(json: try JSONParser.parse(try await http.request("GET", "/a.json").body))
    #expect(view == now)
    #expect(window[Path(wire: "own")] == .leaf(.string("mine")))
  }

  @Test("gets only the newest data over an event stream too")
  func coalescingStream() async throws {
    let server = try await start(coalesce: 100_000)
    let stream = try await HTTPProbe(.unix(path: directory.file("s")), isReading: false)
    stream.send(HTTPProbe.text("GET", "/a.json", lines: ["Accept: text/event-stream"]))
    // The request has been handled once the metrics show the listen.
    let http = try await HTTPProbe(.unix(path: directory.file("s")))
    repeat {
    } while try await !http.request("GET", "/.info/metrics.json").body
      .contains(#""listens":1"#)
    let writer = try await server.connectAndGreet()
    try await write(1...1_000, over: writer)
    try await stream.setReading(true)
    try await stream.answer(gives: 200)
    var view = JSONValue.null
    var count = 0
    let last = #"1000\#(Self.filler)"#
    while view["k0"]?.string != last {
      let event = try await stream.chunk()
      count += 1
      guard let data = event.split(separator: "data: ").last,
        let json = try? JSONParser.parse(String(data)), json["path"]?.string == "/"
      else {
        if event.contains("/k0"), event.contains(#""1000x"#) { break }
        continue
      }
      view = json["data"] ?? .null
    }
    #expect(count < 1_000)
  }

  /// A client that listens to /a and has stopped reading.
  private func stoppedListener() async throws -> RawWebSocket {
    let socket = try await RawWebSocket(.unix(path: directory.file("s")))
    _ = try await socket.next()
    socket.send(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#)
    _ = try await socket.next()
    try await socket.setReading(false)
    return socket
  }

  @Test("is disconnected when too much output is queued")
  func tooMuch() async throws {
    // Nothing is merged, so that everything waits.
    let server = try await start(coalesce: 1 << 30, bytes: 200_000)
    let slow = try await stoppedListener()
    let writer = try await server.connectAndGreet()
    try await write(1...1_000, over: writer)
    try await slow.setReading(true)
    #expect(try await slow.closeCode() == 0)
    let http = try await HTTPProbe(.unix(path: directory.file("s")))
    let metrics = try await http.request("GET", "/.info/metrics.json").body
    #expect(metrics.contains(#""droppedConnections":1"#))
  }

  @Test("is disconnected when it reads nothing for too long")
  func tooLong() async throws {
    let server = try await start(coalesce: 1 << 30, seconds: 1)
    let slow = try await stoppedListener()
    defer { withExtendedLifetime(slow) {} }
    let writer = try await server.connectAndGreet()
    try await write(1...500, over: writer)
    let http = try await HTTPProbe(.unix(path: directory.file("s")))
    repeat {
    } while try await !http.request("GET", "/.info/metrics.json").body
      .contains(#""droppedConnections":1"#)
    try await write(501...502, over: writer)
  }
}
