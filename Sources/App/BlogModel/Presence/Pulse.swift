internal import Dispatch
internal import RealtimeDatabase

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
