internal import NIOConcurrencyHelpers
internal import NIOCore

// Safety: the block is only called on the callback queue, which is serial, so calls never overlap.
// Until then it is only passed on. As in the original, any thread may release it.
/// One of the program's blocks on its way to the callback queue.
///
/// As in the original, blocks need not be `Sendable`. A block in a main-actor class may use that
/// class, because the callback queue is the main queue unless the program sets another one.
package struct Callback<Block>: @unchecked Sendable {
  /// The block; it must only be called on the callback queue.
  package let call: Block

  package init(_ block: Block) {
    call = block
  }
}

/// Lets an `async` call wait for an answer, its deadline or the task's cancellation.
///
/// State: open (with or without a continuation) → settled. A lock guards it; the continuation is
/// resumed exactly once, outside the lock.
final class Answer<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var early: Result<Value, any Error>?
    var isSettled = false
    var isGivenUp = false
    var deadline: Scheduled<Void>?
    var onGivenUp: (@Sendable () -> Void)?
  }

  private let state = NIOLockedValueBox(State())

  /// Starts an operation and waits for its answer.
  ///
  /// - Parameters:
  ///   - deadline: How long to wait at most, and makes the error to throw afterwards, on the loop.
  ///   - eventLoop: The event loop that times the deadline; without it there is none.
  ///   - cancellation: The error to throw when the task is cancelled.
  ///   - start: Starts the operation and finishes the answer, on any thread; only the first result
  ///     counts.
  /// - Returns: The answer.
  /// - Throws: The error of the answer, or that of the deadline or the cancellation.
  static func awaited(
    within deadline: (time: Duration, error: @Sendable () -> DatabaseError)? = nil,
    on eventLoop: (any EventLoop)? = nil,
    cancellation: DatabaseError,
    _ start: (Answer) -> Void
  ) async throws -> Value {
    let answer = Answer()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.wait(continuation)
        start(answer)
        if let deadline, let eventLoop {
          let amount = TimeAmount(deadline.time)
          answer.keep(
            eventLoop.scheduleTask(in: amount) { answer.giveUp(deadline.error()) }
          )
        }
      }
    } onCancel: {
      answer.giveUp(cancellation)
    }
  }

  /// Ends the wait with an answer; ignored if it has already ended.
  func finish(_ result: Result<Value, any Error>) {
    settle(result, isGivenUp: false)?()
  }

  /// Runs a block if the wait ends without an answer.
  func onGivenUp(_ block: @escaping @Sendable () -> Void) {
    let isLate = state.withLockedValue { state in
      if !state.isSettled { state.onGivenUp = block }
      return state.isGivenUp
    }
    if isLate { block() }
  }

  private func giveUp(_ error: any Error) {
    settle(.failure(error), isGivenUp: true)?()
  }

  private func keep(_ deadline: Scheduled<Void>) {
    let isLate = state.withLockedValue { state in
      if !state.isSettled { state.deadline = deadline }
      return state.isSettled
    }
    if isLate { deadline.cancel() }
  }

  private func wait(_ continuation: CheckedContinuation<Value, any Error>) {
    let early = state.withLockedValue { state in
      if state.early == nil { state.continuation = continuation }
      return state.early
    }
    if let early { continuation.resume(with: early) }
  }

  /// Settles once; returns the work to do outside the lock.
  private func settle(
    _ result: Result<Value, any Error>,
    isGivenUp: Bool
  ) -> (() -> Void)? {
    let ended = state.withLockedValue { state -> State? in
      guard !state.isSettled else { return nil }
      let ended = state
      state = State()
      state.isSettled = true
      state.isGivenUp = isGivenUp
      if ended.continuation == nil { state.early = result }
      return ended
    }
    guard let ended else { return nil }
    return {
      ended.deadline?.cancel()
      if isGivenUp { ended.onGivenUp?() }
      ended.continuation?.resume(with: result)
    }
  }
}
