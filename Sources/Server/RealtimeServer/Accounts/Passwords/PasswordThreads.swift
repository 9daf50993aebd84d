internal import NIOConcurrencyHelpers
internal import NIOPosix

/// The threads on which passwords are hashed: few, with a bounded queue before them.
///
/// Whoever does not find a place in the queue is told to come back, so that a flood of attempts costs
/// neither memory nor the patience of those whom it does not concern.
final class PasswordThreads: Sendable {
  private let pool: NIOThreadPool
  private let waiting = NIOLockedValueBox(0)
  private let places: Int

  /// Starts threads.
  ///
  /// - Parameters:
  ///   - threads: How many passwords are hashed at once.
  ///   - queue: How many more may wait.
  init(threads: Int, queue: Int) {
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
    places = threads + queue
  }

  /// Does something on one of the threads.
  ///
  /// - Throws: ``IdentityError/busy`` when too many wait, or when the threads have ended.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async throws(IdentityError) -> Value {
    let hasPlace = waiting.withLockedValue { count in
      guard count < places else { return false }
      count += 1
      return true
    }
    guard hasPlace else { throw .busy }
    defer { waiting.withLockedValue { $0 -= 1 } }
    do {
      return try await pool.runIfActive(body)
    } catch {
      throw .busy
    }
  }

  /// Ends the threads once nothing waits any more.
  func stop() async {
    try? await pool.shutdownGracefully()
  }
}
