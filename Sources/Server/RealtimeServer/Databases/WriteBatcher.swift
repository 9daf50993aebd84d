internal import NIOCore
internal import RealtimeHub

/// Group commit: what arrives in a tick of the event loop is stored as one, with all that arrives
/// while the store is busy with what was before.
///
/// State: at rest, scheduled (for the end of the tick), or both with any number of batches under way;
/// pausing for a moment after a failure; stopped. Confined to the event loop of its store thread.
final class WriteBatcher {
  /// How long a full disk is left alone before the next batch is tried.
  private static let pause = TimeAmount.milliseconds(200)

  /// Gives the next batch, or nil when there is nothing to store.
  var takeBatch: () -> CommitBatch? = { nil }
  /// Takes the outcome of batches; after a failure those behind them are gone as well.
  var onOutcome: (StoreThread.Outcome) -> Void = { _ in }

  /// Called when it turns out that nothing is to be stored any more.
  var onIdle: () -> Void = {}

  private let thread: StoreThread
  private var isScheduled = false
  private var isStopped = false
  /// How many batches have been handed over, of which no outcome has come.
  private var underWay = 0
  /// Ends the pause after a failure.
  private var retry: Scheduled<Void>?

  init(thread: StoreThread) {
    self.thread = thread
    thread.onOutcome = { [weak self] in self?.receive($0) }
  }

  /// Whether a batch is on its way or will be taken soon.
  var isBusy: Bool { isScheduled || underWay > 0 || retry != nil }

  /// Stores at the end of the tick what has come together until then.
  func wake() {
    guard !isScheduled, !isStopped, retry == nil else { return }
    isScheduled = true
    thread.eventLoop.assumeIsolated().execute {
      self.isScheduled = false
      // The store may have failed since.
      if self.retry == nil { self.store() }
    }
  }

  /// Takes no batch any more; the outcomes of those under way are not told.
  func stop() {
    isStopped = true
    retry?.cancel()
    retry = nil
  }

  private func store() {
    guard !isStopped else { return }
    if let batch = takeBatch() {
      underWay += 1
      thread.commit(batch)
    } else if underWay == 0 {
      onIdle()
    }
  }

  private func receive(_ outcome: StoreThread.Outcome) {
    guard !isStopped else { return }
    switch outcome.result {
    case .success: underWay -= outcome.batches
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
