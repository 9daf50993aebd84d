private import Glibc
internal import NIOCore
internal import NIOHTTP1

/// Builds the pipeline of each connection that a listener accepts.
struct ConnectionAcceptor: Sendable {
  let limits: Shared<TransportLimits>
  let policy: RequestPolicy
  let handlers: ServerHandlers
  /// The user that the server runs as.
  let user: UInt32
  /// The memory that the connections share; nil to share none and have no bounds.
  let memory: NIOLoopBound<ConnectionMemory>?
  /// The number of open connections.
  let openConnections: NIOLoopBoundBox<Int>
  /// The connections that are waiting for a request.
  let idleConnections: NIOLoopBoundBox<IdleConnections>
  /// The certificate for TLS, if any.
  let certificate: NIOLoopBoundBox<ServerCertificate?>
  /// Flushes the output of the connections.
  let endOfTick: NIOLoopBoundBox<OutputTick>
  /// The connections that are not WebSockets.
  let plainConnections: NIOLoopBoundBox<[ObjectIdentifier: PlainRequestHandler]>

  /// The result of a handshake.
  private enum Outcome: Sendable {
    case messages
    case plain
  }

  /// Identifies the peer and prepares the pipeline for its first request.
  func initialize(_ channel: any Channel, at address: ListenAddress) -> EventLoopFuture<Void> {
    // Idle connections make room for new ones, the oldest first.
    guard
      openConnections.value < limits.connections || idleConnections.value.endOldest()
        || handlers.makeRoom()
    else {
      return channel.eventLoop.makeFailedFuture(
        ListenError(.failed, description: "too many connections")
      )
    }
    openConnections.value += 1
    let id = ObjectIdentifier(channel)
    idleConnections.value.insert(id) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in
      openConnections.value -= 1
      idleConnections.value.remove(id)
    }
    return peer(of: channel, at: address).flatMapThrowing { peer in
      if case .local(let credentials) = peer, !credentials.isAllowed(byServerOf: user) {
        throw ListenError(
          .failed,
          description: "a process of user \(credentials.user) was turned away"
        )
      }
      // TLS is the first handler, so that nothing is ever sent in plain text.
      try certificate.value?.secure(channel)
      try configure(channel, peer: peer)
    }
  }

  private func peer(of channel: any Channel, at address: ListenAddress) -> EventLoopFuture<Peer> {
    switch address {
    case .tcp:
      let text = channel.remoteAddress.map { "\($0)" } ?? "unknown"
      return channel.eventLoop.makeSucceededFuture(.network(address: text))
    case .unix:
      guard let provider = channel as? any SocketOptionProvider else {
        return channel.eventLoop.makeFailedFuture(
          ListenError(.failed, description: "the user of a connection cannot be found out")
        )
      }
      // Safety: the kernel writes 12 bytes here, which matches the type in size and layout.
      let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
        level: .socket,
        name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
      )
      return credentials.map { .local($0) }
    }
  }

  private func configure(_ channel: any Channel, peer: Peer) throws {
    let gauge = RequestLineGauge()
    let recorder = RequestHeadRecorder(gauge: gauge, headerBytes: limits.headerBytes)
    let recorded = NIOLoopBound(recorder, eventLoop: channel.eventLoop)
    let upgrader = FrameUpgrade.Server<Outcome>(
      admit: { channel, head in
        let request = HTTPRequest(head: head, peer: peer)
        // The handler of plain requests answers the requests that are refused here.
        idleConnections.value.remove(ObjectIdentifier(channel))
        guard Self.isHandshake(head), request.path == "/.ws",
          policy.refusal(of: request) == nil
        else {
          return channel.eventLoop.makeSucceededFuture(nil)
        }
        return handlers.admit(request, channel.eventLoop).map { refusal in
          recorded.value.refusal = refusal
          return refusal == nil ? HTTPHeaders() : nil
        }
      },
      open: { channel, head in
        try open(channel, request: HTTPRequest(head: head, peer: peer))
        return .messages
      }
    )
    let encoder = HTTPResponseEncoder()
    let decoder = ByteToMessageHandler(
      HTTPRequestDecoder(
        leftOverBytesStrategy: .forwardBytes,
        limitConfiguration: limits.decoderConfiguration
      )
    )
    let upgrade = NIOTypedHTTPServerUpgradeHandler(
      httpEncoder: encoder,
      extraHTTPHandlers: [gauge, decoder, recorder],
      upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(upgraders: [upgrader]) {
        channel in
        channel.eventLoop.makeCompletedFuture {
          try addPlainHandler(to: channel, recorder: recorded.value, peer: peer)
          return .plain
        }
      }
    )
    try channel.pipeline.syncOperations.addHandlers(gauge, encoder, decoder, recorder, upgrade)
    watch(channel, until: upgrade.upgradeResultFuture)
  }

  /// Whether a request is a WebSocket handshake as defined by RFC 6455.
  ///
  /// After any other request, the parser expects HTTP, which must not reach the frame decoder.
  private static func isHandshake(_ head: HTTPRequestHead) -> Bool {
    head.method == .GET && head.version == .http1_1
      && head.headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
      && !head.headers.contains(name: "Content-Length")
      && !head.headers.contains(name: "Transfer-Encoding")
  }

  /// Closes a connection whose handshake takes too long or fails.
  private func watch(_ channel: any Channel, until outcome: EventLoopFuture<Outcome>) {
    let deadline = channel.eventLoop.scheduleTask(in: limits.handshake) {
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in deadline.cancel() }
    outcome.whenComplete { result in
      switch result {
      case .success: deadline.cancel()
      case .failure: channel.close(promise: nil)
      }
    }
  }

  private func addPlainHandler(
    to channel: any Channel,
    recorder: RequestHeadRecorder,
    peer: Peer
  ) throws {
    let id = ObjectIdentifier(channel)
    let handler = PlainRequestHandler(
      recorder: recorder,
      peer: peer,
      policy: policy,
      answer: handlers.answer,
      admitBody: handlers.admitBody,
      limits: limits,
      memory: memory?.value ?? ConnectionMemory(eventLoop: channel.eventLoop),
      onIdle: { isIdle in
        if isIdle {
          idleConnections.value.insert(id) { channel.close(promise: nil) }
        } else {
          idleConnections.value.remove(id)
        }
      },
      onClose: { plainConnections.value[id] = nil }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    plainConnections.value[id] = handler
  }

  private func open(_ channel: any Channel, request: HTTPRequest) throws {
    let connection = ServerConnection(eventLoop: channel.eventLoop, request: request)
    let callbacks = NIOLoopBoundBox<ServerHandlers.Callbacks?>(nil, eventLoop: channel.eventLoop)
    let early = NIOLoopBoundBox<ConnectionEnd?>(nil, eventLoop: channel.eventLoop)
    let handler = MessageHandler(
      role: .server,
      limits: limits,
      peerName: "\(request.peer)",
      socket: certificate.value == nil ? SocketWriter(channel) : nil,
      endOfTick: endOfTick.value,
      memory: memory?.value,
      onMessage: { callbacks.value?.onMessage($0) },
      onExcess: { callbacks.value?.onExcess($0) },
      onEnd: { end in
        connection.detach()
        early.value = end
        callbacks.value?.onClose(end)
        callbacks.value = nil
      }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    connection.attach(handler)
    let accepted = handlers.accept(connection)
    connection.forgetRequest()
    // Output sent while the connection is being accepted may already have ended it.
    if let end = early.value { accepted.onClose(end) } else { callbacks.value = accepted }
  }
}

/// The connections of a listener that are waiting for a request, in the order they became idle.
final class IdleConnections {
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var ends: [Int: () -> Void] = [:]
  private var last = 0

  /// Adds a connection as the most recent one.
  func insert(_ id: ObjectIdentifier, end: @escaping () -> Void) {
    remove(id)
    last += 1
    numbers[id] = last
    ends[last] = end
  }

  /// Removes a connection that is no longer waiting.
  func remove(_ id: ObjectIdentifier) {
    guard let number = numbers.removeValue(forKey: id) else { return }
    ends[number] = nil
  }

  /// Ends the connection that has waited longest; returns false if there is none.
  ///
  /// - Complexity: O(connections)
  func endOldest() -> Bool {
    guard let oldest = ends.keys.min(), let end = ends.removeValue(forKey: oldest) else {
      return false
    }
    end()
    return true
  }
}
