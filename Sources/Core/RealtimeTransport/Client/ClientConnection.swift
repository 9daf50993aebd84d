package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RealtimeCore

/// A client's connection to a database server: whole messages in and out.
///
/// State: connecting → open → ended, or connecting → ended. Every callback and every call happens
/// on the event loop that the connection was made with; `onClose` is called exactly once, last.
package final class ClientConnection: Sendable {
  /// Where it connects to.
  package let target: ConnectionTarget
  /// The event loop of every call and callback.
  package let eventLoop: any EventLoop

  private let trust: TrustRoots
  private let limits: TransportLimits
  private let onProgress: @Sendable () -> Void
  private let onMessage: @Sendable ([UInt8]) -> Void
  private let onClose: @Sendable (ConnectionEnd) -> Void
  private let state: NIOLoopBoundBox<State>

  private struct State {
    var phase = Phase.connecting
    var channel: (any Channel)?
    var deadline: Scheduled<Void>?
    var meter: ReadMeter?
    /// What was found out about the end before the channel closed.
    var end: ConnectionEnd?
  }

  private enum Phase {
    case connecting
    case open(MessageHandler)
    case ended
  }

  /// Starts to connect.
  ///
  /// - Parameters:
  ///   - target: Where to.
  ///   - lastSession: The session of the connection that this one takes the place of.
  ///   - trust: Whose certificates are believed, where the target demands encryption.
  ///   - eventLoop: The loop of a NIO socket group, which must be the current one.
  ///   - limits: The bounds of the connection.
  ///   - onProgress: Is told now and then while a long message arrives.
  ///   - onMessage: Takes each message, in order.
  ///   - onClose: Takes the end, once, never during this call.
  package init(
    to target: ConnectionTarget,
    lastSession: String? = nil,
    trust: TrustRoots = .system,
    on eventLoop: any EventLoop,
    limits: TransportLimits = .client,
    onProgress: @escaping @Sendable () -> Void = {},
    onMessage: @escaping @Sendable ([UInt8]) -> Void,
    onClose: @escaping @Sendable (ConnectionEnd) -> Void
  ) {
    self.target = target
    self.trust = trust
    self.eventLoop = eventLoop
    self.limits = limits
    self.onProgress = onProgress
    self.onMessage = onMessage
    self.onClose = onClose
    state = NIOLoopBoundBox(State(), eventLoop: eventLoop)
    connect(lastSession: lastSession)
  }

  /// Sends a message, cut into frames; ignored unless the connection is open.
  ///
  /// - Complexity: O(bytes)
  package func send(_ message: [UInt8]) {
    guard case .open(let handler) = state.value.phase else { return }
    handler.send(message)
  }

  /// Sends the sign of life that a client owes after 45 seconds of silence.
  package func sendKeepalive() {
    send([UInt8(ascii: "0")])
  }

  /// Says goodbye and closes; no message is delivered any more.
  package func close() {
    let end = ConnectionEnd(.closed, "the connection to \(target) was closed")
    switch state.value.phase {
    case .connecting: abandon(end)
    case .open(let handler): handler.close(code: 1_000, end: end)
    case .ended: break
    }
  }

  private func connect(lastSession: String?) {
    let limits = limits
    let target = target
    state.value.deadline = eventLoop.scheduleTask(in: limits.handshake) {
      self.abandon(ConnectionEnd(.timedOut, "\(target) did not answer in time"))
    }
    let connected = target.connect(on: eventLoop, trust: trust, timeout: limits.handshake) {
      try self.configure($0, lastSession: lastSession)
    }
    connected.hop(to: eventLoop).assumeIsolated().whenComplete { result in
      switch result {
      case .success(let channel):
        if case .connecting = self.state.value.phase { self.state.value.channel = channel }
        channel.closeFuture.hop(to: self.eventLoop).assumeIsolated().whenComplete { _ in
          self.finish(ConnectionEnd(.lost, "\(target) closed the connection without an answer"))
        }
      case .failure(let error as TLSFailure): self.finish(ConnectionEnd(error, of: target))
      case .failure(let error):
        let reason = FailureText.describe(error)
        self.finish(ConnectionEnd(.unreachable, "\(target) cannot be reached: \(reason)"))
      }
    }
  }

  private func configure(_ channel: any Channel, lastSession: String?) throws {
    state.value.channel = channel
    guard case .connecting = state.value.phase, state.value.end == nil else {
      channel.close(promise: nil)
      return
    }
    let meter = ReadMeter(onProgress: onProgress)
    try channel.pipeline.syncOperations.addHandler(meter)
    state.value.meter = meter
    let upgrader = FrameUpgrade.Client { try self.open($0) }
    let head = HTTPRequestHead(
      version: .http1_1,
      method: .GET,
      uri: target.requestTarget(lastSession: lastSession),
      headers: ["Host": target.host, "User-Agent": "Firebase/5/hearth/linux/swift"]
    )
    var configuration = NIOUpgradableHTTPClientPipelineConfiguration<Void>(
      upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
        upgradeRequestHead: head,
        upgraders: [upgrader]
      ) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            RefusalHandler(target: self.target) { self.abandon($0) }
          )
        }
      }
    )
    // The greeting may arrive together with the answer to the handshake.
    configuration.leftOverBytesStrategy = .forwardBytes
    configuration.decoderConfiguration = limits.decoderConfiguration
    let upgraded = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: configuration
    )
    upgraded.assumeIsolated().whenFailure { error in
      // A host may have several addresses, of which one that answers too late is given up.
      if self.state.value.channel === channel { self.handshakeFailed(error) }
    }
  }

  private func handshakeFailed(_ error: any Error) {
    // The end of the connection fails the handshake as well; it has its own reason.
    if let error = error as? ChannelError, error == .inappropriateOperationForState { return }
    if let error = error as? TLSFailure { return abandon(ConnectionEnd(error, of: target)) }
    // A server that dies during the handshake says nothing about what it was.
    if error is IOError {
      return abandon(ConnectionEnd(.lost, "\(target) broke the connection off (\(error))"))
    }
    abandon(
      ConnectionEnd(
        .notADatabaseServer,
        "\(target) is answered by something that is not a database server (\(error))"
      )
    )
  }

  private func open(_ channel: any Channel) throws {
    let onMessage = onMessage
    let meter = state.value.meter
    let handler = MessageHandler(
      role: .client,
      limits: Shared(limits),
      peerName: target.description,
      onMessage: { message in
        meter?.messageEnded()
        onMessage(message)
      },
      onEnd: { self.finish($0) }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    guard case .connecting = state.value.phase else { return }
    state.value.deadline?.cancel()
    state.value.phase = .open(handler)
  }

  /// Gives up before the connection is open.
  private func abandon(_ end: ConnectionEnd) {
    guard case .connecting = state.value.phase else { return }
    let channel = state.value.channel
    eventLoop.execute { self.finish(end) }
    state.value.end = state.value.end ?? end
    channel?.close(promise: nil)
  }

  private func finish(_ end: ConnectionEnd) {
    if case .ended = state.value.phase { return }
    let known = state.value.end
    state.value.deadline?.cancel()
    state.value = State(phase: .ended)
    onClose(known ?? end)
  }
}
