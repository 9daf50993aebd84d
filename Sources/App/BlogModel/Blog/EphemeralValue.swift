internal import Dispatch
package import RealtimeDatabase

// Safety: every mutable property is accessed only on the callback queue of the database.
/// A value that is in the database only while this client is connected; the server removes it.
///
/// The removal on disconnect is set up first, and the value is written only after the server has
/// stored that. A server with a failing disk may refuse one and accept the other; the value would
/// then never be removed. A request that the server cannot store is retried while the connection
/// lasts. All methods are called on the callback queue of the database.
package final class EphemeralValue: @unchecked Sendable {
  private let reference: DatabaseReference
  private var value: Any?
  private var isArranged = false
  /// Identifies the latest call; answers to earlier ones are ignored.
  private var round = 0
  private var delay = EphemeralValue.firstDelay

  /// The delay in seconds before a failed request is retried; it doubles each time.
  private static let firstDelay = 0.25
  private static let longestDelay = 4.0

  /// Makes a value, not yet written, at a location where nothing else in this client writes.
  package init(at reference: DatabaseReference) {
    self.reference = reference
  }

  /// Writes or replaces the value; it must be written again on each new connection.
  ///
  /// If the rules forbid the write, nothing happens.
  package func put(_ value: Any) {
    self.value = value
    begin()
    if isArranged { write() } else { arrange() }
  }

  /// Removes the value while the connection lasts.
  package func remove() {
    value = nil
    begin()
    takeAway()
  }

  /// Notes that the connection has ended, and with it the value and the pending removal.
  package func disconnected() {
    value = nil
    isArranged = false
    begin()
  }

  private func begin() {
    round += 1
    delay = Self.firstDelay
  }

  private func arrange() {
    reference.onDisconnectRemoveValue(
      completionBlock: answer { [self] in
        isArranged = true
        write()
      } orAgain: { [self] in
        arrange()
      }
    )
  }

  private func write() {
    reference.setValue(
      value,
      withCompletionBlock: answer {
      } orAgain: { [self] in
        write()
      }
    )
  }

  /// The removal on disconnect stays in place until there is no value left for it to remove.
  private func takeAway() {
    reference.removeValue(
      completionBlock: answer { [self] in
        isArranged = false
        reference.cancelDisconnectOperations(completionBlock: nil)
      } orAgain: { [self] in
        takeAway()
      }
    )
  }

  /// Handles the answer to a request, unless another call has been made since.
  private func answer(
    _ done: @escaping @Sendable () -> Void,
    orAgain again: @escaping @Sendable () -> Void
  ) -> DatabaseReference.Completion {
    { [self, round] error, _ in
      guard round == self.round else { return }
      guard let error else {
        delay = Self.firstDelay
        return done()
      }
      guard (error as? DatabaseError)?.kind == .unavailable else { return }
      reference.database.callbackQueue.asyncAfter(deadline: .now() + delay) { [self] in
        if round == self.round { again() }
      }
      delay = min(Self.longestDelay, delay * 2)
    }
  }
}

// Safety: all state is accessed only on the callback queue of the database.
/// Measures the server's response time every 30 seconds while there is a connection.
final class Pulse: @unchecked Sendable {
  private static let seconds = 30

  private let reference: DatabaseReference
  private let tell: @Sendable (Int) -> Void
  private var timer: (any DispatchSourceTimer)?

  init(_ reference: DatabaseReference, tell: @escaping @Sendable (Int) -> Void) {
    self.reference = reference
    self.tell = tell
  }

  func start() {
    guard timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: reference.database.callbackQueue)
    // A generous leeway lets the system combine several wakeups.
    timer.schedule(deadline: .now(), repeating: .seconds(Self.seconds), leeway: .seconds(5))
    timer.setEventHandler { [weak self] in self?.measure() }
    timer.resume()
    self.timer = timer
  }

  func stop() {
    timer?.cancel()
    timer = nil
  }

  private func measure() {
    // Uses the database's clock: where that clock is frozen, so is the measurement.
    let database = reference.database
    let start = database.serverTime
    reference.getData { [tell] error, _ in
      guard error == nil else { return }
      tell(Int(max(0, database.serverTime - start)))
    }
  }
}
