import NIOCore
import RealtimeHub
import RealtimeTransport
import RealtimeTree
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("While a store fails", .timeLimit(.minutes(2)))
struct StoreFailureTests {
  @Test("a write is refused with what is wrong, which administrators see, until it works again")
  func status() async throws {
    let directory = try TemporaryDirectory()
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(
      .init(socketPath: directory.file("s"), port: 0, rules: .open),
      store: store
    )
    let http = try await HTTPProbe(.unix(path: directory.file("s")))
    func storeFailure() async throws -> JSONValue? {
      let body = try await http.request("GET", "/.info/metrics.json").body
      return try JSONParser.parse(body)["databases"]?["hearth"]?["storeFailure"]
    }
    #expect(try await storeFailure() == .null)
    for (kind, status) in [(StoreError.Kind.full, 507), (.failed, 503), (.damaged, 500)] {
      store.release(StoreError(kind, "the disk is no good"))
      let refusal = try await http.request("PUT", "/a.json", "1")
      #expect(refusal.status == status, "\(kind)")
      #expect(refusal.body == #"{"error":"the disk is no good"}"#)
      #expect(try await storeFailure() == .string("\(kind)"))
      #expect(try await http.request("GET", "/a.json").body == "null")
    }
    store.release(StoreError(.full, "the disk is no good"))
    let rules = try await http.request("PUT", "/.settings/rules.json", #"{"rules":{}}"#)
    #expect(rules.status == 507)
    // Whatever else is unavailable is not the fault of the store.
    #expect(try await http.request("GET", "/a.json?ns=none").status == 404)
    store.open()
    #expect(try await http.request("PUT", "/a.json", "1").status == 200)
    #expect(try await storeFailure() == .null)
    #expect(try await http.request("PUT", "/a.json", "2").body == "2")
    await server.stop()
  }

  @Test("it is left alone a little longer each time, but never for long")
  func delays() {
    let delays = (1...7).map { WriteBatcher.delay(after: $0) }
    let expected = [200, 400, 800, 1_600, 3_200, 3_200, 3_200].map { TimeAmount.milliseconds($0) }
    #expect(delays == expected)
    #expect(WriteBatcher.delay(after: .max) == .milliseconds(3_200))
  }
}
