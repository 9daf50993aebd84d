import Dispatch
import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase
import TestSupport
import Testing

/// Defects that users of other clients of this protocol have reported, as tests of the whole
/// client.
@Suite("Reported bugs: the client", .timeLimit(.minutes(1)), .cleansUp)
struct ReportedDefectTests {
  // Differs: The main queue is served
  @Test("A finished script exits even if its database is connected and observed")
  func scriptExits() async {
    await #expect(processExitsWith: .success) {
      let station = try await Station()
      // On the main queue, like a script that never runs that queue.
      let database = try Database(url: station.url)
      let ref = database.reference(withPath: "script")
      ref.observe(.value) { _ in }
      try await ref.setValue(1)
      let (committed, _) = try await ref.runTransactionBlock { .success(withValue: $0) }
      guard committed, try await ref.getData().value as? Int == 1 else { exit(3) }
      try await ref.onDisconnectRemoveValue()
    }
  }

  // Differs: Transactions commit on every
  @Test("A transaction commits on a double that others hash differently")
  func doubles() async throws {
    let ref = try await Station().open().reference(withPath: "d")
    for value in [9_007_199_254_740_991, 63.999_999_999_999_99, 0.1 + 0.2, 1e21, -0.5] {
      try await ref.setValue(value)
      let (committed, snapshot) = try await ref.runTransactionBlock { data in
        data.value = ["was": data.value]
        return .success(withValue: data)
      }
      #expect(committed)
      #expect(snapshot.childSnapshot(forPath: "was").value as? Double == value)
    }
  }

  @Test("A child whose key is a long number is read as a child without delay")
  func largeIntegerKey() async throws {
    let ref = try await Station().open().reference(withPath: "numbers")
    try await ref.updateChildValues(["0": "a", "123456789012345": "b"])
    let value = try await ref.getData().value as? [String: String]
    #expect(value == ["0": "a", "123456789012345": "b"])
  }

  @Test(
    "Data that no server accepts is rejected locally and not sent",
    arguments: [
      "{\"a.b\":1}", "{\"a$\":1}", "{\"[\":1}", "{\"\":1}", "long key", "deep", "long string",
    ]
  )
  func illegalData(text: String) async throws {
    let server = try await ScriptedServer()
    let ref = try server.open().reference(withPath: "x")
    let error = await #expect(throws: DatabaseError.self) {
      try await ref.setValue(Self.data(text))
    }
    #expect(error?.kind == .invalidData)
    #expect(error?.path == "/x")
    // Requests keep their order: if the refused one had been sent, it would have arrived before
    // this one.
    try await ref.setValue(1)
    let puts = server.requests.elements.filter { if case .write = $0 { true } else { false } }
    #expect(puts.count == 1)
  }

  @Test("Data just within the limits is sent")
  func legalData() async throws {
    let server = try await ScriptedServer()
    let ref = try server.open().reference(withPath: "x")
    try await ref.setValue([String(repeating: "a", count: 765): 1])
    try await ref.setValue((0..<31).reduce(1 as Any) { value, _ in ["k": value] })
    try await ref.updateChildValues(["a/b": 1, "/c": 2, "d//e": 3, "f/.priority": 4])
    #expect(server.requests.elements.count == 4)
    try await ref.updateChildValues([:])
    #expect(server.requests.elements.count == 4)
  }

  private static func data(_ text: String) -> Any? {
    switch text {
    case "long key": [String(repeating: "a", count: 766): 1]
    case "deep": (0..<32).reduce(1 as Any) { value, _ in ["k": value] }
    case "long string": String(repeating: "a", count: 10_485_761)
    case _: try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }
  }
}
