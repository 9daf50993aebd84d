internal import NIOConcurrencyHelpers
internal import NIOCore

// Safety: the block is called only on the callback queue, which is serial, so never concurrently. On its
// way there it is only passed on. It may be released on any thread, as in the original.
/// A block of the program on its way to the callback queue.
///
/// As in the original, blocks need not be `Sendable`. A block from a class of the main actor may use
/// that class, since the callback queue is the main queue unless another one was set.
package struct Callback<Block>: @unchecked Sendable {
  /// The block, to be called on the callback queue only.
  package let call: Block

  /// Takes a block.
  package init(_ block: Block) {
    call = block
  }
}

/// Waits for the first of an answer, a deadline and the task's cancellation, for an `async` call.
///
/// State: open (with or without a continuation) → settled. One lock guards it; the continuation is
/// resumed outside of the lock, exactly once.
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

  /// Starts something and waits for its answer.
  ///
  /// - Parameters:
  ///   - deadline: How long to wait at most, and what to throw then.
  ///   - eventLoop: Where the deadline is kept; without it there is none.
  ///   - start: Starts it and finishes the answer, on any thread; only the first result counts.
  /// - Returns: The answer.
  /// - Throws: What the answer failed with, the error of the deadline, or `CancellationError`.
  static func awaited(
    within deadline: (time: Duration, error: DatabaseError)? = nil,
    on eventLoop: (any EventLoop)? = nil,
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
            eventLoop.scheduleTask(in: amount) { answer.giveUp(deadline.error) }
          )
        }
      }
    } onCancel: {
      answer.giveUp(CancellationError())
    }
  }

  /// Ends the waiting with an answer; ignored if it has ended already.
  func finish(_ result: Result<Value, any Error>) {
    settle(result, isGivenUp: false)?()
  }

  /// Runs a block if the waiting ends without an answer.
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

  /// Settles once; returns what is to be done outside of the lock.
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
