internal import NIOCore
internal import RealtimeHub

/// Group commit: what arrives in a tick of the event loop is stored as one, with all that arrives
/// while the store is busy with what was before.
///
/// State: at rest, scheduled (for the end of the tick), or both with any number of batches under way;
/// after a failure none is, and nothing is scheduled but the next trial. Confined to the event loop of
/// its store thread.
final class WriteBatcher {
  /// How long a store is left alone that has failed once; each further time doubles it.
  private static let firstDelay: Int64 = 200
  /// How long it is left alone at most, in milliseconds.
  private static let longestDelay: Int64 = 3_200

  /// Gives the next batch, or nil when there is nothing to store.
  var takeBatch: () -> CommitBatch? = { nil }
  /// Takes the outcome of batches; after a failure those behind them are gone as well.
  var onOutcome: (StoreThread.Outcome) -> Void = { _ in }

  /// Called when it turns out that nothing is to be stored any more.
  var onIdle: () -> Void = {}

  private let thread: StoreThread
  private var isScheduled = false
  /// How many batches have been handed over, of which no outcome has come.
  private var underWay = 0
  /// Tries the store again that has failed.
  private var trial: Scheduled<Void>?
  /// How often the store has failed since it last worked.
  private var failures = 0

  init(thread: StoreThread) {
    self.thread = thread
    thread.onOutcome = { [weak self] in self?.receive($0) }
  }

  /// Whether a batch is on its way or will be taken soon.
  var isBusy: Bool { isScheduled || underWay > 0 || trial != nil }

  /// Stores at the end of the tick what has come together until then.
  func wake() {
    guard !isScheduled, trial == nil else { return }
    isScheduled = true
    thread.eventLoop.assumeIsolated().execute {
      self.isScheduled = false
      // The store may have failed since.
      if self.trial == nil { self.store() }
    }
  }

  private func store() {
    if let batch = takeBatch() {
      underWay += 1
      thread.commit(batch)
    } else if underWay == 0 {
      onIdle()
    }
  }

  private func receive(_ outcome: StoreThread.Outcome) {
    switch outcome.result {
    case .success:
      underWay -= outcome.batches
      failures = 0
    case .failure:
      thread.goOn()
      underWay = 0
      failures += 1
      let delay = Self.delay(after: failures)
      trial = thread.eventLoop.assumeIsolated().scheduleTask(in: delay) {
        self.trial = nil
        self.store()
      }
    }
    onOutcome(outcome)
  }

  /// How long a store is left alone that has failed so often in a row.
  static func delay(after failures: Int) -> TimeAmount {
    .milliseconds(min(firstDelay << min(failures - 1, 8), longestDelay))
  }
}
