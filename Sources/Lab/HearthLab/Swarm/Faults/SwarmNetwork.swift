import NIOCore
import NIOPosix
import RealtimeTransport

/// A network between the clients of a swarm and their server whose faults can be controlled.
///
/// Each client process has its own port, so that a fault can affect just one of them. All state
/// belongs to one event loop. Bytes are never reordered, since TCP hides reordering.
final class SwarmNetwork: Sendable {
  private struct State {
    var conditions: [Int: NetworkCondition] = [:]
    var links: [Int: NetworkLink] = [:]
    var lastLink = 0
    var listeners: [any Channel] = []
    /// The endpoints of the servers; connections go to each in turn.
    var servers: [ConnectionTarget.Endpoint]
    var turn = 0
  }

  /// How long a connection that replays another one stays open.
  private static let repetition = TimeAmount.milliseconds(300)

  private let loop: any EventLoop
  private let state: NIOLoopBoundBox<State>

  /// Creates a network that spreads connections over several servers.
  ///
  /// A connection that one server does not accept goes to the next.
  init(toAnyOf servers: [ConnectionTarget.Endpoint]) {
    loop = MultiThreadedEventLoopGroup.singleton.next()
    state = NIOLoopBoundBox.makeBoxSendingValue(State(servers: servers), eventLoop: loop)
  }

  convenience init(to server: ConnectionTarget.Endpoint) { self.init(toAnyOf: [server]) }

  convenience init(to port: Int) {
    self.init(to: .tcp(host: "127.0.0.1", port: port))
  }

  /// Starts listening for a client process.
  func open(process: Int) async throws -> Int {
    let listener = try await ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 256)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { self.accept($0, of: process) }
      .bind(host: "127.0.0.1", port: 0).get()
    try await loop.submit { self.state.value.listeners.append(listener) }.get()
    return listener.localAddress?.port ?? 0
  }

  /// Sets the endpoint of the server if it becomes known only later.
  func lead(to server: ConnectionTarget.Endpoint) async throws {
    try await loop.submit { self.state.value.servers = [server] }.get()
  }

  /// Changes what the network does to a client process.
  func set(_ condition: NetworkCondition, process: Int) async throws {
    try await loop.submit { [self] in
      let old = state.value.conditions.updateValue(condition, forKey: process)
      // Data lost on a connection cannot be recovered on it.
      if condition == .cut || old == .deaf { endLinks(ofProcess: process) }
    }.get()
  }

  /// Ends the connections of a process, and replays everything sent on each of them on a new one.
  ///
  /// No connection is accepted in the meantime, so the replay precedes what the client sends next.
  ///
  /// - Throws: The event loop's error after it has been shut down.
  func repeatAll(process: Int) async throws -> Int {
    let recorded = try await loop.submit { [self] in
      state.value.conditions[process] = .cut
      let recorded = state.value.links.values.filter { $0.process == process }.compactMap(\.sent)
      endLinks(ofProcess: process)
      return recorded
    }.get()
    for bytes in recorded where bytes.readableBytes > 0 { await send(bytes) }
    try await set(.sound, process: process)
    return recorded.count
  }

  /// Ends all connections and accepts no more.
  func close() async {
    let listeners = try? await loop.submit { [self] in
      for id in state.value.links.keys { end(id) }
      defer { state.value.listeners = [] }
      return state.value.listeners
    }.get()
    for listener in listeners ?? [] { try? await listener.close() }
  }

  /// Sends bytes on a new connection and waits a while, ignoring any response.
  private func send(_ bytes: ByteBuffer) async {
    let dialled = loop.flatSubmit { self.dial(readingAtOnce: true) }
    guard let channel = try? await dialled.get() else { return }
    try? await channel.writeAndFlush(bytes)
    try? await loop.scheduleTask(in: Self.repetition) {}.futureResult.get()
    try? await channel.close()
  }

  // MARK: Connections

  private func accept(_ client: any Channel, of process: Int) -> EventLoopFuture<Void> {
    guard state.value.conditions[process] != .cut else { return client.close() }
    state.value.lastLink += 1
    let id = state.value.lastLink
    return dial(readingAtOnce: false)
      .flatMapThrowing { server in
        self.state.value.links[id] = NetworkLink(
          process: process,
          client: client,
          server: server,
          on: self.loop
        )
        try self.join(client, going: .toServer, link: id)
        try self.join(server, going: .toClient, link: id)
        client.read()
        server.read()
      }
  }

  private func dial(readingAtOnce isReading: Bool) -> EventLoopFuture<any Channel> {
    let servers = state.value.servers
    guard !servers.isEmpty else { return dial([], readingAtOnce: isReading) }
    state.value.turn = (state.value.turn + 1) % servers.count
    let turn = state.value.turn
    return dial((servers[turn...] + servers[..<turn])[...], readingAtOnce: isReading)
  }

  /// Connects to the first server that accepts the connection.
  private func dial(
    _ servers: ArraySlice<ConnectionTarget.Endpoint>,
    readingAtOnce isReading: Bool
  ) -> EventLoopFuture<any Channel> {
    let bootstrap = ClientBootstrap(group: loop).channelOption(.autoRead, value: isReading)
    let connection: EventLoopFuture<any Channel> =
      switch servers.first {
      case .tcp(let host, let port)?: bootstrap.connect(host: host, port: port)
      case .unix(let path)?: bootstrap.connect(unixDomainSocketPath: path)
      case nil: loop.makeFailedFuture(ChannelError.ioOnClosedChannel)
      }
    let rest = servers.dropFirst()
    guard !rest.isEmpty else { return connection }
    return connection.flatMapError { _ in self.dial(rest, readingAtOnce: isReading) }
  }

  private func join(
    _ channel: any Channel,
    going direction: NetworkLink.Direction,
    link id: Int
  ) throws {
    try channel.pipeline.syncOperations.addHandler(
      LinkHandler(onRead: { self.forward($0, going: direction, link: id) }, onEnd: { self.end(id) })
    )
  }

  private func forward(_ bytes: ByteBuffer, going direction: NetworkLink.Direction, link id: Int) {
    guard let link = state.value.links[id] else { return }
    if direction == .toServer { link.record(bytes) }
    switch (state.value.conditions[link.process] ?? .sound, direction) {
    case (.sound, _), (.deaf, .toServer), (.slow, .toServer):
      link.deliver(bytes, going: direction, after: .zero)
    case (.cut, _), (.deaf, .toClient): link.source(direction).read()
    case (.late(let delay), _): link.deliver(bytes, going: direction, after: delay)
    case (.uneven(let delay), _):
      link.deliver(bytes, going: direction, after: id.isMultiple(of: 2) ? delay : .zero)
    case (.slow(let rate), .toClient):
      let nanoseconds = Int64(bytes.readableBytes) * 1_000_000_000 / Int64(max(1, rate))
      link.deliver(bytes, going: direction, after: .nanoseconds(nanoseconds))
    }
  }

  private func endLinks(ofProcess process: Int) {
    for (id, link) in state.value.links where link.process == process { end(id) }
  }

  private func end(_ id: Int) {
    guard let link = state.value.links.removeValue(forKey: id) else { return }
    link.client.close(promise: nil)
    link.server.close(promise: nil)
  }
}

/// The two ends of a connection through a network, and what the client has sent on it.
///
/// Confined to the event loop of the network. It is a class because forwarding bytes may end the
/// same connection.
final class NetworkLink {
  enum Direction {
    case toServer
    case toClient
  }

  /// The maximum number of a client's bytes that are recorded.
  static let recordedBytes = 4 * 1_024 * 1_024

  let process: Int
  let client: any Channel
  let server: any Channel
  /// Everything that the client has sent since the connection opened; nil when it was too much.
  private(set) var sent: ByteBuffer? = ByteBuffer()
  private let loop: any EventLoop
  /// The delivery of the last piece in each direction.
  private var last: [Direction: EventLoopFuture<Void>] = [:]

  init(
    process: Int,
    client: any Channel,
    server: any Channel,
    on loop: any EventLoop
  ) {
    self.process = process
    self.client = client
    self.server = server
    self.loop = loop
  }

  /// The end at which bytes travelling in a direction arrive.
  func source(_ direction: Direction) -> any Channel {
    direction == .toServer ? client : server
  }

  func record(_ bytes: ByteBuffer) {
    guard let count = sent?.readableBytes, count + bytes.readableBytes <= Self.recordedBytes else {
      sent = nil
      return
    }
    sent?.writeImmutableBuffer(bytes)
  }

  /// Delivers a piece after a delay, but not before the previous one, and then reads on.
  ///
  /// One read may produce several pieces, and a short one must not overtake a long one.
  func deliver(_ bytes: ByteBuffer, going direction: Direction, after delay: TimeAmount) {
    let (source, sink) = direction == .toServer ? (client, server) : (server, client)
    let delivery = (last[direction] ?? loop.makeSucceededVoidFuture()).flatMap { [loop] in
      delay == .zero
        ? loop.makeSucceededVoidFuture() : loop.scheduleTask(in: delay) {}.futureResult
    }.flatMap { sink.writeAndFlush(bytes) }
    delivery.whenSuccess { source.read() }
    last[direction] = delivery
  }
}

/// Forwards what arrives at one end of a connection, one piece at a time.
///
/// Nothing is read before the last piece has been forwarded, so a slow end slows the other one
/// down, as the network between them would.
final class LinkHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let onRead: (ByteBuffer) -> Void
  private let onEnd: () -> Void

  init(onRead: @escaping (ByteBuffer) -> Void, onEnd: @escaping () -> Void) {
    self.onRead = onRead
    self.onEnd = onEnd
  }

  /// An end that was joined before it was open can be read only from here on.
  func channelActive(context: ChannelHandlerContext) {
    context.read()
    context.fireChannelActive()
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

/// What a network does to the connections of one client process.
enum NetworkCondition: Hashable, Sendable {
  /// It delivers everything.
  case sound
  /// It ends the connections and accepts no new ones.
  case cut
  /// It delivers what clients send and loses what the server sends.
  case deaf
  /// It delivers after a delay, in both directions.
  case late(TimeAmount)
  /// It does so on every other connection.
  case uneven(TimeAmount)
  /// It delivers this many bytes a second to clients, which therefore read slowly.
  case slow(bytesPerSecond: Int)
}
