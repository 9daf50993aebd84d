import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeHub
import Testing

@testable import RealtimeServer

@Suite("The thread of a store", .timeLimit(.minutes(2)))
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

  @Test("stores as one what has come while it was busy")
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

  @Test("stores nothing after a failure until it is told to go on")
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
}
