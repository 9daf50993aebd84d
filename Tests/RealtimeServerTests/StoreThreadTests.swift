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
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let stores = MemoryTreeStores(["n": store])
    let opened = try await eventLoop.flatSubmit {
      StoreThread.open("n", of: stores, makesMissing: false, on: eventLoop)
    }.get()
    let thread = try #require(opened?.thread)
    let first = batch(1)
    try await eventLoop.submit {
      thread.onOutcome = { outcomes.yield($0) }
      thread.commit(first)
    }.get()
    try await store.waitForCommit()
    let later = [batch(2), batch(3)]
    try await eventLoop.submit { for batch in later { thread.commit(batch) } }.get()
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
