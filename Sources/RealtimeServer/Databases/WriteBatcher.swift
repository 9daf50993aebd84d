internal import NIOCore
internal import RealtimeHub

/// Group commit: what arrives while a batch is being stored joins the next one.
///
/// State: idle → scheduled (for the end of the tick, or for later after a failure) → storing →
/// idle. Confined to the event loop of its store thread.
final class WriteBatcher {
  private enum Phase {
    case idle
    case scheduled
    case storing
  }

  /// How long a store is left alone that has failed once; each further time doubles it.
  private static let firstDelay: Int64 = 200
  /// How long it is left alone at most, in milliseconds.
  private static let longestDelay: Int64 = 3_200

  /// Gives the next batch, or nil when there is nothing to store.
  var takeBatch: () -> CommitBatch? = { nil }
  /// Takes the outcome of a batch.
  var onOutcome: (Result<Void, StoreError>) -> Void = { _ in }

  /// Called when it turns out that nothing is to be stored any more.
  var onIdle: () -> Void = {}

  private let thread: StoreThread
  private var phase = Phase.idle
  /// How often the store has failed since it last worked.
  private var failures = 0

  init(thread: StoreThread) {
    self.thread = thread
  }

  /// Whether a batch is on its way or will be taken soon.
  var isBusy: Bool { phase != .idle }

  /// Stores at the end of the tick what has come together until then.
  func wake() {
    guard phase == .idle else { return }
    phase = .scheduled
    thread.eventLoop.assumeIsolated().execute { self.store() }
  }

  private func store() {
    guard let batch = takeBatch() else {
      phase = .idle
      onIdle()
      return
    }
    phase = .storing
    thread.commit(batch).assumeIsolated().whenComplete { result in
      switch result {
      case .success:
        self.phase = .idle
        self.failures = 0
        self.onOutcome(.success(()))
      case .failure(let error):
        self.phase = .scheduled
        self.failures += 1
        let delay = Self.delay(after: self.failures)
        self.thread.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.store() }
        self.onOutcome(.failure(error as? StoreError ?? StoreError(.failed, "\(error)")))
      }
    }
  }

  /// How long a store is left alone that has failed so often in a row.
  static func delay(after failures: Int) -> TimeAmount {
    .milliseconds(min(firstDelay << min(failures - 1, 8), longestDelay))
  }
}
