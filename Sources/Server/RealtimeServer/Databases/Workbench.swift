internal import NIOCore
internal import NIOPosix
internal import RealtimeTransport

/// Where work is done that takes long and needs nothing but values: large messages are read and encoded
/// beside the event loop.
///
/// There are two places, one of them for what takes very long, so that this holds up nothing else. At
/// each, one thing is done at a time, and who has cost little lately goes first. Who waits for one thing
/// asks for nothing more, so that those who wait take turns. Confined to the event loop.
final class Workbench {
  /// From about how many bytes on something takes very long.
  static let longBytes = 1_024 * 1_024

  private struct Job {
    let account: CostAccount
    /// Whether there is memory for its result.
    let mayBegin: () -> Bool
    /// Does the work and calls the first closure with its duration, then whoever waits for the result,
    /// and at last the second closure.
    let start: (@escaping (TimeAmount) -> Void, @escaping () -> Void) -> Void
  }

  private struct Lane {
    var queue = TurnQueue<Job>()
    var isBusy = false
  }

  private let eventLoop: any EventLoop
  private let pool: NIOThreadPool
  /// What results wait for, where they are to be sent.
  private let memory: ConnectionMemory
  private var short = Lane()
  private var long = Lane()

  init(_ eventLoop: any EventLoop, memory: ConnectionMemory, pool: NIOThreadPool = .singleton) {
    self.eventLoop = eventLoop
    self.memory = memory
    self.pool = pool
  }

  /// Does some work and brings the result back to the event loop.
  ///
  /// - Parameters:
  ///   - account: The account that is charged for it.
  ///   - isLong: Whether it takes very long.
  ///   - mayBegin: Whether there is memory for the result, asked just before the work begins: many may
  ///     wait here together, and each result counts for those behind it.
  ///   - work: The work, done on another thread.
  ///   - receive: Takes the result on the event loop.
  func perform<Result: Sendable>(
    for account: CostAccount,
    isLong: Bool,
    mayBegin: @escaping () -> Bool = { true },
    _ work: @escaping @Sendable () -> Result,
    then receive: @escaping (Result) -> Void
  ) {
    let (eventLoop, pool) = (eventLoop, pool)
    let job = Job(account: account, mayBegin: mayBegin) { finished, leave in
      let end = NIOLoopBound(
        (finished: finished, receive: receive, leave: leave),
        eventLoop: eventLoop
      )
      pool.submit { _ in
        // A pool that is shutting down calls this as well: nothing may be left without its end.
        let start = NIODeadline.now()
        let result = work()
        let time = NIODeadline.now() - start
        eventLoop.execute {
          end.value.finished(time)
          end.value.receive(result)
          end.value.leave()
        }
      }
    }
    add(job, to: isLong ? \.long : \.short)
  }

  private func add(_ job: Job, to lane: ReferenceWritableKeyPath<Workbench, Lane>) {
    self[keyPath: lane].queue.append(job, to: job.account.line(at: .now()))
    startNext(at: lane)
  }

  private func startNext(at lane: ReferenceWritableKeyPath<Workbench, Lane>) {
    guard !self[keyPath: lane].isBusy else { return }
    while let job = self[keyPath: lane].queue.popFirst() {
      guard job.mayBegin() else {
        // It does not hold up jobs that need no memory.
        memory.whenRelieved { [weak self] in self?.add(job, to: lane) }
        continue
      }
      return start(job, at: lane)
    }
  }

  private func start(_ job: Job, at lane: ReferenceWritableKeyPath<Workbench, Lane>) {
    self[keyPath: lane].isBusy = true
    job.start { time in
      job.account.charge(time, at: .now())
    } _: {
      self[keyPath: lane].isBusy = false
      self.startNext(at: lane)
    }
  }
}
