internal import NIOCore
internal import NIOPosix

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
    /// Does the work and calls the closure with its duration, then with what is to be done.
    let start: (@escaping (TimeAmount) -> Void) -> Void
  }

  private struct Place {
    var queue = TurnQueue<Job>()
    var isBusy = false
  }

  private let eventLoop: any EventLoop
  private let pool: NIOThreadPool
  private var short = Place()
  private var long = Place()

  init(_ eventLoop: any EventLoop, pool: NIOThreadPool = .singleton) {
    self.eventLoop = eventLoop
    self.pool = pool
  }

  /// Does some work and brings the result back to the event loop.
  ///
  /// - Parameters:
  ///   - account: Who pays for it.
  ///   - isLong: Whether it takes very long.
  ///   - work: The work, done on another thread.
  ///   - receive: Takes the result on the event loop.
  func perform<Result: Sendable>(
    for account: CostAccount,
    isLong: Bool,
    _ work: @escaping @Sendable () -> Result,
    then receive: @escaping (Result) -> Void
  ) {
    let (eventLoop, pool) = (eventLoop, pool)
    let job = Job(account: account) { finished in
      let end = NIOLoopBound((finished: finished, receive: receive), eventLoop: eventLoop)
      pool.submit { _ in
        // A pool that is shutting down calls this as well: nothing may be left without its end.
        let start = NIODeadline.now()
        let result = work()
        let time = NIODeadline.now() - start
        eventLoop.execute {
          end.value.finished(time)
          end.value.receive(result)
        }
      }
    }
    let line = account.line(at: .now())
    if isLong { long.queue.append(job, line) } else { short.queue.append(job, line) }
    startNext(at: isLong ? \.long : \.short)
  }

  private func startNext(at place: ReferenceWritableKeyPath<Workbench, Place>) {
    guard !self[keyPath: place].isBusy, let job = self[keyPath: place].queue.popFirst() else {
      return
    }
    self[keyPath: place].isBusy = true
    job.start { time in
      self[keyPath: place].isBusy = false
      job.account.charge(time, at: .now())
      self.startNext(at: place)
    }
  }
}
