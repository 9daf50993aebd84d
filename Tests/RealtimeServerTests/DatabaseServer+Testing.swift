import RealtimeHub
import RealtimeServer
import RealtimeTransport
import Testing
import TransportTestSupport

extension DatabaseServer {
  /// A server on a free port, with a fixed time.
  static func startForTest(
    _ options: Options = Options(port: 0, rules: .open),
    store: any TreeStore = MemoryTreeStore()
  ) async throws -> DatabaseServer {
    try await start(options, store: store, clock: { 1_700_000_000_000 })
  }

  /// A connection whose greeting is still to come.
  func connect(lastSession: String? = nil) async throws -> ClientProbe {
    let url = try DatabaseURL(try #require(urls.first))
    return try await ClientProbe(url.target, lastSession: lastSession)
  }

  /// A connection that has been greeted.
  func connectAndGreet() async throws -> ClientProbe {
    let client = try await connect()
    #expect(try await client.next().contains("\"t\":\"h\""))
    return client
  }

  /// Where the server listens, for bytes that are no protocol.
  var address: ListenAddress {
    get throws { .loopback(port: try #require(port)) }
  }
}
