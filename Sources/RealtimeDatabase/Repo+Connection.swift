import Dispatch
import Logging
import NIOCore
import RealtimeProtocol
import RealtimeSync
import RealtimeTransport

/// The connection and the timers that the engine asks for.
extension Repo {
  func connect(_ id: ConnectionID, host: String?) {
    let target = host.flatMap { self.target.redirected(to: $0) } ?? self.target
    guard let willConnect = options.willConnect else { return open(id, target) }
    DispatchQueue.global().async {
      willConnect()
      self.submit { $0.open(id, target) }
    }
  }

  func open(_ id: ConnectionID, _ target: ConnectionTarget) {
    guard case .connecting(id) = core.phase else { return }
    let client = ClientConnection(
      to: target,
      lastSession: session,
      on: eventLoop
    ) { bytes in
      self.assumeIsolated { $0.received(bytes, from: id) }
    } onClose: { end in
      self.assumeIsolated { $0.closed(id, end) }
    }
    connection = (id, client)
  }

  func received(_ bytes: [UInt8], from id: ConnectionID) {
    guard connection?.id == id else { return }
    do throws(MessageError) {
      let message = try ServerMessage(decoding: bytes)
      if case .hello(let hello) = message {
        session = hello.session
        hasBeenConnected = true
        handle(.transportOpened(id))
      }
      handle(.message(id, message))
    } catch {
      logger.warning("a message of the server cannot be understood: \(error)")
    }
  }

  func closed(_ id: ConnectionID, _ end: ConnectionEnd) {
    if connection?.id == id { connection = nil }
    logger.debug("\(end)")
    problem = ConnectionStatus.Problem(end)
    handle(.transportClosed(id, reason: end.description))
  }

  func schedule(_ timer: RepoTimer, _ milliseconds: Int64) {
    timers[timer]?.cancel()
    timers[timer] = eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {
      self.assumeIsolated { repo in
        repo.timers[timer] = nil
        repo.handle(.timerFired(timer))
      }
    }
  }
}

extension ConnectionStatus.Problem {
  fileprivate init(_ end: ConnectionEnd) {
    reason = end.description
    switch end.kind {
    case .notADatabaseServer, .unsupported: isPermanent = true
    case .refused(let status): isPermanent = status != 503
    case .closed, .closedByPeer, .lost, .unreachable, .timedOut, .protocolViolation,
      .slowConsumer:
      isPermanent = false
    }
  }
}
