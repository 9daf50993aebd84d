import Dispatch
import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase
import TestSupport
import Testing

/// Removing observers, in different ways, while events are being delivered.
@Suite("Observer removal during events", .timeLimit(.minutes(1)), .cleansUp)
struct RemovalTests {
  /// A list with three entries, whose callbacks wait until the queue is resumed.
  private func list(_ station: Station) async throws -> DatabaseReference {
    let ref = try station.open().reference(withPath: "list")
    try await ref.setValue(["a": 1, "b": 2, "c": 3])
    ref.database.callbackQueue.suspend()
    return ref
  }

  @Test(
    "An observer removed by another's callback still gets the current event, unless silenced",
    arguments: [false, true]
  )
  func removedByAnother(isSilenced: Bool) async throws {
    let station = try await Station()
    let ref = try await list(station)
    if isSilenced { ref.database.silenceRemovedObservers() }
    let told = Record<String>()
    let victim = NIOLockedValueBox<DatabaseHandle?>(nil)
    ref.observe(.value) { _ in
      if let victim = victim.withLockedValue({ $0 }) { ref.removeObserver(withHandle: victim) }
      told.append("first")
    }
    let handle = ref.observe(.value) { _ in told.append("victim") }
    ref.observe(.value) { _ in told.append("last") }
    ref.database.callbackQueue.resume()
    // Whoever is removed before the engine knows of it has no current event.
    var events = await told.wait(for: 3)
    victim.withLockedValue { $0 = handle }
    try await ref.child("a").setValue(8)
    events += isSilenced ? ["first", "last"] : ["first", "victim", "last"]
    #expect(await told.wait(for: events.count) == events)
    try await ref.child("a").setValue(9)
    await told.wait(for: events.count + 2)
    #expect(told.elements == events + ["first", "last"])
  }

  @Test("A child event's callback can remove observers of the parent and of its own query")
  func removedAcrossPlaces() async throws {
    let station = try await Station()
    let ref = try await list(station)
    let told = Record<String>()
    ref.queryLimited(toFirst: 3).observe(.childAdded) { snapshot in
      told.append(snapshot.key)
      ref.parent?.removeAllObservers()
      ref.queryLimited(toFirst: 3).removeAllObservers()
    }
    ref.parent?.observe(.value) { _ in told.append("above") }
    ref.child("c").observe(.value) { _ in told.append("below") }
    ref.database.callbackQueue.resume()
    await told.wait { $0.contains("below") && $0.contains("a") }
    // Another observer of the same path starts from the beginning.
    let again = Record<String>()
    ref.observe(.childAdded) { again.append($0.key) }
    #expect(await again.wait(for: 3).sorted() == ["a", "b", "c"])
    try await ref.child("d").setValue(4)
    #expect(await again.wait(for: 4).last == "d")
    // What had happened when it was removed is delivered, and nothing that happens later.
    #expect(told.elements.filter { $0 != "above" && $0 != "below" } == ["a", "b", "c"])
  }

  @Test("A write's completion can remove the observer that is about to get the write")
  func removedInCompletion() async throws {
    let ref = try await Station().open().reference(withPath: "v")
    let told = Record<Int>()
    let done = Record<Int>()
    func write() {
      let handle = ref.observe(.value) { told.append($0.value as? Int ?? -1) }
      ref.setValue(1) { _, ref in
        ref.removeObserver(withHandle: handle)
        done.append(told.elements.count)
        ref.setValue(2) { _, _ in done.append(told.elements.count) }
      }
    }
    write()
    let counts = await done.wait(for: 2)
    #expect(counts[0] == counts[1])
    #expect(!told.elements.contains(2))
  }

  @Test("A transaction block can remove an observer without a deadlock")
  func removedInTransaction() async throws {
    let ref = try await Station().open().reference(withPath: "count")
    try await ref.setValue(1)
    let told = Record<Int>()
    let handle = ref.observe(.value) { told.append($0.value as? Int ?? -1) }
    await told.wait { $0.contains(1) }
    let (committed, snapshot) = try await ref.runTransactionBlock { data in
      ref.removeObserver(withHandle: handle)
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    }
    #expect(committed)
    #expect(snapshot.value as? Int == 2)
    #expect(told.elements == [1])
  }

  @Test("A cancel block can remove its own observer and another one")
  func removedInCancel() async throws {
    let server = try await ScriptedServer { id, request in
      [
        { if case .listen = request { true } else { false } }()
          ? ScriptedServer.refused(id, .permissionDenied) : ScriptedServer.accepted(id)
      ]
    }
    let database = try server.open()
    let ref = database.reference(withPath: "x")
    database.callbackQueue.suspend()
    let told = Record<String>()
    let own = NIOLockedValueBox<DatabaseHandle>(0)
    let handle = ref.observe(.value) { _ in
    } withCancel: { _ in
      told.append("first")
      ref.removeObserver(withHandle: own.withLockedValue { $0 })
      ref.removeAllObservers()
    }
    own.withLockedValue { $0 = handle }
    ref.observe(.childAdded) { _ in
    } withCancel: { _ in
      told.append("removed after it was refused")
    }
    database.callbackQueue.resume()
    await told.wait(for: 2)
    try await ref.parent?.child("y").setValue(1)
    #expect(told.elements == ["first", "removed after it was refused"])
  }

  @Test("An observer that is removed before the server answers is never called")
  func removedBeforeAnswer() async throws {
    let ref = try await Station().open().reference(withPath: "v")
    try await ref.setValue(1)
    let told = Record<String>()
    for _ in 0..<50 {
      let handle = ref.observe(.value) { _ in told.append("removed") }
      ref.removeObserver(withHandle: handle)
    }
    ref.observe(.value) { _ in told.append("kept") }
    await told.wait { $0.contains("kept") }
    #expect(try await ref.getData().value as? Int == 1)
    #expect(told.elements == ["kept"])
  }

  @Test("A handle removes only an observer of its own location and query")
  func removedElsewhere() async throws {
    let ref = try await Station().open().reference(withPath: "list")
    try await ref.setValue(["a": 1])
    let told = Record<String>()
    let whole = ref.observe(.value) { _ in told.append("whole") }
    let window = ref.queryLimited(toLast: 1).observe(.value) { _ in told.append("window") }
    await told.wait { Set($0) == ["whole", "window"] }
    let other = ref.database.reference(withPath: "other")
    for handle in [whole, window] {
      other.removeObserver(withHandle: handle)
      ref.child("a").removeObserver(withHandle: handle)
      ref.queryLimited(toLast: 2).removeObserver(withHandle: handle)
    }
    ref.queryLimited(toLast: 1).removeObserver(withHandle: whole)
    let before = told.elements.count
    try await ref.child("a").setValue(2)
    await told.wait { Set($0.dropFirst(before)) == ["whole", "window"] }
    ref.removeObserver(withHandle: window)
    ref.removeObserver(withHandle: whole)
    let after = told.elements.count
    try await ref.child("a").setValue(3)
    #expect(told.elements.count == after)
  }

  @Test("Removing a handle twice, or one of no observer, does nothing")
  func removedTwice() async throws {
    let ref = try await Station().open().reference(withPath: "v")
    let told = Record<Int>()
    let handle = ref.observe(.value) { _ in told.append(0) }
    ref.removeObserver(withHandle: handle)
    ref.removeObserver(withHandle: handle)
    ref.removeObserver(withHandle: .max)
    ref.observe(.value) { told.append($0.value as? Int ?? -1) }
    try await ref.setValue(5)
    await told.wait { $0.contains(5) }
    #expect(!told.elements.contains(0))
  }
}
