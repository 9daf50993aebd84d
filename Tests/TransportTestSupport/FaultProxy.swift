package import NIOCore
internal import NIOPosix

/// A port in front of a server, with a network between them whose faults can be controlled.
///
/// Bytes are never lost or reordered, since TCP hides both: a fault delays them, holds them back
/// until it ends, or ends their connection.
package final class FaultProxy: Sendable {
  /// The state of the network.
  package enum Condition: Hashable, Sendable {
    /// It delivers everything.
    case sound
    /// It ends all connections and accepts no new ones.
    case cut
    /// It holds back what clients send, and delivers what the server sends.
    case oneWay
    /// It delivers this many bytes a second, each after a delay.
    case slow(bytesPerSecond: Int, delay: TimeAmount)
    /// It loses this percentage of packets, which arrive again after a while.
    case lossy(percent: Int)
  }

  /// The two ends of a connection, and when the data in transit to each of them will have arrived.
  private struct Link {
    let client: any Channel
    let server: any Channel
    /// Whether nothing passes any more, regardless of the network's state for other connections.
    var isStranded = false
    var held: [(Direction, ByteBuffer)] = []
    var free: [Direction: NIODeadline] = [:]
  }

  private enum Direction: Hashable, Sendable {
    case toServer
    case toClient
  }

  private struct State {
    var condition = Condition.sound
    var links: [Int: Link] = [:]
    var lastLink = 0
    var listener: (any Channel)?
    var random = SystemRandomNumberGenerator()
  }

  private static let packetBytes = 1_400

  private let loop: any EventLoop
  private let server: Int
  private let state: NIOLoopBoundBox<State>

  private init(to server: Int) {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    self.loop = loop
    self.server = server
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// Starts listening in front of a local port.
  ///
  /// - Parameter server: The port of the server.
  /// - Returns: The network, and the port that clients connect to.
  /// - Throws: The system's error when no port is free.
  package static func start(to server: Int) async throws -> (network: FaultProxy, port: Int) {
    let proxy = FaultProxy(to: server)
    let listener = try await ServerBootstrap(group: proxy.loop)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { proxy.accept($0) }
      .bind(host: "127.0.0.1", port: 0).get()
    try await proxy.loop.submit { proxy.state.value.listener = listener }.get()
    return (proxy, listener.localAddress?.port ?? 0)
  }

  /// Changes the state of the network; what was held back is sent on where that is possible.
  ///
  /// - Throws: The event loop's error after it has been shut down.
  package func set(_ condition: Condition) async throws {
    try await loop.submit { [self] in
      state.value.condition = condition
      if condition == .cut { endAll() }
      for (id, link) in state.value.links where !link.isStranded {
        state.value.links[id]?.held = []
        for (direction, bytes) in link.held { forward(bytes, direction, id) }
      }
    }.get()
  }

  /// Lets nothing more pass on the existing connections, as after a change of address.
  ///
  /// New connections behave as the network's state says.
  ///
  /// - Throws: The event loop's error after it has been shut down.
  package func strand() async throws {
    try await loop.submit { [self] in
      for id in state.value.links.keys { state.value.links[id]?.isStranded = true }
    }.get()
  }

  /// Ends all connections and accepts no new ones.
  ///
  /// - Throws: The system's error.
  package func stop() async throws {
    try await loop.flatSubmit { [self] in
      endAll()
      return state.value.listener?.close() ?? loop.makeSucceededVoidFuture()
    }.get()
  }

  private func accept(_ client: any Channel) -> EventLoopFuture<Void> {
    guard state.value.condition != .cut else { return client.close() }
    state.value.lastLink += 1
    let id = state.value.lastLink
    return ClientBootstrap(group: loop)
      .channelInitializer { server in
        server.eventLoop.makeCompletedFuture {
          try server.pipeline.syncOperations.addHandler(
            Forwarder(onRead: { self.forward($0, .toClient, id) }, onEnd: { self.end(id) })
          )
        }
      }
      .connect(host: "127.0.0.1", port: server)
      .flatMapThrowing { server in
        self.state.value.links[id] = Link(client: client, server: server)
        try client.pipeline.syncOperations.addHandler(
          Forwarder(onRead: { self.forward($0, .toServer, id) }, onEnd: { self.end(id) })
        )
        try client.syncOptions?.setOption(.autoRead, value: true)
      }
  }

  private func forward(_ bytes: ByteBuffer, _ direction: Direction, _ id: Int) {
    guard let link = state.value.links[id], !link.isStranded else { return }
    let now = NIODeadline.now()
    var arrival = now
    switch state.value.condition {
    case .sound: break
    case .cut: return
    case .oneWay where direction == .toClient: break
    case .oneWay:
      state.value.links[id]?.held.append((direction, bytes))
      return
    case .slow(let rate, let delay):
      let duration = TimeAmount.nanoseconds(
        Int64(bytes.readableBytes) * 1_000_000_000 / Int64(rate)
      )
      arrival = max(now, (link.free[direction] ?? now) - delay) + duration + delay
    case .lossy(let percent):
      let packets = bytes.readableBytes / Self.packetBytes + 1
      let lost = (0..<packets).count { _ in
        Int.random(in: 0..<100, using: &state.value.random) < percent
      }
      arrival = now + .milliseconds(Int64(lost) * 300)
    }
    // Data that was sent earlier arrives earlier.
    arrival = max(arrival, link.free[direction] ?? arrival)
    state.value.links[id]?.free[direction] = arrival
    let end = direction == .toClient ? link.client : link.server
    loop.assumeIsolated().scheduleTask(deadline: arrival) {
      end.writeAndFlush(bytes, promise: nil)
    }
  }

  private func endAll() {
    for id in state.value.links.keys { end(id) }
  }

  private func end(_ id: Int) {
    guard let link = state.value.links.removeValue(forKey: id) else { return }
    link.client.close(promise: nil)
    link.server.close(promise: nil)
  }

  /// Forwards what arrives at one end of a connection.
  private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let onRead: (ByteBuffer) -> Void
    private let onEnd: () -> Void

    init(onRead: @escaping (ByteBuffer) -> Void, onEnd: @escaping () -> Void) {
      self.onRead = onRead
      self.onEnd = onEnd
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      onRead(Self.unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
      onEnd()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }
}
