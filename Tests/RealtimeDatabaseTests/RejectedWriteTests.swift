import Foundation
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("Rejected operations", .timeLimit(.minutes(1)), .cleansUp)
struct RejectedWriteTests {
  @Test("A denied observer gets the reason and the location and is removed")
  func observer() async throws {
    let server = try await ScriptedServer.refusing()
    let database = try server.open()
    let told = Record<DatabaseError>()
    database.reference(withPath: "a/b").observe(.value) { _ in
    } withCancel: { error in
      if let error = error as? DatabaseError { told.append(error) }
    }
    let expected = DatabaseError(.permissionDenied, path: "/a/b", reason: "not for you")
    #expect(await told.wait(for: 1) == [expected])
    #expect(expected.localizedDescription == "not for you")
  }

  @Test("Denied reads, writes and sequences throw the server's reason")
  func awaited() async throws {
    let server = try await ScriptedServer.refusing()
    let ref = try server.open().reference(withPath: "a")
    let expected = DatabaseError(.permissionDenied, path: "/a", reason: "not for you")
    await #expect(throws: expected) { try await ref.getData() }
    await #expect(throws: expected) { try await ref.setValue(1) }
    await #expect(throws: expected) { try await ref.onDisconnectRemoveValue() }
    await #expect(throws: expected) {
      for try await _ in ref.snapshots {}
    }
    await #expect(throws: expected) {
      for try await _ in ref.childEvents() {}
    }
    #expect(await ref.observeSingleEvent(of: .value).exists() == false)
  }

  @Test("A denied write shows locally at once and is reverted before its completion")
  func rollback() async throws {
    let server = try await ScriptedServer.refusing(listens: false)
    let database = try server.open()
    let data = database.reference(withPath: "a")
    let told = Record<Int>()
    func write() {
      database.goOffline()
      data.observe(.value) { told.append($0.value as? Int ?? 0) }
      data.setValue(7) { _, _ in told.append(-1) }
      database.goOnline()
    }
    write()
    #expect(await told.wait(for: 3) == [7, 0, -1])
  }

  @Test("With persistence, nothing comes between a denied write's rollback and its completion")
  func storedRollback() async throws {
    let server = try await ScriptedServer.refusing(listens: false)
    let keeping = try Keeping()
    let database = try keeping.open(server.url)
    let (data, other) = (database.reference(withPath: "a"), database.reference(withPath: "b"))
    let told = Record<String>()
    other.observe(.value) { told.append("other \($0.json)") }
    data.observe(.value) { snapshot in
      told.append("data \(snapshot.json)")
      // Events of what is written now are raised at once.
      if !snapshot.exists() { other.setValue(told.elements.count) { _, _ in } }
    }
    for number in 1...20 {
      data.setValue(number) { _, _ in told.append("denied") }
      await told.wait { events in events.filter { $0 == "denied" }.count == number }
    }
    let events = told.elements
    for (event, next) in zip(events.dropFirst(), events.dropFirst(2)) where event == "data null" {
      #expect(next == "denied")
    }
    await database.close()
  }

  // Differs: If a connected server does not
  @Test("A read without a response from the server fails at its deadline")
  func silence() async throws {
    let server = try await ScriptedServer { _, _ in [] }
    var options = DatabaseOptions()
    options.readDeadline = .milliseconds(200)
    let ref = try server.open(options).reference(withPath: "a")
    let told = Record<Bool>()
    ref.root.child(".info/connected").observe(.value) { told.append($0.value as? Bool ?? false) }
    await told.wait { $0.contains(true) }
    let error = await #expect(throws: DatabaseError.self) { try await ref.getData() }
    #expect(error?.kind == .timedOut)
    #expect(error?.path == "/a")
  }
}
