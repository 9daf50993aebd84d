import RealtimeDatabase
import TestSupport
import Testing

@Suite("Async sequences", .timeLimit(.minutes(1)), .cleansUp)
struct SequenceTests {
  // Differs: ``DatabaseQuery/snapshots`` keeps only
  @Test("A slow loop over snapshots gets the latest state")
  func snapshots() async throws {
    let ref = try await Station().open().reference(withPath: "n")
    var iterator = ref.snapshots.makeAsyncIterator()
    for number in 1...20 { try await ref.setValue(number) }
    _ = try await ref.getData()
    var last = 0
    while last < 20, let snapshot = try await iterator.next() {
      last = snapshot.value as? Int ?? 0
    }
    #expect(last == 20)
  }

  @Test("A loop over child events gets every event in order")
  func childEvents() async throws {
    let ref = try await Station().open().reference(withPath: "list")
    try await ref.setValue(["a": 1, "b": 2])
    let query = ref.queryOrderedByValue()
    var iterator = query.childEvents().makeAsyncIterator()
    var told: [String] = []
    for _ in 0..<2 { told.append(try await next(&iterator)) }
    try await ref.child("a").setValue(3)
    try await ref.child("b").removeValue()
    for _ in 0..<3 { told.append(try await next(&iterator)) }
    #expect(told == ["+a after nil", "+b after a", "^a after b", "=a after b", "-b"])
  }

  private func next(
    _ iterator: inout DatabaseChildEventsSequence.Iterator
  ) async throws -> String {
    switch try await iterator.next() {
    case .childAdded(let child, let previous)?: "+\(child.key) after \(previous ?? "nil")"
    case .childChanged(let child, let previous)?: "=\(child.key) after \(previous ?? "nil")"
    case .childMoved(let child, let previous)?: "^\(child.key) after \(previous ?? "nil")"
    case .childRemoved(let child)?: "-\(child.key)"
    case nil: "end"
    }
  }

  @Test("Too many buffered events end the loop with an error, after the buffered ones")
  func overflow() async throws {
    let ref = try await Station().open().reference(withPath: "list")
    let drained = Record<Bool>()
    var iterator = ref.childEvents(bufferingAtMost: 2).makeAsyncIterator()
    ref.observe(.value) { drained.append($0.childrenCount == 3) }
    try await ref.updateChildValues(["a": 1, "b": 2, "c": 3])
    await drained.wait { $0.contains(true) }
    #expect(try await iterator.next()?.snapshot.key == "a")
    #expect(try await iterator.next()?.snapshot.key == "b")
    do {
      _ = try await iterator.next()
      Issue.record("the sequence did not end with an error")
    } catch {
      #expect((error as? DatabaseError)?.kind == .overflow)
    }
  }

  @Test("A canceled loop ends, and its observer releases the database")
  func cancellation() async throws {
    let server = try await ScriptedServer()
    weak var dropped: Database?
    do {
      let ref = try server.open().reference(withPath: "n")
      dropped = ref.database
      let begun = Record<Bool>()
      let task = Task {
        for try await _ in ref.snapshots { begun.append(true) }
        return true
      }
      await begun.wait(for: 1)
      task.cancel()
      #expect(try await task.value)
    }
    await server.ends.wait(for: 1)
    #expect(dropped == nil)
  }
}
