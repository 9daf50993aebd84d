import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("A store that cannot write", .timeLimit(.minutes(2)), .cleansUp)
struct StoreFailureTests {
  private func start(
    _ directory: TemporaryDirectory,
    _ store: GateStore
  ) async throws -> HTTPProbe {
    let socket = directory.file("s")
    let options = DatabaseServer.Options(socketPath: socket, port: 0, rules: .open)
    _ = try await DatabaseServer.startForTest(options, store: store)
    return try await HTTPProbe(.unix(path: socket))
  }

  /// The store failure that administrators see.
  private func storeFailure(_ http: HTTPProbe) async throws -> JSONValue? {
    let body = try await http.request("GET", "/.info/metrics.json").body
    return try JSONParser.parse(body)["databases"]?["hearth"]?["storeFailure"]
  }

  @Test("Writes are refused with the reason, which administrators see, until the store recovers")
  func status() async throws {
    let directory = try TemporaryDirectory()
    let store = GateStore()
    let http = try await start(directory, store)
    #expect(try await storeFailure(http) == .null)
    let kinds: [(kind: StoreError.Kind, status: Int, reason: String)] = [
      (.full, 507, "the disk is full"), (.busy, 503, "the data cannot be written right now"),
    ]
    for (kind, status, reason) in kinds {
      // File names belong in the log, not in responses to clients.
      store.release(StoreError(kind, description: "/var/lib/hearth/hearth.sqlite: I/O error 10"))
      let refusal = try await http.request("PUT", "/a.json", "1")
      #expect(refusal.status == status, "\(kind)")
      #expect(refusal.body == #"{"error":"\#(reason)"}"#)
      #expect(try await storeFailure(http) == .string("\(kind)"))
      try await http.request("GET", "/a.json", gives: "null")
    }
    store.release(StoreError(.full, description: "/var/lib/hearth/hearth.sqlite: I/O error 13"))
    try await http.request("PUT", "/.settings/rules.json", #"{"rules":{}}"#, gives: 507)
    // Other things being unavailable is not the fault of the store.
    try await http.request("GET", "/a.json?ns=none", gives: 404)
    store.open()
    try await http.request("PUT", "/a.json", "1", gives: 200)
    #expect(try await storeFailure(http) == .null)
    try await http.request("PUT", "/a.json", "2", gives: "2")
  }
}
