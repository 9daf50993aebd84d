private import Glibc
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1

/// Builds the pipeline of each connection that a listener accepts on one event loop.
struct ConnectionAcceptor: Sendable {
  let limits: Shared<TransportLimits>
  let policy: RequestPolicy
  let handlers: ServerHandlers
  /// The user that the server runs as.
  let user: UInt32
  /// The connections of all event loops.
  let connections: OpenConnections
  /// The certificate for TLS, if any.
  let certificate: NIOLockedValueBox<ServerCertificate?>
  /// Leads from the connections' event loop to the server's.
  let link: LoopLink
  /// The memory that the connections share; nil to share none and have no bounds.
  let memory: NIOLoopBoundBox<ConnectionMemory>?
  /// Flushes the output of the connections.
  let endOfTick: NIOLoopBoundBox<OutputTick>
  /// The connections that are not WebSockets.
  let plainConnections: NIOLoopBoundBox<[ObjectIdentifier: PlainRequestHandler]>

  /// The result of a handshake.
  private enum Outcome: Sendable {
    case messages
    case plain
  }

  /// Makes room, identifies the peer and prepares the pipeline for its first request.
  func initialize(_ channel: any Channel, at address: ListenAddress) -> EventLoopFuture<Void> {
    let eventLoop = channel.eventLoop
    // Idle connections make room for new ones, the oldest first.
    if connections.hasRoom(limits.connections) || connections.endOldest() {
      return begin(channel, at: address)
    }
    let room =
      link.isDirect
      ? eventLoop.makeSucceededFuture(handlers.makeRoom())
      : link.server.submit { handlers.makeRoom() }.hop(to: eventLoop)
    return room.flatMap { hasRoom in
      guard hasRoom else {
        return eventLoop.makeFailedFuture(
          ListenError(.failed, description: "too many connections")
        )
      }
      return begin(channel, at: address)
    }
  }

  private func begin(_ channel: any Channel, at address: ListenAddress) -> EventLoopFuture<Void> {
    let id = ObjectIdentifier(channel)
    connections.opened(id) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in connections.closed(id) }
    return peer(of: channel, at: address).flatMapThrowing { peer in
      if case .local(let credentials) = peer, !credentials.isAllowed(byServerOf: user) {
        throw ListenError(
          .failed,
          description: "a process of user \(credentials.user) was rejected"
        )
      }
      // TLS is the first handler, so that nothing is ever sent in plain text.
      try certificate.withLockedValue { $0 }?.secure(channel)
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
          ListenError(.failed, description: "the user of a connection cannot be determined")
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
        connections.isBusy(ObjectIdentifier(channel))
        guard Self.isHandshake(head), request.path == "/.ws",
          policy.refusal(of: request) == nil
        else {
          return channel.eventLoop.makeSucceededFuture(nil)
        }
        return admit(request, on: channel.eventLoop).map { refusal in
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

  private func admit(
    _ request: HTTPRequest,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<HTTPAnswer?> {
    guard !link.isDirect else { return handlers.admit(request, eventLoop) }
    return link.server.flatSubmit { handlers.admit(request, link.server) }.hop(to: eventLoop)
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
      link: link,
      answer: handlers.answer,
      admitBody: handlers.admitBody,
      onRefusal: handlers.onRefusal,
      limits: limits,
      memory: memory?.value ?? ConnectionMemory(eventLoop: channel.eventLoop),
      onIdle: { isIdle in
        if isIdle {
          connections.isIdle(id) { channel.close(promise: nil) }
        } else {
          connections.isBusy(id)
        }
      },
      onClose: { plainConnections.value[id] = nil }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    plainConnections.value[id] = handler
  }

  private func open(_ channel: any Channel, request: HTTPRequest) throws {
    let mirror =
      link.isDirect ? nil : OutputMirror(link, limits: limits, total: memory?.value.total)
    let connection = ServerConnection(link, request: request, mirror: mirror)
    let handler = MessageHandler(
      role: .server,
      limits: limits,
      peerName: "\(request.peer)",
      socket: certificate.withLockedValue { $0 } == nil ? SocketWriter(channel) : nil,
      endOfTick: endOfTick.value,
      memory: memory?.value,
      mirror: mirror,
      onMessage: { [depthLimit = handlers.depthLimit] in
        connection.received($0, depthLimit: depthLimit)
      },
      onExcess: { connection.skipped($0) },
      onEnd: { connection.ended($0) }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    connection.open(handler, accept: handlers.accept)
  }
}

/// The open connections of a listener, on all its event loops.
final class OpenConnections: Sendable {
  /// The connections that are waiting for a request, in the order they became idle.
  private struct State {
    var count = 0
    var numbers: [ObjectIdentifier: Int] = [:]
    var ends: [Int: @Sendable () -> Void] = [:]
    var last = 0

    mutating func remove(_ id: ObjectIdentifier) {
      guard let number = numbers.removeValue(forKey: id) else { return }
      ends[number] = nil
    }

    mutating func insert(_ id: ObjectIdentifier, end: @escaping @Sendable () -> Void) {
      remove(id)
      last += 1
      numbers[id] = last
      ends[last] = end
    }
  }

  private let state = NIOLockedValueBox(State())

  /// Whether there are fewer than a number of connections.
  func hasRoom(_ limit: Int) -> Bool { state.withLockedValue { $0.count < limit } }

  /// Adds a connection, which waits for its first request.
  func opened(_ id: ObjectIdentifier, end: @escaping @Sendable () -> Void) {
    state.withLockedValue {
      $0.count += 1
      $0.insert(id, end: end)
    }
  }

  /// Notes that a connection waits for a request, as the most recent one.
  func isIdle(_ id: ObjectIdentifier, end: @escaping @Sendable () -> Void) {
    state.withLockedValue { $0.insert(id, end: end) }
  }

  /// Notes that a connection is no longer waiting.
  func isBusy(_ id: ObjectIdentifier) {
    state.withLockedValue { $0.remove(id) }
  }

  /// Removes a connection.
  func closed(_ id: ObjectIdentifier) {
    state.withLockedValue {
      $0.count -= 1
      $0.remove(id)
    }
  }

  /// Ends the connection that has waited longest for a request; returns false if there is none.
  ///
  /// - Complexity: O(connections)
  func endOldest() -> Bool {
    let end = state.withLockedValue { state -> (@Sendable () -> Void)? in
      guard let oldest = state.ends.keys.min() else { return nil }
      return state.ends.removeValue(forKey: oldest)
    }
    end?()
    return end != nil
  }
}
