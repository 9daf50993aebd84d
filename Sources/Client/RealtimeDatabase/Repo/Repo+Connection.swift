import Dispatch
import Logging
import NIOCore
import RealtimeCore
import RealtimeSync
import RealtimeTransport

/// The connection and the timers that the engine asks for.
extension Repo {
  func connect(_ id: ConnectionID, host: String?) {
    let target = target(redirectedTo: host)
    guard let willConnect = options.willConnect else {
      return authenticate(id) { $0.open(id, target) }
    }
    Self.waiting("connection").async {
      willConnect()
      self.submit { repo in repo.authenticate(id) { $0.open(id, target) } }
    }
  }

  /// A queue for something that waits.
  ///
  /// Not a global one: from their first use on, the system looks after their threads every second, for
  /// as long as the process lives, and an idle program would never sleep.
  static func waiting(_ purpose: String) -> DispatchQueue {
    DispatchQueue(label: "realtime.database.\(purpose)")
  }

  /// Where to connect, when a server has named another host.
  ///
  /// Only one that has proved who it is may do so; whoever answers in plain text may be anybody.
  private func target(redirectedTo host: String?) -> ConnectionTarget {
    var target = self.target
    if target.isSecure, let host, let other = target.redirected(to: host) { target = other }
    target.detour = options.detours[target.host]
    return target
  }

  func open(_ id: ConnectionID, _ target: ConnectionTarget) {
    guard case .connecting(id) = core.phase else { return }
    let client = ClientConnection(
      to: target,
      lastSession: session,
      trust: options.trust,
      on: eventLoop,
      onProgress: { self.assumeIsolated { $0.handle(.transportProgress(id)) } }
    ) { bytes in
      self.assumeIsolated { $0.received(bytes, from: id) }
    } onClose: { end in
      self.assumeIsolated { $0.closed(id, end) }
    }
    connection = (id, client)
  }

  func received(_ bytes: [UInt8], from id: ConnectionID) {
    guard connection?.id == id else { return }
    recorder?.received(bytes, at: Self.wallClock())
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
    case .closed, .closedByPeer, .lost, .unreachable, .timedOut, .slowConsumer:
      (cause, isPermanent) = (.network, false)
    case .protocolViolation: (cause, isPermanent) = (.protocolViolation, false)
    case .refused(let status): (cause, isPermanent) = (.refused, status != 503)
    case .notADatabaseServer: (cause, isPermanent) = (.notADatabaseServer, true)
    case .insecure(let failure): (cause, isPermanent) = (Cause(failure), true)
    }
  }
}

extension ConnectionStatus.Problem.Cause {
  fileprivate init(_ failure: TLSFailure.Kind) {
    switch failure {
    case .unknownAuthority: self = .untrustedCertificate
    case .wrongName: self = .wrongHostName
    case .expired, .notYetValid: self = .certificateOutOfDate
    case .notTLS: self = .notEncrypted
    case .unusableTrustRoots: self = .unusableTrustRoots
    case .interrupted, .truncated: self = .network
    case .failed: self = .encryptionFailed
    }
  }
}
