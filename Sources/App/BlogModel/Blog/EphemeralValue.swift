package import Dispatch
package import RealtimeDatabase

// Safety: every mutable property is touched only on the callback queue of the database.
/// A value that is in the database only while this client is connected; the server removes it.
///
/// The removal is arranged first, and the value is written only when the server has stored that: a
/// server whose disk fails may refuse the one and take the other, and nobody would ever remove the
/// value. What a server cannot store now is tried again while the connection lasts. Everything is
/// called on the callback queue of the database.
package final class EphemeralValue: @unchecked Sendable {
  private let place: DatabaseReference
  private let queue: DispatchQueue
  private var value: [String: Any]?
  private var isArranged = false
  /// Which of the calls counts; what earlier ones still hear is too late.
  private var round = 0
  private var delay = EphemeralValue.firstDelay

  /// How many seconds a server is left alone that cannot store something; each time twice as many.
  private static let firstDelay = 0.25
  /// The longest wait in seconds.
  private static let longestDelay = 4.0

  /// Makes a value that is nowhere yet.
  ///
  /// - Parameters:
  ///   - place: Where the value is to be; nothing else of this client writes there.
  ///   - queue: The callback queue of the database.
  package init(at place: DatabaseReference, queue: DispatchQueue) {
    self.place = place
    self.queue = queue
  }

  /// Puts the value there, or replaces it; on each new connection it must be put there again.
  ///
  /// Where the rules forbid it nothing happens.
  package func put(_ value: [String: Any]) {
    self.value = value
    begin()
    if isArranged { write() } else { arrange() }
  }

  /// Takes the value away before the connection ends.
  package func remove() {
    value = nil
    begin()
    takeAway()
  }

  /// Says that the connection has ended and with it the value and all that was arranged.
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
    place.onDisconnectRemoveValue(
      completionBlock: answer { [self] in
        isArranged = true
        write()
      } orAgain: { [self] in
        arrange()
      }
    )
  }

  private func write() {
    place.setValue(
      value,
      withCompletionBlock: answer {
      } orAgain: { [self] in
        write()
      }
    )
  }

  /// The end is left arranged until nothing is there that it would have to remove.
  private func takeAway() {
    place.removeValue(
      completionBlock: answer { [self] in
        isArranged = false
        place.cancelDisconnectOperations()
      } orAgain: { [self] in
        takeAway()
      }
    )
  }

  /// What is done with an answer, unless something else has been asked for since.
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
      guard (error as? DatabaseError)?.code == .unavailable else { return }
      queue.asyncAfter(deadline: .now() + delay) { [self] in
        if round == self.round { again() }
      }
      delay = min(Self.longestDelay, delay * 2)
    }
  }
}

// Safety: everything is touched only on `queue`.
/// Measures how long the server takes to answer, now and then while there is a connection.
final class Pulse: @unchecked Sendable {
  private static let seconds = 30

  private let place: DatabaseReference
  private let queue: DispatchQueue
  private let tell: @Sendable (Int) -> Void
  private var timer: (any DispatchSourceTimer)?

  init(
    _ place: DatabaseReference,
    queue: DispatchQueue,
    tell: @escaping @Sendable (Int) -> Void
  ) {
    self.place = place
    self.queue = queue
    self.tell = tell
  }

  func start() {
    guard timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    // A generous leeway lets the system wake up for several things at once.
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
    // The clock of the database: where it stands still, so does what is measured.
    let database = place.database
    let start = database.serverTime
    place.getData { [tell] error, _ in
      guard error == nil else { return }
      tell(Int(max(0, database.serverTime - start)))
    }
  }
}
