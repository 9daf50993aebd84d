import Logging
import NIOConcurrencyHelpers
import RealtimeDatabase

/// Logs when and why the connection is established and lost, but no data.
struct ConnectionLog: Sendable {
  private let logger: Logger
  private let last = NIOLockedValueBox(ConnectionStatus.Phase.closed)

  /// Makes a log of a connection.
  init(_ logger: Logger) {
    self.logger = logger
  }

  /// Logs the state unless it is the same as before.
  func note(_ status: ConnectionStatus) {
    let isNews = last.withLockedValue { last in
      defer { last = status.phase }
      return last != status.phase
    }
    guard isNews else { return }
    switch status.phase {
    case .connected: logger.notice("connected")
    case .connecting: logger.info("connecting")
    case .waiting(let seconds):
      let reason = status.problem?.reason ?? "the connection was lost"
      logger.notice("not connected: \(reason); trying again in \(seconds) s")
    case .closed: logger.notice("the connection is closed")
    }
  }
}
