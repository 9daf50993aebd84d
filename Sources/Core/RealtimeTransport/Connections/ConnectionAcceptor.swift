private import Glibc
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1

/// Builds the pipeline of each connection that a listener accepts.
///
/// What is kept for a WebSocket captures the parts it needs, not the acceptor, which is large.
struct ConnectionAcceptor: Sendable {
  let limits: Shared<TransportLimits>
  let policy: RequestPolicy
  let handlers: ServerHandlers
  /// The user that the server runs as.
  let user: UInt32
  let connections: OpenConnections
  let certificate: NIOLockedValueBox<ServerCertificate?>
  /// The memory that the connections share; nil to share none and have no bounds.
  let memory: NIOLoopBoundBox<ConnectionMemory>?
  /// Flushes the output of the connections.
  let endOfTick: NIOLoopBoundBox<OutputTick>
  /// The connections that are not WebSockets.
  let plainConnections: NIOLoopBoundBox<[ObjectIdentifier: PlainRequestHandler]>

  /// Makes room, identifies the peer and prepares the pipeline for its first request.
  func initialize(_ channel: any Channel, at address: ListenAddress) -> EventLoopFuture<Void> {
    let network = ClientNetwork(channel.remoteAddress)
    if let network, !connections.hasRoom(for: network, limits.connectionsPerAddress),
      !connections.endOldest(from: network)
    {
      handlers.noteExcess("\(network) has \(limits.connectionsPerAddress) connections, its share")
      return refuse(channel)
    }
    // Idle connections make room for new ones, the oldest first.
    let hasRoom =
      connections.hasRoom(limits.connections) || connections.endOldest() || handlers.makeRoom()
    return hasRoom ? begin(channel, from: network, at: address) : refuse(channel)
  }

  /// Turns a connection away with an answer; if many are being told, it gets no time to read it.
  private func refuse(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      let certificate = certificate.withLockedValue { $0 }
      let hasTime = connections.beginFarewell(isEncrypted: certificate != nil)
      if hasTime {
        channel.closeFuture.whenComplete { _ in
          connections.endFarewell(isEncrypted: certificate != nil)
        }
        try certificate?.secure(channel)
      }
      try channel.pipeline.syncOperations.addHandler(
        TurnedAway(isEncrypted: certificate != nil, hasTime: hasTime)
      )
    }
  }

  private func begin(
    _ channel: any Channel,
    from network: ClientNetwork?,
    at address: ListenAddress
  ) -> EventLoopFuture<Void> {
    let id = ObjectIdentifier(channel)
    connections.opened(id, from: network) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { [connections] _ in connections.closed(id) }
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
    let http = HTTPHandlers(limits)
    try channel.pipeline.syncOperations.addHandlers(
      http.input,
      http.gauge,
      http.encoder,
      http.decoder,
      http.recorder
    )
    // A client may end its side after a request, and still wait for the answer.
    try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
    try expectHandshake(on: channel, after: http, peer: peer)
  }

  /// Opens a WebSocket with the next request, or leaves it and those that follow to the handler of
  /// plain requests.
  private func expectHandshake(
    on channel: any Channel,
    after http: HTTPHandlers,
    peer: Peer
  ) throws {
    let bound = NIOLoopBound(http, eventLoop: channel.eventLoop)
    let upgrader = FrameUpgrade.Server(
      admit: { channel, head in
        let request = HTTPRequest(head: head, peer: peer)
        // The handler of plain requests answers the requests that are refused here.
        connections.isBusy(ObjectIdentifier(channel))
        guard head.isHandshake, request.path == "/.ws",
          policy.refusal(of: request) == nil
        else {
          return channel.eventLoop.makeSucceededFuture(nil)
        }
        return handlers.admit(request, channel.eventLoop).map { refusal in
          bound.value.recorder.refusal = refusal
          guard refusal == nil else { return nil }
          // Whoever ends its side of a WebSocket has gone.
          _ = try? channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
          return HTTPHeaders()
        }
      },
      open: { channel, head in
        try open(channel, request: HTTPRequest(head: head, peer: peer))
        if bound.value.recorder.hasEnded { channel.close(promise: nil) }
      }
    )
    let upgrade = NIOTypedHTTPServerUpgradeHandler(
      httpEncoder: http.encoder,
      extraHTTPHandlers: [http.gauge, http.decoder, http.recorder, http.input],
      upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(upgraders: [upgrader]) {
        channel in
        channel.eventLoop.makeCompletedFuture {
          try addPlainHandler(to: channel, after: bound.value, peer: peer)
        }
      }
    )
    try channel.pipeline.syncOperations.addHandler(upgrade)
    watch(channel, until: upgrade.upgradeResultFuture)
  }

  /// Closes a connection whose handshake takes too long or fails.
  private func watch(_ channel: any Channel, until outcome: EventLoopFuture<Void>) {
    let deadline = channel.eventLoop.scheduleTask(in: limits.handshake) {
      channel.close(promise: nil)
    }
    // It fails when the channel is closed. What the channel's own future calls at its end would be
    // kept until then.
    outcome.whenComplete { result in
      deadline.cancel()
      if case .failure = result { channel.close(promise: nil) }
    }
  }

  private func addPlainHandler(
    to channel: any Channel,
    after http: HTTPHandlers,
    peer: Peer
  ) throws {
    let id = ObjectIdentifier(channel)
    let handler = PlainRequestHandler(
      recorder: http.recorder,
      input: http.input,
      peer: peer,
      policy: policy,
      answer: handlers.answer,
      admitBody: handlers.admitBody,
      onRefusal: handlers.onRefusal,
      limits: limits,
      memory: memory?.value ?? ConnectionMemory(eventLoop: channel.eventLoop),
      pace: { [connections] in connections.rest(id, after: .request, at: $0) },
      onIdle: { [connections] isIdle in
        if isIdle {
          connections.isIdle(id) { channel.close(promise: nil) }
        } else {
          connections.isBusy(id)
        }
      },
      expectHandshake: { try expectHandshake(on: channel, after: http, peer: peer) },
      onClose: { [plainConnections] in plainConnections.value[id] = nil }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    plainConnections.value[id] = handler
  }

  private func open(_ channel: any Channel, request: HTTPRequest) throws {
    let connection = ServerConnection(request, on: channel.eventLoop)
    let handler = MessageHandler(
      role: .server,
      limits: limits,
      peer: request.peer,
      socket: certificate.withLockedValue { $0 } == nil ? SocketWriter(channel) : nil,
      endOfTick: endOfTick.value,
      memory: memory?.value,
      restOfNetwork: { [connections, id = ObjectIdentifier(channel)] in
        connections.rest(id, after: .frame, at: $0)
      },
      onMessage: { connection.received($0) },
      onExcess: { connection.skipped($0) },
      onEnd: { connection.ended($0) }
    )
    try channel.pipeline.syncOperations.addHandler(handler)
    connection.open(handler, accept: handlers.accept)
  }
}

/// The handlers of a connection that turn bytes into requests, until it becomes a WebSocket.
private final class HTTPHandlers {
  let input = InputSlicer()
  let gauge = RequestLineGauge()
  let encoder = HTTPResponseEncoder()
  let decoder: ByteToMessageHandler<HTTPRequestDecoder>
  let recorder: RequestHeadRecorder

  init(_ limits: Shared<TransportLimits>) {
    decoder = ByteToMessageHandler(
      HTTPRequestDecoder(
        leftOverBytesStrategy: .forwardBytes,
        limitConfiguration: limits.decoderConfiguration
      )
    )
    recorder = RequestHeadRecorder(gauge: gauge, headerBytes: limits.headerBytes)
  }
}

/// Tells a client that there is no room for its connection, whatever it sends.
private final class TurnedAway: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// What a client that gets no handshake is told in plain text: the alert "internal error".
  private static let alert = ByteBuffer(bytes: [21, 3, 1, 0, 2, 2, 80])
  private static let answer = ByteBuffer(
    string: """
      HTTP/1.1 503 Service Unavailable\r
      Content-Type: application/json; charset=utf-8\r
      Content-Length: 42\r
      Retry-After: 10\r
      Connection: close\r
      \r
      {"error":"there are too many connections"}
      """
  )

  /// Whether the client expects TLS.
  private let isEncrypted: Bool
  /// Whether the client gets a moment to receive the answer, and a handshake.
  private let hasTime: Bool

  init(isEncrypted: Bool, hasTime: Bool) {
    self.isEncrypted = isEncrypted
    self.hasTime = hasTime
  }

  /// How long a client may take to receive the answer; any time is enough to read what it has sent.
  private var farewell: TimeAmount {
    guard hasTime else { return .milliseconds(10) }
    return isEncrypted ? .seconds(2) : .milliseconds(500)
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    // After a handshake, if there is one.
    let answer = isEncrypted && !hasTime ? Self.alert : Self.answer
    channel.writeAndFlush(answer).whenComplete { _ in
      // Closing with unread input could lose the answer.
      channel.close(mode: .output, promise: nil)
    }
    let closing = context.eventLoop.scheduleTask(in: farewell) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in closing.cancel() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

final class OpenConnections: Sendable {
  /// What a client sends at no cost of its own.
  enum Burden {
    /// A request before the one before it is answered.
    case request
    /// A frame without content.
    case frame

    var allowance: Allowance {
      switch self {
      case .request: Allowance(burst: 128, interval: .milliseconds(3))
      case .frame: Allowance(burst: 256, interval: .milliseconds(10))
      }
    }
  }

  private struct Share: Hashable {
    let network: ClientNetwork
    let burden: Burden
  }

  private struct State {
    var count = 0
    /// The connections that are waiting for a request, numbered in the order they became idle.
    var idle: [ObjectIdentifier: (number: Int, end: @Sendable () -> Void)] = [:]
    var last = 0
    /// Where all connections come from, unless it is a socket of this machine.
    var networks: [ObjectIdentifier: ClientNetwork] = [:]
    var counts: [ClientNetwork: Int] = [:]
    /// What the clients of a network may send that costs them nothing.
    var allowances: [Share: Allowance] = [:]
    /// What the connections cost that are being turned away.
    var farewells = 0

    mutating func insert(_ id: ObjectIdentifier, end: @escaping @Sendable () -> Void) {
      last += 1
      idle[id] = (last, end)
    }

    mutating func removeOldest(from network: ClientNetwork?) -> (@Sendable () -> Void)? {
      let networks = networks
      let oldest = idle.lazy.filter { network == nil || networks[$0.key] == network }
        .min { $0.value.number < $1.value.number }
      return oldest.flatMap { idle.removeValue(forKey: $0.key)?.end }
    }
  }

  private let state = NIOLockedValueBox(State())

  /// How many connections may take their time to be turned away; an encrypted one costs a handshake.
  private static let mostFarewells = 64

  /// Begins to turn a connection away, and returns whether it may take its time.
  func beginFarewell(isEncrypted: Bool) -> Bool {
    let cost = Self.farewellCost(isEncrypted: isEncrypted)
    return state.withLockedValue { state in
      guard state.farewells + cost <= Self.mostFarewells else { return false }
      state.farewells += cost
      return true
    }
  }

  /// Ends the farewell of a connection that could take its time.
  func endFarewell(isEncrypted: Bool) {
    state.withLockedValue { $0.farewells -= Self.farewellCost(isEncrypted: isEncrypted) }
  }

  private static func farewellCost(isEncrypted: Bool) -> Int { isEncrypted ? 8 : 1 }

  /// The maximum number of allowances that are kept.
  private static let mostAllowances = 4_096

  /// Counts something that costs its sender nothing.
  ///
  /// The clients of a network share their allowance: otherwise who comes back would have another.
  ///
  /// - Returns: How long the client has to wait before it is read on; nil if it need not.
  func rest(
    _ id: ObjectIdentifier,
    after burden: Burden,
    at now: NIODeadline
  ) -> TimeAmount? {
    state.withLockedValue { state in
      guard let network = state.networks[id] else { return nil }
      if state.allowances.count >= Self.mostAllowances {
        for (share, var allowance) in state.allowances where allowance.isFull(at: now) {
          state.allowances[share] = nil
        }
        if state.allowances.count >= Self.mostAllowances { state.allowances = [:] }
      }
      let share = Share(network: network, burden: burden)
      return state.allowances[share, default: burden.allowance].rest(at: now)
    }
  }

  /// Whether there are fewer than a number of connections.
  func hasRoom(_ limit: Int) -> Bool { state.withLockedValue { $0.count < limit } }

  /// Whether there are fewer than a number of connections from one network.
  func hasRoom(for network: ClientNetwork, _ limit: Int) -> Bool {
    state.withLockedValue { $0.counts[network, default: 0] < limit }
  }

  /// Adds a connection, which waits for its first request.
  func opened(
    _ id: ObjectIdentifier,
    from network: ClientNetwork?,
    end: @escaping @Sendable () -> Void
  ) {
    state.withLockedValue {
      $0.count += 1
      if let network {
        $0.networks[id] = network
        $0.counts[network, default: 0] += 1
      }
      $0.insert(id, end: end)
    }
  }

  /// Notes that a connection waits for a request, as the most recent one.
  func isIdle(_ id: ObjectIdentifier, end: @escaping @Sendable () -> Void) {
    state.withLockedValue { $0.insert(id, end: end) }
  }

  /// Notes that a connection is no longer waiting.
  func isBusy(_ id: ObjectIdentifier) {
    state.withLockedValue { $0.idle[id] = nil }
  }

  func closed(_ id: ObjectIdentifier) {
    state.withLockedValue {
      $0.count -= 1
      $0.idle[id] = nil
      guard let network = $0.networks.removeValue(forKey: id) else { return }
      let count = $0.counts[network, default: 0]
      $0.counts[network] = count > 1 ? count - 1 : nil
    }
  }

  /// Ends the connection, of all or of one network, that has waited longest for a request.
  ///
  /// - Returns: False if there is none.
  /// - Complexity: O(connections)
  func endOldest(from network: ClientNetwork? = nil) -> Bool {
    let end = state.withLockedValue { $0.removeOldest(from: network) }
    end?()
    return end != nil
  }
}

/// The network of a client: its IPv4 address, or the first 64 bits of its IPv6 address, since the
/// rest is for each subscriber to choose.
package struct ClientNetwork: Hashable, Sendable, CustomStringConvertible {
  private enum Prefix: Hashable {
    case v4(UInt32)
    case v6(UInt64)
  }

  private let prefix: Prefix

  /// The network of the other end of a connection; nil for a process of this machine.
  package init?(of peer: Peer) {
    guard case .network(let text) = peer, let port = text.lastIndex(of: ":"),
      // NIO writes `[IPv4]127.0.0.1:80`, and a host and a slash before the address if it knows one.
      let host = text[..<port].split(whereSeparator: { $0 == "]" || $0 == "/" }).last
    else { return nil }
    self.init(try? SocketAddress(ipAddress: String(host), port: 0))
  }

  /// Nil for a client that has no address on a network.
  init?(_ address: SocketAddress?) {
    guard let text = address?.ipAddress else { return nil }
    // Both kinds of addresses fit, in network byte order.
    var all = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &all) == 1 {
      prefix = .v4(Self.number(all.prefix(4)))
    } else if inet_pton(AF_INET6, text, &all) == 1 {
      let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
      prefix = isMapped ? .v4(Self.number(all.suffix(4))) : .v6(Self.number(all.prefix(8)))
    } else {
      return nil
    }
  }

  private static func number<Number: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>) -> Number {
    bytes.reduce(0) { $0 << 8 | Number($1) }
  }

  /// The address, or its first 64 bits.
  package var description: String {
    switch prefix {
    case .v4(let number):
      stride(from: 24, through: 0, by: -8).map { "\(number >> $0 & 0xFF)" }.joined(separator: ".")
    case .v6(let number):
      stride(from: 48, through: 0, by: -16)
        .map { String(number >> $0 & 0xFFFF, radix: 16) }.joined(separator: ":") + "::/64"
    }
  }
}
