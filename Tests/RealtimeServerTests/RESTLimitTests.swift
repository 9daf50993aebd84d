import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// What one request, stream or user may cost over REST.
@Suite("REST limits", .timeLimit(.minutes(2)), .cleansUp)
struct RESTLimitTests {
  @Test("A user's request counts while it is in progress")
  func requestsPerUser() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.start(limiting: ["connections-per-user": 1], store: store)
    let slow = try await HTTPProbe(server.address)
    slow.send(HTTPProbe.text("PUT", "/a.json?auth=ann", "1"))
    try await store.waitForCommit()
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/b.json?auth=ann", gives: 429)
    store.open()
    try await slow.answer(gives: 200)
    try await http.request("GET", "/b.json?auth=ann", gives: 200)
  }

  // MARK: Sizes

  /// This many children, each with a value.
  private func children(_ count: Int) -> Node {
    Node(sortedChildren: (0..<count).map { (ChildKey("k\(1_000_000 + $0)"), .bool(true)) })
  }

  @Test("The write size limit counts the values removed, replaced and written")
  func writeSizes() async throws {
    let root = Node(sortedChildren: [
      (ChildKey("at"), children(100_000)), (ChildKey("beyond"), children(100_001)),
    ])
    let server = try await DatabaseServer.start(
      limiting: [:],
      store: MemoryTreeStore(StoredTree(root: root))
    )
    let http = try await HTTPProbe(server.address)
    let refusal =
      #"{"error":"Data to write exceeds the maximum size that can be modified with a single request."}"#
    for (method, target, body) in [
      ("DELETE", "/beyond.json", nil), ("DELETE", "/.json", nil),
      ("PUT", "/beyond.json", "1"), ("PATCH", "/.json", #"{"beyond":null}"#),
      ("PATCH", "/.json", #"{"at":null,"beyond/k1000000":null}"#),
    ] {
      let answer = try await http.request(method, target + "?writeSizeLimit=tiny", body)
      #expect(answer.status == 400, "\(method) \(target)")
      #expect(answer.body == refusal)
    }
    #expect(try await http.request("GET", "/.json?shallow=true").body.contains("beyond"))
    try await http.request("DELETE", "/at.json?writeSizeLimit=tiny", gives: 200)
    try await http.request("DELETE", "/beyond.json?writeSizeLimit=small", gives: 200)
    try await http.request("GET", "/.json", gives: "null")
  }

  @Test("The write size limit does not tell the size of data that may not be read")
  func hiddenSizes() async throws {
    let root = Node(sortedChildren: [(ChildKey("hidden"), children(100_001))])
    let server = try await DatabaseServer.start(
      limiting: [:],
      rules: .source(#"{"rules": {"box": {".write": true}}}"#),
      store: MemoryTreeStore(StoredTree(root: root))
    )
    let http = try await HTTPProbe(server.address)
    for (method, target, body) in [
      ("DELETE", "/hidden.json", nil), ("DELETE", "/none.json", nil), ("PUT", "/hidden.json", "1"),
      ("PATCH", "/.json", #"{"hidden":null}"#),
    ] {
      let answer = try await http.request(method, target + "?writeSizeLimit=tiny", body)
      #expect(answer.status == 401, "\(method) \(target)")
    }
  }

  @Test("The write size limit counts the bytes sent")
  func writeLengths() async throws {
    let server = try await DatabaseServer.start(limiting: [:])
    let http = try await HTTPProbe(server.address)
    let text = #"{"a":""# + String(repeating: "x", count: 8 * 1_024 * 1_024 - 8) + #""}"#
    let tiny = "/a.json?print=silent&writeSizeLimit=tiny"
    try await http.request("PUT", tiny, text, gives: 204)
    try await http.request("PUT", tiny, text + " ", gives: 400)
    try await http.request("POST", tiny, text + " ", gives: 400)
    try await http.request("PUT", "/a.json?print=silent", text + " ", gives: 204)
  }

  @Test("Each write size stands for the documented time")
  func writeTimes() {
    let seconds = WriteSize.allCases.map(\.target)
    #expect(seconds == [.seconds(1), .seconds(10), .seconds(30), .seconds(60), nil])
    var estimate = WriteEstimate(upTo: .seconds(1), bytes: 0)
    #expect(estimate.duration == .zero)
    estimate.add(.empty)
    #expect(estimate.duration == .zero)
    estimate.add(children(100_000))
    #expect(estimate.duration == .seconds(1))
    estimate.add(.bool(true))
    #expect(estimate.duration > .seconds(1))
    #expect(WriteEstimate(upTo: .seconds(1), bytes: 8 << 20).duration == .seconds(1))
  }
}
