import Logging
import RealtimeServer
import RealtimeTransport
import Testing
import TransportTestSupport

extension DatabaseServer {
  /// Starts a server on a free port, with a fixed clock.
  static func startForTest(
    _ options: Options = Options(port: 0, rules: .open),
    store: any TreeStore = MemoryTreeStore(),
    logger: Logger = Logger(label: "hearth.server")
  ) async throws -> DatabaseServer {
    try await start(options, store: store, logger: logger, clock: { 1_700_000_000_000 })
  }

  /// A connection that has not received its greeting yet.
  func connect(lastSession: String? = nil) async throws -> ClientProbe {
    let url = try DatabaseURL(try #require(urls.first))
    return try await ClientProbe(url.target, lastSession: lastSession)
  }

  /// A connection that has received its greeting.
  func connectAndGreet() async throws -> ClientProbe {
    let client = try await connect()
    #expect(try await client.next().contains("\"t\":\"h\""))
    return client
  }

  /// The address that the server listens on, for raw bytes.
  var address: ListenAddress {
    get throws { .loopback(port: try #require(port)) }
  }
}

/// A client that receives its messages one by one.
protocol MessageProbe {
  func send(_ text: String)
  func next() async throws -> String
}

extension ClientProbe: MessageProbe {}
extension RawWebSocket: MessageProbe {}

extension MessageProbe {
  /// Sends a request, and expects the next message to say that it has succeeded.
  func ask(
    _ id: Int,
    _ action: String,
    _ body: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    send(#"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":\#(body)}}"#)
    let answer = try await next()
    let isSuccess = answer.contains(#""r":\#(id),"b":{"s":"ok""#)
    #expect(isSuccess, "\(answer.prefix(300))", sourceLocation: sourceLocation)
  }
}
