package import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A client's connection to a database server, over which it sends and receives whole messages.
///
/// State: connecting → open → ended, or connecting → ended. All calls and callbacks happen on the
/// event loop of the connection; `onClose` is called exactly once, last.
package final class ClientConnection: Sendable {
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
    /// The reason for the end, if known before the channel has closed.
    var end: ConnectionEnd?
  }

  private enum Phase {
    case connecting
    case open(MessageHandler)
    case ended
  }

  /// Starts connecting.
  ///
  /// - Parameters:
  ///   - target: The target.
  ///   - lastSession: The session of the connection that this one replaces, if any.
  ///   - parameters: Further parameters of the handshake, escaped, such as "&a=b".
  ///   - trust: The trusted authorities, if the target uses TLS.
  ///   - eventLoop: The event loop, which must be the current one.
  ///   - limits: The limits of the connection.
  ///   - onProgress: Called repeatedly while a long message arrives.
  ///   - onMessage: Receives each message, in order.
  ///   - onClose: Receives the end; called once, and never during this call.
  package init(
    to target: ConnectionTarget,
    lastSession: String? = nil,
    parameters: String = "",
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
    connect(target.requestTarget(lastSession: lastSession) + parameters)
  }

  private var handler: MessageHandler? {
    if case .open(let handler) = state.value.phase { handler } else { nil }
  }

  package var isCongested: Bool { handler?.isCongested ?? false }

  /// Calls a closure once, as soon as the server has caught up; never if the connection ends first.
  ///
  /// A later call replaces an earlier one.
  package func whenRelieved(_ body: @escaping () -> Void) { handler?.whenRelieved(body) }

  /// Sends a message, split into frames; ignored unless the connection is open.
  ///
  /// - Complexity: O(bytes)
  package func send(_ message: [UInt8]) { handler?.send(message) }

  /// Sends the keepalive that a client must send after 45 seconds of silence.
  package func sendKeepalive() {
    send([UInt8(ascii: "0")])
  }

  /// Whether the other machine is acknowledging long output right now, whatever its program does.
  ///
  /// False if this cannot be determined, as on a Unix socket.
  package var isUploading: Bool {
    guard case .tcp = target.endpoint, case .open = state.value.phase,
      let socket = state.value.channel as? any SocketOptionProvider
    else { return false }
    let uploading = NIOLoopBoundBox(false, eventLoop: eventLoop)
    // The future is already complete, since this is the event loop of the channel.
    socket.getTCPInfo().hop(to: eventLoop).assumeIsolated().whenSuccess { info in
      uploading.value = info.tcpi_unacked > 0 && info.tcpi_last_ack_recv < Self.recent
    }
    return uploading.value
  }

  /// An acknowledgement counts as current if it arrived within this many milliseconds.
  private static let recent: UInt32 = 1_500
  /// The number of bytes that count as progress; small messages are shorter.
  private static let progress = 32 * 1_024

  /// Closes the connection; no more messages are delivered.
  package func close() {
    let end = ConnectionEnd(.closed, description: "the connection to \(target) was closed")
    switch state.value.phase {
    case .connecting: abandon(end)
    case .open(let handler): handler.close(code: 1_000, end: end)
    case .ended: break
    }
  }

  private func connect(_ requestTarget: String) {
    let limits = limits
    let target = target
    state.value.deadline = eventLoop.scheduleTask(in: limits.handshake) {
      self.abandon(ConnectionEnd(.timedOut, of: target, because: "no answer"))
    }
    let connected = target.connect(on: eventLoop, trust: trust, timeout: limits.handshake) {
      try self.configure($0, requestTarget: requestTarget)
    }
    connected.hop(to: eventLoop).assumeIsolated().whenComplete { result in
      switch result {
      case .success(let channel):
        if case .connecting = self.state.value.phase { self.state.value.channel = channel }
        channel.closeFuture.hop(to: self.eventLoop).assumeIsolated().whenComplete { _ in
          self.finish(
            ConnectionEnd(.lost, description: "\(target) closed the connection without an answer")
          )
        }
      case .failure(let error):
        let end =
          (error as? TLSFailure).map { ConnectionEnd($0, of: target) }
          ?? ConnectionEnd(.unreachable, of: target, because: FailureText.describe(error))
        // A Unix socket refuses at once, before the caller has received this connection.
        self.eventLoop.execute { self.finish(end) }
      }
    }
  }

  private func configure(_ channel: any Channel, requestTarget: String) throws {
    state.value.channel = channel
    guard case .connecting = state.value.phase, state.value.end == nil else {
      channel.close(promise: nil)
      return
    }
    let upgrader = FrameUpgrade.Client { try self.open($0) }
    let head = HTTPRequestHead(
      version: .http1_1,
      method: .GET,
      uri: requestTarget,
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
    // The server's hello may arrive together with the response to the handshake.
    configuration.leftOverBytesStrategy = .forwardBytes
    configuration.decoderConfiguration = limits.decoderConfiguration
    let upgraded = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: configuration
    )
    upgraded.assumeIsolated().whenFailure { error in
      // If a host has several addresses, connections that open too late are abandoned.
      if self.state.value.channel === channel { self.handshakeFailed(error) }
    }
  }

  private func handshakeFailed(_ error: any Error) {
    // The end of the connection fails the handshake as well, but is reported with its own reason.
    if let error = error as? ChannelError, error == .inappropriateOperationForState { return }
    if let error = error as? TLSFailure { return abandon(ConnectionEnd(error, of: target)) }
    // If the connection breaks during the handshake, the server may still be a database server.
    if error is IOError {
      let reason = FailureText.describe(error)
      return abandon(
        ConnectionEnd(.lost, description: "\(target) broke off the connection: \(reason)")
      )
    }
    abandon(ConnectionEnd(foreign: target, "\(error)"))
  }

  private func open(_ channel: any Channel) throws {
    let (onProgress, onMessage) = (onProgress, onMessage)
    // The bytes read since the last message or report.
    var readBytes = 0
    let handler = MessageHandler(
      role: .client,
      limits: Shared(limits),
      peer: target,
      onRead: { bytes in
        readBytes += bytes
        guard readBytes >= Self.progress else { return }
        readBytes = 0
        onProgress()
      },
      onMessage: { message in
        readBytes = 0
        onMessage(message)
      },
      onEnd: { self.finish($0) }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    guard case .connecting = state.value.phase else { return }
    state.value.deadline?.cancel()
    state.value.phase = .open(handler)
  }

  /// Abandons the connection before it is open.
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

extension ConnectionEnd {
  /// Makes the end of a connection to something that is not a database server.
  fileprivate init(foreign target: ConnectionTarget, _ sign: String) {
    let what = "is answered by something that is not a database server"
    self.init(.notADatabaseServer, description: "\(target) \(what) (\(sign))")
  }
}

/// Reads the HTTP response of a server that refused the WebSocket.
private final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private static let bodyBytes = 512

  private let target: ConnectionTarget
  private let onRefusal: (ConnectionEnd) -> Void
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []
  private var isReported = false

  init(target: ConnectionTarget, onRefusal: @escaping (ConnectionEnd) -> Void) {
    self.target = target
    self.onRefusal = onRefusal
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let part):
      body.append(contentsOf: part.readableBytesView.prefix(Self.bodyBytes - body.count))
      if body.count == Self.bodyBytes { report() }
    case .end: report()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    report()
    context.fireChannelInactive()
  }

  private func report() {
    guard !isReported, let head else { return }
    isReported = true
    let status = Int(head.status.code)
    // A database server explains a refusal in JSON; another service on the port does not.
    guard head.headers.first(name: "Content-Type")?.hasPrefix("application/json") == true else {
      return onRefusal(ConnectionEnd(foreign: target, "HTTP \(status)"))
    }
    if body.last == 0x0A { body.removeLast() }
    let text = String(decoding: body.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    onRefusal(
      ConnectionEnd(
        .refused(status: status),
        description: "\(target) refused: HTTP \(status) \(text)"
      )
    )
  }
}
