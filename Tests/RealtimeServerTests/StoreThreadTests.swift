import Glibc
import NIOCore
import NIOPosix
import RealtimeCore
import Synchronization
import Testing

@testable import RealtimeServer

@Suite("StoreThread", .timeLimit(.minutes(2)))
struct StoreThreadTests {
  private func batch(_ revision: Int64) -> CommitBatch {
    CommitBatch(commits: [
      Commit(revision: revision, timestamp: 0, changes: [Change("n", to: .integer(revision))])
    ])
  }

  /// Stores batches while the first waits at the gate, and yields each outcome as it arrives.
  private func store(
    _ store: GateStore,
    _ outcomes: AsyncStream<StoreThread.Outcome>.Continuation
  ) async throws -> StoreThread {
    let thread = try await open(store)
    let first = batch(1)
    try await thread.eventLoop.submit {
      thread.onOutcome = { outcomes.yield($0) }
      thread.commit(first)
    }.get()
    try await store.waitForCommit()
    let later = [batch(2), batch(3)]
    try await thread.eventLoop.submit { for batch in later { thread.commit(batch) } }.get()
    return thread
  }

  @Test("joins batches that arrive while it is busy")
  func joins() async throws {
    let gate = GateStore()
    let (outcomes, continuation) = AsyncStream.makeStream(of: StoreThread.Outcome.self)
    let thread = try await store(gate, continuation)
    gate.open()
    var arrived = outcomes.makeAsyncIterator()
    #expect(await arrived.next()?.batches == 1)
    #expect(await arrived.next()?.batches == 2)
    #expect(gate.commitCount == 2)
    #expect(gate.load().revision == 3)
    try await thread.close().get()
    #expect(gate.isClosed)
  }

  @Test("stores nothing after a failure until told to resume")
  func fails() async throws {
    let gate = GateStore()
    let (outcomes, continuation) = AsyncStream.makeStream(of: StoreThread.Outcome.self)
    let thread = try await store(gate, continuation)
    gate.release(StoreError(.full, description: "no"))
    var arrived = outcomes.makeAsyncIterator()
    let failure = try #require(await arrived.next())
    #expect(failure.batches == 1)
    #expect(throws: StoreError.self) { try failure.result.get() }
    gate.open()
    let (lost, next) = (batch(2), batch(1))
    try await thread.eventLoop.submit {
      thread.commit(lost)
      thread.goOn()
      thread.commit(next)
    }.get()
    let success = try #require(await arrived.next())
    #expect(success.batches == 1)
    #expect(gate.commitCount == 1)
    #expect(gate.load().revision == 1)
    try await thread.close().get()
  }

  /// Commits a batch that may block the event loop, and returns the outcome if it comes at once.
  private func commitAtOnce(
    _ batch: CommitBatch,
    on thread: StoreThread
  ) async throws -> StoreThread.Outcome? {
    try await thread.eventLoop.submit {
      let outcome = NIOLoopBoundBox<StoreThread.Outcome?>(nil, eventLoop: thread.eventLoop)
      thread.onOutcome = { outcome.value = $0 }
      thread.commit(batch, mayBlock: true)
      return outcome.value
    }.get()
  }

  @Test("acknowledges concurrent batches in order and drops those behind a failure")
  func sideBySide() async throws {
    let store = DeepStore()
    let thread = try await open(store)
    let (outcomes, continuation) = AsyncStream.makeStream(of: StoreThread.Outcome.self)
    let batches = (1...3).map(batch)
    try await thread.eventLoop.submit {
      thread.onOutcome = { continuation.yield($0) }
      thread.commit(batches[0])
    }.get()
    store.wait { $0 == 1 }
    // The store takes each of these behind the first, as it is told that they wait.
    for count in 1...2 {
      try await thread.eventLoop.submit { thread.commit(batches[count]) }.get()
      store.wait { $0 == count + 1 }
    }
    var arrived = outcomes.makeAsyncIterator()
    store.settle(.success(()))
    let first = try #require(await arrived.next())
    #expect(first.batches == 1)
    try first.result.get()
    store.settle(.failure(StoreError(.full, description: "no")))
    let second = try #require(await arrived.next())
    #expect(second.batches == 1)
    #expect(throws: StoreError.self) { try second.result.get() }
    // The next outcome is that of a new batch, not of the one behind the failure.
    try await thread.eventLoop.submit {
      thread.goOn()
      thread.commit(CommitBatch(joining: [batches[1], batches[2]]))
    }.get()
    store.wait { $0 == 4 }
    store.settle(.success(()))
    let next = try #require(await arrived.next())
    #expect(next.commits == 2)
    try next.result.get()
    try await thread.close().get()
  }

  private func open(_ store: some TreeStore) async throws -> StoreThread {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let opened = try await eventLoop.flatSubmit {
      StoreThread.open(on: eventLoop) { store }
    }.get()
    return try #require(opened?.thread)
  }

  @Test("lets the event loop commit quick batches and does the rest itself")
  func commitsAtOnce() async throws {
    let store = HastyStore()
    let thread = try await open(store)
    let quick = try #require(await commitAtOnce(batch(1), on: thread))
    #expect(quick.batches == 1 && quick.commits == 1)
    try quick.result.get()
    store.isQuick.store(false, ordering: .relaxed)
    #expect(try await commitAtOnce(batch(2), on: thread) == nil)
    try await thread.close().get()
    #expect(store.memory.load().revision == 2)
    #expect(store.quickCommits.load(ordering: .relaxed) == 1)
  }

  @Test("stores nothing after a failed commit on the event loop")
  func failsAtOnce() async throws {
    let store = HastyStore()
    let thread = try await open(store)
    store.isFull.store(true, ordering: .relaxed)
    let refused = try #require(await commitAtOnce(batch(1), on: thread))
    #expect(throws: StoreError.self) { try refused.result.get() }
    store.isFull.store(false, ordering: .relaxed)
    #expect(try await commitAtOnce(batch(2), on: thread) == nil)
    try await thread.eventLoop.submit { thread.goOn() }.get()
    let next = try #require(await commitAtOnce(batch(1), on: thread))
    try next.result.get()
    #expect(store.memory.load().revision == 1)
    try await thread.close().get()
  }
}

/// A store in memory that is quick or not, and full or not, as the test says.
private final class HastyStore: TreeStore {
  let memory = MemoryTreeStore()
  let isQuick = Atomic(true)
  let isFull = Atomic(false)
  let quickCommits = Atomic(0)

  func load() -> StoredTree { memory.load() }

  func commit(_ batch: CommitBatch) throws {
    if isFull.load(ordering: .relaxed) { throw StoreError(.full, description: "no") }
    memory.commit(batch)
  }

  func commitIfQuick(_ batch: CommitBatch) throws -> Bool {
    guard isQuick.load(ordering: .relaxed) else { return false }
    try commit(batch)
    quickCommits.add(1, ordering: .relaxed)
    return true
  }

  func close() {}
}

/// A store that takes every batch at once, and settles the oldest when the test says how.
private final class DeepStore: TreeStore {
  private struct State {
    var taken = 0
    var underWay = 0
    var isRung = false
    var outcomes: [Result<Void, any Error>] = []
  }

  private let state = Mutex(State())

  func load() -> StoredTree { StoredTree() }
  func commit(_ batch: CommitBatch) {}
  func close() {}
  func batchWaits() { state.withLock { $0.isRung = true } }
  func settle(_ outcome: Result<Void, any Error>) { state.withLock { $0.outcomes.append(outcome) } }

  /// Waits until as many batches have been taken.
  func wait(until isFulfilled: (Int) -> Bool) {
    while !isFulfilled(state.withLock { $0.taken }) { sched_yield() }
  }

  func commitAll(
    from queue: () -> CommitBatch?,
    _ settled: (Result<Void, any Error>) -> Void
  ) {
    var isAsking = true
    while true {
      while isAsking, queue() != nil {
        state.withLock {
          $0.taken += 1
          $0.underWay += 1
        }
      }
      let (outcome, isLast) = state.withLock { state in
        isAsking = state.isRung
        state.isRung = false
        guard !state.outcomes.isEmpty else { return (Result<Void, any Error>?.none, false) }
        let outcome = state.outcomes.removeFirst()
        state.underWay -= 1
        if case .failure = outcome { state.underWay = 0 }
        return (outcome, state.underWay == 0)
      }
      if let outcome { settled(outcome) } else { sched_yield() }
      if isLast { return }
    }
  }
}

@Suite("The idle heuristic")
struct QuietSpellTests {
  private func spell(_ batches: Int) -> IdleHeuristic {
    var spell = IdleHeuristic()
    for _ in 0..<batches { spell.batchStored(in: .microseconds(200), hadRequests: false) }
    return spell
  }

  @Test("allows blocking after eight quick batches, except for every sixteenth")
  func begins() {
    let blocking = (0..<50).filter { spell($0).mayBlock }
    #expect(blocking == Array(8..<16) + Array(17..<32) + Array(33..<48) + [49])
  }

  @Test("stops allowing it after a request")
  func endsWithRequest() {
    var spell = spell(100)
    spell.batchStored(in: .microseconds(200), hadRequests: true)
    #expect(!spell.mayBlock)
    for _ in 0..<7 { spell.batchStored(in: .microseconds(1_000), hadRequests: false) }
    #expect(!spell.mayBlock)
    spell.batchStored(in: .microseconds(1_000), hadRequests: false)
    #expect(spell.mayBlock)
  }

  @Test("tolerates a few slow batches, but not many", arguments: [(8, 1), (20, 2), (1_000, 4)])
  func endsWithSlowBatches(quick: Int, slow: Int) {
    var spell = spell(quick)
    for _ in 0..<slow {
      #expect(spell.mayBlock)
      spell.batchStored(in: .microseconds(1_001), hadRequests: false)
    }
    #expect(!spell.mayBlock)
  }
}
