package import BlogModel

/// The connection to the database: its state, as far as it is known, and the last signs of life.
package struct ServerConnection: Sendable {
  package let databaseName: String
  /// Whether the user reads without an account, where there are accounts.
  var isWithoutAccount = false
  package private(set) var state = ConnectionState.connecting
  private(set) var changedAt: Int64
  /// Why there is no connection, as far as that is known.
  var problem: ConnectionProblem?
  /// The current period in which the server answers nothing, if there is one.
  var silence: Silence?
  /// Whether the user has disconnected this terminal.
  var isCutOff = false
  /// The latency of the server's last response, in milliseconds; nil while there is no connection.
  var roundTrip: Int?
  /// When the last event from the server arrived, in milliseconds since 1970.
  var lastEventAt: Int64?

  init(to databaseName: String, since now: Int64) {
    self.databaseName = databaseName
    changedAt = now
  }

  mutating func become(_ new: ConnectionState, at now: Int64) {
    // A repeated state does not restart the countdown unless it has run out.
    if new != state || secondsUntilRetry(at: now) == 0 { changedAt = now }
    state = new
    if new != .online { roundTrip = nil }
  }

  /// For how many seconds the server has not answered.
  func silentSeconds(at now: Int64) -> Int? {
    silence.map { silence in
      Int(clamping: max(0, now.subtractingReportingOverflow(silence.since).partialValue / 1_000))
    }
  }

  /// Whether there is a connection and the server has not been silent for so long that it counts as
  /// offline.
  func isAlive(at now: Int64) -> Bool {
    let seconds = silentSeconds(at: now)
    return state == .online && seconds.map { Int64($0) * 1_000 < Silence.patience } ?? true
  }

  /// The seconds until the next attempt to connect.
  func secondsUntilRetry(at now: Int64) -> Int? {
    guard case .offline(let seconds?) = state else { return nil }
    let passed = now.subtractingReportingOverflow(changedAt).partialValue / 1_000
    return max(0, max(0, seconds) - Int(clamping: max(0, passed)))
  }

  /// Why an attempt to reconnect would be pointless.
  var connectingReason: DisabledReason? {
    if isCutOff { return .note("This terminal is cut off. :net on connects again.") }
    guard silence == nil else { return nil }
    return switch state {
    case .online: .note("Online already")
    case .connecting where problem == nil: .note("Connecting already")
    case .connecting, .offline: nil
    }
  }
}
