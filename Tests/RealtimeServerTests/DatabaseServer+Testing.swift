import Logging
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

extension DatabaseServer {
  /// Has the server stop once the test is over.
  func endingWithTest() -> DatabaseServer {
    afterTest { await self.stop() }
    return self
  }

  /// Starts a server on a free port for one test, with a fixed clock.
  static func startForTest(
    _ options: Options = Options(port: 0, rules: .open),
    store: any TreeStore = MemoryTreeStore(),
    logger: Logger = Logger(label: "hearth.server")
  ) async throws -> DatabaseServer {
    try await start(options, store: store, logger: logger, clock: { 1_700_000_000_000 })
      .endingWithTest()
  }

  /// Starts a server with some limits for one test, whose users sign in with their names.
  static func start(
    limiting settings: [String: Int],
    rules: Rules = .open,
    socketPath: String? = nil,
    store: any TreeStore = MemoryTreeStore()
  ) async throws -> DatabaseServer {
    var options = Options(socketPath: socketPath, port: 0, rules: rules)
    for (name, value) in settings { try options.limits.set(name, to: value) }
    options.credentialVerifier = NamedVerifier()
    return try await start(options, store: store).endingWithTest()
  }

  /// A connection to a database at the server's port that has not received its greeting yet.
  func connect(to name: String, lastSession: String? = nil) async throws -> ClientProbe {
    let port = try #require(port)
    return try await ClientProbe(
      ConnectionTarget(host: "127.0.0.1", port: port, namespace: name),
      lastSession: lastSession
    )
  }

  /// A connection that has not received its greeting yet.
  func connect(lastSession: String? = nil) async throws -> ClientProbe {
    let url = try DatabaseURL(try #require(urls.first))
    return try await ClientProbe(url.target, lastSession: lastSession)
  }

  func connectAndGreet() async throws -> ClientProbe {
    let client = try await connect()
    try await client.expect("\"t\":\"h\"")
    return client
  }

  /// The address that the server listens on, for raw bytes.
  var address: ListenAddress {
    get throws { .loopback(port: try #require(port)) }
  }
}

/// Waits until a condition holds, at most twenty seconds, and expects that it does.
func eventually(
  sourceLocation: SourceLocation = #_sourceLocation,
  _ isSo: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + .seconds(20)
  var holds = try await isSo()
  while !holds, .now < deadline {
    await Task.yield()
    holds = try await isSo()
  }
  #expect(holds, sourceLocation: sourceLocation)
}

/// Something that receives messages one by one.
protocol MessageReader {
  func next() async throws -> String
}

extension MessageReader {
  /// Receives the next message, and expects it to contain some texts.
  @discardableResult
  func expect(
    _ texts: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let message = try await next()
    for text in texts {
      let contains = message.contains(text)
      #expect(contains, "\(message.prefix(300)) lacks \(text)", sourceLocation: sourceLocation)
    }
    return message
  }
}

/// A client that sends and receives messages.
protocol MessageProbe: MessageReader {
  func send(_ text: String)
}

extension ClientProbe: MessageProbe {}
extension RawWebSocket: MessageProbe {}
extension PollingProbe: MessageReader {}

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
