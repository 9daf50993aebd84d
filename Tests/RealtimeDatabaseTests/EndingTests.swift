import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase
import TestSupport
import Testing

/// What happens to unfinished operations when the connection or the last reference goes away.
@Suite("Interrupted operations", .timeLimit(.minutes(1)), .cleansUp)
struct EndingTests {
  private static let increment: @Sendable (MutableData) -> TransactionResult = { data in
    data.value = (data.value as? Int ?? 0) + 1
    return .success(withValue: data)
  }

  // MARK: goOffline

  @Test("Going offline keeps a transaction sent to a server with exactly-once writes")
  func offlineTransactionOnce() async throws {
    let station = try await Station()
    let database = try station.open()
    let ref = database.reference(withPath: "count")
    try await ref.setValue(1)
    let ends = Record<Bool>()
    func race() {
      for _ in 0..<20 {
        ref.runTransactionBlock(Self.increment) { _, committed, _ in ends.append(committed) }
        database.goOffline()
        database.goOnline()
      }
    }
    race()
    #expect(await ends.wait(for: 20).allSatisfy(\.self))
    #expect(try await station.open().reference(withPath: "count").getData().value as? Int == 21)
  }

  @Test("Going offline inside a transaction block loses nothing")
  func offlineInBlock() async throws {
    let station = try await Station()
    let database = try station.open()
    let ref = database.reference(withPath: "count")
    try await ref.setValue(1)
    let runs = NIOLockedValueBox(0)
    let ends = Record<Bool>()
    func begin() {
      ref.runTransactionBlock { data in
        let run = runs.withLockedValue { runs in
          runs += 1
          return runs
        }
        if run == 1 {
          database.goOffline()
          database.goOnline()
        }
        return Self.increment(data)
      } andCompletionBlock: { _, committed, _ in
        ends.append(committed)
      }
    }
    begin()
    #expect(await ends.wait(for: 1) == [true])
    #expect(try await station.open().reference(withPath: "count").getData().value as? Int == 2)
  }

  // MARK: Tries

  @Test("A transaction that always loses the race fails with maxretry after its attempts")
  func tries() async throws {
    let server = try await ScriptedServer { id, request in
      if case .write = request {
        return [.response(id: id, ServerMessage.Response(.dataStale))]
      }
      return [ScriptedServer.accepted(id)]
    }
    var options = DatabaseOptions()
    options.transactionTries = 4
    options.transactionRetryDelay = .milliseconds(1)
    let ref = try server.open(options).reference(withPath: "count")
    let error = await #expect(throws: DatabaseError.self) {
      try await ref.runTransactionBlock(Self.increment)
    }
    #expect(error?.kind == .maximumRetries)
    #expect(error?.path == "/count")
    let writes = server.requests.elements.count { if case .write = $0 { true } else { false } }
    #expect(writes == 4)
  }

  @Test("Eight concurrent clients increment one counter without a loss or a failure")
  func contention() async throws {
    let station = try await Station()
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        let ref = try station.open().reference(withPath: "count")
        group.addTask {
          for _ in 0..<10 {
            let (committed, _) = try await ref.runTransactionBlock(Self.increment)
            #expect(committed)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await station.open().reference(withPath: "count").getData().value as? Int == 80)
  }

  // MARK: close

  @Test("Observers of a closed database end with unavailable, whenever they were added")
  func closed() async throws {
    let server = try await ScriptedServer { _, _ in [] }
    let database = try server.open()
    let ref = database.reference(withPath: "v")
    let ends = Record<DatabaseError.Kind?>()
    func observe() {
      let cancel = { (error: any Error) in ends.append((error as? DatabaseError)?.kind) }
      ref.observe(.value, with: { _ in }, withCancel: cancel)
      ref.observeSingleEvent(of: .value, with: { _ in }, withCancel: cancel)
    }
    func kind(_ body: () async throws -> Void) async -> DatabaseError.Kind? {
      do {
        try await body()
        return nil
      } catch {
        return (error as? DatabaseError)?.kind
      }
    }
    var early = ref.snapshots.makeAsyncIterator()
    observe()
    await database.close()
    var late = ref.childEvents().makeAsyncIterator()
    observe()
    #expect(await ends.wait(for: 4) == [.unavailable, .unavailable, .unavailable, .unavailable])
    #expect(await kind { _ = try await early.next() } == .unavailable)
    #expect(await kind { _ = try await late.next() } == .unavailable)
    #expect(await ref.observeSingleEvent(of: .value).exists() == false)
  }

  // MARK: The last reference

  @Test("The last reference may be dropped inside a callback")
  func droppedInCallback() async throws {
    let server = try await ScriptedServer()
    let kept = NIOLockedValueBox<DatabaseReference?>(nil)
    func begin() throws {
      let ref = try server.open().reference(withPath: "v")
      kept.withLockedValue { $0 = ref }
      ref.observeSingleEvent(of: .value) { _ in kept.withLockedValue { $0 = nil } }
    }
    try begin()
    await server.ends.wait(for: 1)
    #expect(kept.withLockedValue { $0 == nil })
  }

  @Test("A transaction keeps its database open until it ends, and no longer")
  func droppedDuringTransaction() async throws {
    let server = try await ScriptedServer()
    let ends = Record<Bool>()
    func begin() throws {
      try server.open().reference(withPath: "count")
        .runTransactionBlock(Self.increment) { _, committed, _ in ends.append(committed) }
    }
    try begin()
    #expect(await ends.wait(for: 1) == [true])
    await server.ends.wait(for: 1)
  }

  @Test("An observer keeps its database open until removed, even inside its own callback")
  func droppedWithObserver() async throws {
    let server = try await ScriptedServer()
    let told = Record<Bool>()
    func begin() throws {
      let ref = try server.open().reference(withPath: "v")
      ref.observe(.value) { snapshot in
        told.append(snapshot.exists())
        snapshot.ref.removeAllObservers()
      }
    }
    try begin()
    await told.wait(for: 1)
    await server.ends.wait(for: 1)
    #expect(told.elements == [false])
  }
}
