internal import NIOCore
internal import NIOPosix
internal import RealtimeTransport

/// Does expensive work on values off the event loop, such as decoding and encoding large messages.
///
/// There are two lanes, one of them for very long work, so that it holds up nothing else. Each lane
/// does one job at a time, and clients that have cost little recently go first. A client that waits
/// for a job submits no other, so waiting clients take turns. Confined to the event loop.
final class WorkerPool {
  /// The approximate size from which work counts as very long, in bytes.
  static let longBytes = 1_024 * 1_024

  private struct Job {
    let account: SchedulerAccount
    /// Whether there is memory for the job's result.
    let mayBegin: () -> Bool
    /// Gives the job up if nobody needs its result any more, and returns whether it did.
    let isGivenUp: () -> Bool
    /// Does the work, charges the account and passes the result on; then calls the closure.
    let start: (@escaping () -> Void) -> Void
  }

  private struct Lane {
    var queue = FairQueue<Job>()
    var isBusy = false
  }

  private let eventLoop: any EventLoop
  private let pool = NIOThreadPool.singleton
  /// The memory that results wait for, if they are to be sent.
  private let memory: ConnectionMemory
  private var short = Lane()
  private var long = Lane()

  init(_ eventLoop: any EventLoop, memory: ConnectionMemory) {
    self.eventLoop = eventLoop
    self.memory = memory
  }

  /// Does some work on another thread, and brings the result back to the event loop.
  ///
  /// An account is charged for it. Very long work has a lane of its own.
  ///
  /// Just before the work begins, `mayBegin` tells whether there is memory for the result: many
  /// jobs may wait here together, and each result reduces the memory for those behind it.
  /// `isGivenUp` tells then whether nobody needs the result any more; if so, neither `work` nor
  /// `receive` is called.
  func perform<Result: Sendable>(
    for account: SchedulerAccount,
    isLong: Bool,
    mayBegin: @escaping () -> Bool = { true },
    isGivenUp: @escaping () -> Bool = { false },
    _ work: @escaping @Sendable () -> Result,
    then receive: @escaping (Result) -> Void
  ) {
    let (eventLoop, pool) = (eventLoop, pool)
    let job = Job(account: account, mayBegin: mayBegin, isGivenUp: isGivenUp) { leave in
      let end = NIOLoopBound(
        (account: account, receive: receive, leave: leave),
        eventLoop: eventLoop
      )
      pool.submit { _ in
        // A pool that is shutting down also calls this, so that every job reaches its end.
        let start = NIODeadline.now()
        let result = work()
        let time = NIODeadline.now() - start
        eventLoop.execute {
          end.value.account.charge(time, at: .now())
          end.value.receive(result)
          end.value.leave()
        }
      }
    }
    add(job, to: isLong ? \.long : \.short)
  }

  private func add(_ job: Job, to lane: ReferenceWritableKeyPath<WorkerPool, Lane>) {
    self[keyPath: lane].queue.append(job, to: job.account.line(at: .now()))
    startNext(at: lane)
  }

  private func startNext(at lane: ReferenceWritableKeyPath<WorkerPool, Lane>) {
    guard !self[keyPath: lane].isBusy else { return }
    while let job = self[keyPath: lane].queue.popFirst() {
      if job.isGivenUp() { continue }
      guard job.mayBegin() else {
        // This job does not hold up jobs that need no memory.
        memory.whenRelieved { [weak self] in self?.add(job, to: lane) }
        continue
      }
      self[keyPath: lane].isBusy = true
      return job.start {
        self[keyPath: lane].isBusy = false
        self.startNext(at: lane)
      }
    }
  }
}
