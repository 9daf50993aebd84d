internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// The thread that uses a database's store; while it is idle, the event loop may commit in its place.
///
/// State: idle → storing (until no batch waits) → idle, or failed (nothing was stored; until
/// ``goOn()``), or lost (it is unknown what was stored; permanent).
final class StoreThread: Sendable {
  /// The outcome of batches that were stored as one.
  struct Outcome: Sendable {
    /// The number of batches, counted from the oldest without an outcome.
    let batches: Int
    let commits: Int
    /// How long the store took.
    let time: TimeAmount
    let result: Result<Void, StoreError>
  }

  private enum Phase {
    case idle
    case storing
    case failed
    case lost
  }

  private struct Queue {
    var phase = Phase.idle
    var waiting: [CommitBatch] = []
  }

  /// The event loop on which outcomes arrive.
  let eventLoop: any EventLoop

  private let store: any TreeStore
  private let pool: NIOThreadPool
  private let queue = NIOLockedValueBox(Queue())
  private let receiver: NIOLoopBoundBox<(Outcome) -> Void>

  private init(store: any TreeStore, pool: NIOThreadPool, eventLoop: any EventLoop) {
    self.store = store
    self.pool = pool
    self.eventLoop = eventLoop
    receiver = .makeBoxSendingValue({ _ in }, eventLoop: eventLoop)
  }

  /// Receives the outcomes in order, on the event loop; it must also be set there.
  var onOutcome: (Outcome) -> Void {
    get { receiver.value }
    set { receiver.value = newValue }
  }

  /// Opens the store of a database and reads what is not known yet; nil if there is no database.
  ///
  /// Outcomes will arrive on the event loop. `openStore` may block.
  static func open(
    on eventLoop: any EventLoop,
    knowing known: StoredTree? = nil,
    by openStore: @escaping @Sendable () throws -> (any TreeStore)?
  ) -> EventLoopFuture<(thread: StoreThread, stored: StoredTree)?> {
    let pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    let opened: EventLoopFuture<(thread: StoreThread, stored: StoredTree)?> = pool.runIfActive(
      eventLoop: eventLoop
    ) {
      guard let store = try openStore() else { return nil }
      do {
        let stored = try known.map { try store.load(since: $0) } ?? store.load()
        return (StoreThread(store: store, pool: pool, eventLoop: eventLoop), stored)
      } catch {
        try? store.close()
        throw error
      }
    }
    opened.whenComplete { result in
      if case .success(.some) = result { return }
      pool.shutdownGracefully { _ in }
    }
    return opened
  }

  /// Makes a batch durable, after all earlier ones.
  ///
  /// Batches that arrive while the store takes no more are stored as one as soon as it does,
  /// without a turn of the event loop in between. Once the store has failed, nothing is stored
  /// until ``goOn()``, because later batches build on the lost ones. Once the outcome of a batch is
  /// unknown, nothing more is stored. Must be called on the event loop.
  ///
  /// If the event loop may block, it commits the batch itself when the thread is idle and the store
  /// expects to be quick; the outcome arrives before this method returns.
  func commit(_ batch: CommitBatch, mayBlock: Bool = false) {
    let phase = queue.withLockedValue { queue in
      defer { if queue.phase == .idle { queue.phase = .storing } }
      if queue.phase == .storing { queue.waiting.append(batch) }
      return queue.phase
    }
    if phase == .storing { store.batchWaits() }
    guard phase == .idle else { return }
    if mayBlock, let outcome = storeIfQuick(batch) {
      queue.withLockedValue { if $0.phase == .storing { $0.phase = .idle } }
      return receiver.value(outcome)
    }
    queue.withLockedValue { queue in
      // A turn of the thread that found nothing to do may have ended this one.
      queue.phase = .storing
      queue.waiting.append(batch)
    }
    pool.submit { _ in self.storeAll() }
  }

  /// Accepts batches again after a failure that stored nothing.
  ///
  /// The event loop calls it when it learns of the failure: the batches that it hands over
  /// afterwards follow what is durable.
  func goOn() {
    queue.withLockedValue { if $0.phase == .failed { $0.phase = .idle } }
  }

  /// Stores batches until none waits.
  private func storeAll() {
    /// What the store has taken, the oldest first.
    var taken: [(batches: Int, commits: Int, time: NIODeadline)] = []
    while !becomesIdle() {
      store.commitAll(
        from: {
          let batches = takeWaiting()
          guard !batches.isEmpty else { return nil }
          let batch = CommitBatch(joining: batches)
          taken.append((batches.count, batch.commits.count, .now()))
          return batch
        }
      ) { result in
        let (batches, commits, begin) = taken.removeFirst()
        if case .failure = result { taken = [] }
        let outcome = outcome(of: result, commits: commits, batches: batches, since: begin)
        eventLoop.execute { self.receiver.value(outcome) }
      }
    }
  }

  /// Ends a turn of the thread if nothing waits.
  private func becomesIdle() -> Bool {
    queue.withLockedValue { queue in
      if queue.phase == .storing, queue.waiting.isEmpty { queue.phase = .idle }
      return queue.phase != .storing
    }
  }

  /// Stores a batch on the calling thread; returns nil, and does nothing, if that may take long.
  private func storeIfQuick(_ batch: CommitBatch) -> Outcome? {
    let begin = NIODeadline.now()
    let result = Result { try store.commitIfQuick(batch) }
    if case .success(false) = result { return nil }
    return outcome(of: result.map { _ in }, commits: batch.commits.count, batches: 1, since: begin)
  }

  /// Describes an attempt to store a batch; after a failure, all batches behind it are dropped.
  private func outcome(
    of result: Result<Void, any Error>,
    commits: Int,
    batches: Int,
    since begin: NIODeadline
  ) -> Outcome {
    let time = NIODeadline.now() - begin
    let result = result.mapError {
      $0 as? StoreError ?? StoreError(.failed, description: "\($0)")
    }
    if case .failure(let error) = result {
      let phase = error.hasStoredNothing ? Phase.failed : .lost
      queue.withLockedValue { $0 = Queue(phase: phase) }
    }
    return Outcome(batches: batches, commits: commits, time: time, result: result)
  }

  private func takeWaiting() -> [CommitBatch] {
    queue.withLockedValue { queue in
      defer { queue.waiting = [] }
      return queue.waiting
    }
  }

  func close() -> EventLoopFuture<Void> {
    let closed = pool.runIfActive(eventLoop: eventLoop) { [store] in try store.close() }
    closed.whenComplete { [pool] _ in pool.shutdownGracefully { _ in } }
    return closed
  }
}

/// Decides whether the event loop itself commits the next batch, which saves two changes of thread.
///
/// The event loop then waits for the disk. That costs nothing while it has nothing else to do, for
/// example when a single client waits for each of its writes. So batches go to the store's thread
/// until eight in a row were stored quickly without a request in the meantime. From then on one in
/// sixteen still goes there, which shows whether it is as quiet as before. Every disk is slow now
/// and then: a slow batch only takes away as much as eight quick ones have earned.
struct IdleHeuristic {
  private static let quietBatches = 8
  /// The quick batches that count at most.
  private static let mostEarned = 32
  private static let trialInterval = 16
  private static let quickTime = TimeAmount.milliseconds(1)

  /// The quick batches without a request meanwhile, less eight for each slow one.
  private var earned = 0
  private var batches = 0

  /// Whether the event loop may wait for the next batch.
  var mayBlock: Bool { earned >= Self.quietBatches && batches % Self.trialInterval != 0 }

  /// Learns how long a batch took, and whether requests came while the store's thread stored it.
  mutating func batchStored(in time: TimeAmount, hadRequests: Bool) {
    batches &+= 1
    if hadRequests {
      earned = 0
    } else if time > Self.quickTime {
      earned = max(0, earned - Self.quietBatches)
    } else {
      earned = min(earned + 1, Self.mostEarned)
    }
  }
}

/// Group commit: writes that arrive in one tick of the event loop are stored as one batch.
///
/// So are all that arrive while the store is busy with an earlier batch.
///
/// State: at rest, scheduled (for the end of the tick), or either of them with any number of
/// batches in progress; pausing for a moment after a failure; stopped. Confined to the event loop
/// of its store thread.
final class WriteBatcher {
  /// How long the batcher waits after a failure, such as a full disk, before it tries again.
  private static let pause = TimeAmount.milliseconds(200)

  /// Returns the next batch, or nil when there is nothing to store.
  var takeBatch: () -> CommitBatch? = { nil }
  /// The number of requests that the event loop has handled so far.
  var requestCount: () -> Int = { 0 }
  /// Receives the outcomes of batches; after a failure, all later batches are lost as well.
  var onOutcome: (StoreThread.Outcome) -> Void = { _ in }

  /// Called when there is nothing left to store.
  var onIdle: () -> Void = {}

  /// Completes when the store is closed; it never fails.
  var closed: EventLoopFuture<Void> { end.futureResult }

  /// How the writes get on that the batches are made of.
  var progress: WriteProgress
  private let thread: StoreThread
  private let logger: Logger
  private let end: EventLoopPromise<Void>
  private var isScheduled = false
  private var isStopped = false
  /// The number of batches that were handed over and have no outcome yet.
  private var underWay = 0
  private var idleHeuristic = IdleHeuristic()
  /// ``requestCount`` when the oldest batch without an outcome was handed over.
  private var requestsBefore = 0
  /// Ends the pause after a failure.
  private var retry: Scheduled<Void>?

  init(thread: StoreThread, progress: WriteProgress, logger: Logger) {
    self.thread = thread
    self.progress = progress
    self.logger = logger
    end = thread.eventLoop.makePromise()
    thread.onOutcome = { [weak self] in self?.receive($0) }
  }

  /// Whether a batch is in progress or will be taken soon.
  var isBusy: Bool { isScheduled || underWay > 0 || retry != nil }

  /// Stores whatever has accumulated by the end of the tick.
  func wake() {
    guard !isScheduled, !isStopped, retry == nil else { return }
    isScheduled = true
    thread.eventLoop.assumeIsolated().execute {
      self.isScheduled = false
      // The store may have failed since.
      if self.retry == nil { self.store() }
    }
  }

  /// Takes no more batches, and reports no outcomes of those in progress.
  func stop() {
    isStopped = true
    retry?.cancel()
    retry = nil
  }

  /// Closes the store after what it has been given.
  func close() {
    thread.close().assumeIsolated().whenComplete { [logger, end] result in
      if case .failure(let error) = result {
        logger.error("the store could not be closed: \(error)")
      }
      end.succeed()
    }
  }

  private func store() {
    guard !isStopped else { return }
    if let batch = takeBatch() {
      if underWay == 0 { requestsBefore = requestCount() }
      underWay += 1
      thread.commit(batch, mayBlock: idleHeuristic.mayBlock)
    } else if underWay == 0 {
      onIdle()
    }
  }

  private func receive(_ outcome: StoreThread.Outcome) {
    guard !isStopped else { return }
    switch outcome.result {
    case .success:
      underWay -= outcome.batches
      let requests = requestCount()
      idleHeuristic.batchStored(in: outcome.time, hadRequests: requests > requestsBefore)
      requestsBefore = requests
    case .failure(let error) where error.hasStoredNothing:
      thread.goOn()
      underWay = 0
      retry = thread.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
        self.retry = nil
        self.store()
      }
    case .failure: break
    }
    onOutcome(outcome)
  }
}

/// How the writes of a database get on with its store.
///
/// A write waits for the batch that is taken next; that batch's outcome ends the wait.
struct WriteProgress {
  /// The history of the storage from which the data was read: see ``StoredTree/lineage``.
  let lineage: String?
  /// The servers that follow the database, to which each batch is sent before its outcome is
  /// reported.
  ///
  /// A batch is sent as soon as it is durable, before any client learns of that. So a client that
  /// learns over the same link that a write was stored finds it there.
  var followers: [any Follower] = []
  /// The clients that have sent something since the last batch was stored.
  var unsettled: [Session] = []
  /// Why the last batch could not be stored; nil again once one can.
  private(set) var failure: StoreError?
  /// When the writes have arrived that no batch has taken yet.
  private var waiting: [NIODeadline] = []
  /// The batches without an outcome, the oldest first, and when their writes have arrived.
  private var underWay: [(batch: CommitBatch, arrivals: [NIODeadline])] = []

  init(lineage: String?) { self.lineage = lineage }

  /// Records a write that joins the next batch.
  mutating func arrived(at time: NIODeadline) { waiting.append(time) }

  /// Records that all writes so far are being stored.
  mutating func taken(_ batch: CommitBatch) {
    underWay.append((batch, waiting))
    waiting = []
  }

  /// Sends followers the oldest batches, which have become durable.
  ///
  /// - Returns: How long each of their writes waited.
  mutating func stored(_ count: Int, at time: NIODeadline) -> [TimeAmount] {
    failure = nil
    let stored = underWay.prefix(count)
    underWay.removeFirst(stored.count)
    for (batch, _) in stored {
      for follower in followers { follower.tell(batch) }
    }
    return stored.flatMap { $0.arrivals.map { time - $0 } }
  }

  /// Forgets all batches, none of which has been stored.
  mutating func failed(because error: StoreError) {
    failure = error
    underWay = []
  }
}

/// A server that follows a database, as the leader sees it.
protocol Follower: AnyObject {
  /// Tells it that a batch has become durable.
  func tell(_ batch: CommitBatch)

  /// Called when the database is closed here, so that nothing more will be sent.
  func leaderEnded()
}
