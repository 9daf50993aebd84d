import NIOCore
import RealtimeCore
import RealtimeHub
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("While a store fails", .timeLimit(.minutes(2)))
struct StoreFailureTests {
  private func start(
    _ directory: TemporaryDirectory,
    _ store: GateStore
  ) async throws -> (DatabaseServer, HTTPProbe) {
    let socket = directory.file("s")
    let options = DatabaseServer.Options(socketPath: socket, port: 0, rules: .open)
    let server = try await DatabaseServer.startForTest(options, store: store)
    return (server, try await HTTPProbe(.unix(path: socket)))
  }

  /// What is wrong with the store, as administrators are told.
  private func storeFailure(_ http: HTTPProbe) async throws -> JSONValue? {
    let body = try await http.request("GET", "/.info/metrics.json").body
    return try JSONParser.parse(body)["databases"]?["hearth"]?["storeFailure"]
  }

  @Test("a write is refused with what is wrong, which administrators see, until it works again")
  func status() async throws {
    let directory = try TemporaryDirectory()
    let store = GateStore()
    let (server, http) = try await start(directory, store)
    #expect(try await storeFailure(http) == .null)
    let kinds: [(kind: StoreError.Kind, status: Int, reason: String)] = [
      (.full, 507, "the disk is full"), (.failed, 503, "the disk does not work"),
      (.damaged, 500, "the stored data are damaged"),
    ]
    for (kind, status, reason) in kinds {
      // The names of files are for the log, not for clients.
      store.release(StoreError(kind, "/var/lib/hearth/hearth.sqlite: I/O error 10"))
      let refusal = try await http.request("PUT", "/a.json", "1")
      #expect(refusal.status == status, "\(kind)")
      #expect(refusal.body == #"{"error":"\#(reason)"}"#)
      #expect(try await storeFailure(http) == .string("\(kind)"))
      #expect(try await http.request("GET", "/a.json").body == "null")
    }
    store.release(StoreError(.full, "/var/lib/hearth/hearth.sqlite: I/O error 13"))
    let rules = try await http.request("PUT", "/.settings/rules.json", #"{"rules":{}}"#)
    #expect(rules.status == 507)
    // Whatever else is unavailable is not the fault of the store.
    #expect(try await http.request("GET", "/a.json?ns=none").status == 404)
    store.open()
    #expect(try await http.request("PUT", "/a.json", "1").status == 200)
    #expect(try await storeFailure(http) == .null)
    #expect(try await http.request("PUT", "/a.json", "2").body == "2")
    await server.stop()
  }

  @Test("clients of WebSockets are told no more than others")
  func reason() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let client = try await server.connectAndGreet()
    store.release(StoreError(.failed, "/var/lib/hearth/hearth.sqlite: I/O error 10"))
    client.send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#)
    let reason = #"{"s":"unavailable","d":"the disk does not work"}"#
    #expect(try await client.next() == #"{"t":"d","d":{"r":1,"b":\#(reason)}}"#)
    store.open()
    await server.stop()
  }

  @Test(
    "who may have written is not told that it has not, until the store knows",
    arguments: [true, false]
  )
  func doubt(isRepaired: Bool) async throws {
    let directory = try TemporaryDirectory()
    let store = GateStore()
    let (server, http) = try await start(directory, store)
    let client = try await server.connectAndGreet()
    let problem = "/var/lib/hearth/hearth.sqlite: I/O error 10"
    store.release(StoreError(.failed, problem, doubt: .thisBatch))
    store.fail(StoreError(.failed, problem, doubt: .earlierBatch))
    let refusal = try await http.request("PUT", "/a.json", "1")
    #expect(refusal.status == 503)
    let reason = "the disk does not work; whether this was stored is not known"
    #expect(refusal.body == #"{"error":"\#(reason)"}"#)
    // Without a key it may be one that was sent before.
    client.send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#)
    #expect(try await client.messagesUntilClosed() == [])
    #expect(try await http.request("GET", "/a.json").body == "null")
    if isRepaired {
      #expect(try await storeFailure(http) == .string("failed"))
      store.open()
      // Without anyone writing, the server finds out that the store works.
      repeat {} while try await storeFailure(http) != .null
      #expect(try await http.request("PUT", "/a.json", "2").status == 200)
    }
    // A server that stops does not wait for a store that never works.
    await server.stop()
    #expect(store.isClosed)
  }

  @Test("it is left alone a little longer each time, but never for long")
  func delays() {
    let delays = (1...7).map { WriteBatcher.delay(after: $0) }
    let expected = [200, 400, 800, 1_600, 3_200, 3_200, 3_200].map { TimeAmount.milliseconds($0) }
    #expect(delays == expected)
    #expect(WriteBatcher.delay(after: .max) == .milliseconds(3_200))
  }
}
