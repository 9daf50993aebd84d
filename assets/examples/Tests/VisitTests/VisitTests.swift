import RealtimeDatabase
import RealtimeServer
import Testing

/// A server in the process of a test: the code under test talks to a real database, and what one test
/// leaves there no other test finds.
@Suite("Visits")
struct VisitTests {
  @Test("A hundred concurrent visits are all counted")
  func counting() async throws {
    let server = try await DatabaseServer.start(.emulator(port: 0))
    let url = try #require(server.urls.first)
    let visits = try Database(url: url).reference(withPath: "visits")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask { try await visits.setValue(ServerValue.increment(1)) }
      }
      try await group.waitForAll()
    }
    #expect(try await visits.getData().value as? Int == 100)
    await server.stop()
  }

  @Test("A write that the rules forbid is denied")
  func rules() async throws {
    let server = try await DatabaseServer.start(.emulator(port: 0))
    try await server.setRules(#"{"rules": {"visits": {".read": true, ".write": false}}}"#)
    let visits = try Database(url: try #require(server.urls.first)).reference(withPath: "visits")
    let error = await #expect(throws: DatabaseError.self) { try await visits.setValue(1) }
    #expect(error?.kind == .permissionDenied)
    await server.stop()
  }
}
