private import NIOConcurrencyHelpers
package import NIOCore
private import NIOPosix
package import RealtimeTransport

/// A network between clients and their servers whose faults can be controlled.
///
/// Each line is a port of its own, so that a fault can affect just some of the clients. All state
/// belongs to one event loop, on a thread that nothing else blocks. Bytes are never reordered, since
/// TCP hides reordering. Connections and ports end with the network.
package final class FaultyNetwork: Sendable {
  /// What the network does to the connections of a line.
  package enum Condition: Hashable, Sendable {
    /// It delivers everything.
    case sound
    /// It ends the connections and accepts no new ones.
    case cut
    /// It delivers what clients send and loses what the server sends.
    case deaf
    /// It holds back everything, the end of a connection too, until this condition is over.
    case silent
    /// It does so on the connections through which a watched text is or was sent.
    case silentIfWatched
    /// It holds back what clients send, and delivers what the server sends.
    case oneWay
    /// It loses the next reply on each connection that exists, and then ends the connection.
    case losingReplies
    /// It delivers after a delay, in both directions.
    case late(TimeAmount)
    /// It does so on every other connection.
    case uneven(TimeAmount)
    /// It loses this percentage of packets, which arrive again after a while.
    case lossy(percent: Int)
    /// It delivers this many bytes a second to clients, which therefore read slowly.
    case slow(bytesPerSecond: Int)
  }

  private struct State {
    var conditions: [Int: Condition] = [:]
    var links: [Int: NetworkLink] = [:]
    var lastLink = 0
    var listeners: [any Channel] = []
    /// The endpoints of the servers; connections go to each in turn.
    var servers: [ConnectionTarget.Endpoint]
    var turn = 0
  }

  /// How long a connection that replays another one stays open.
  private static let repetition = TimeAmount.milliseconds(300)
  /// How long a lost packet takes, and how many bytes a packet has.
  private static let packet = (delay: TimeAmount.milliseconds(300), bytes: 1_400)
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  private let loop: any EventLoop
  private let state: NIOLoopBoundBox<State>
  private let texts: [ByteBuffer]
  private let firstPort = NIOLockedValueBox(0)

  /// Creates a network without a line that spreads connections over several servers.
  ///
  /// A connection that one server does not accept goes to the next.
  ///
  /// - Parameters:
  ///   - servers: The endpoints of the servers, which ``aim(at:)`` may set later.
  ///   - texts: Texts; connections through which one is sent can be silenced apart from others.
  package init(toAnyOf servers: [ConnectionTarget.Endpoint] = [], watching texts: [String] = []) {
    loop = Self.group.next()
    state = NIOLoopBoundBox.makeBoxSendingValue(State(servers: servers), eventLoop: loop)
    self.texts = texts.map { ByteBuffer(string: $0) }
  }

  /// Creates a network with one line in front of a port of 127.0.0.1.
  ///
  /// - Throws: The system's error when no port is free.
  package convenience init(to port: Int, watching texts: [String] = []) throws {
    self.init(toAnyOf: [.tcp(host: "127.0.0.1", port: port)], watching: texts)
    try open()
  }

  deinit {
    loop.execute { [state] in
      for link in state.value.links.values { link.close() }
      for listener in state.value.listeners { listener.close(promise: nil) }
    }
  }

  /// The port of the line that was opened first; 0 before that.
  package var port: Int { firstPort.withLockedValue(\.self) }

  /// The address of a database at 127.0.0.1 as reached through the first line.
  package func url(of url: String) -> String {
    url.replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:\(port)")
  }

  /// Starts listening for the clients of a line, and returns the port.
  ///
  /// - Throws: The system's error when no port is free.
  @discardableResult
  package func open(line: Int = 0) throws -> Int {
    let listener = try ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 256)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { [weak self] client in
        self?.accept(client, of: line) ?? client.close()
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    onLoop { self.state.value.listeners.append(listener) }
    let port = listener.localAddress?.port ?? 0
    firstPort.withLockedValue { $0 = $0 == 0 ? port : $0 }
    return port
  }

  /// Makes a port of 127.0.0.1 the only server.
  package func aim(at port: Int) {
    onLoop { self.state.value.servers = [.tcp(host: "127.0.0.1", port: port)] }
  }

  /// Changes what the network does to a line; what was held back arrives if it can now.
  package func set(_ condition: Condition, line: Int = 0) {
    onLoop { [self] in
      let old = state.value.conditions.updateValue(condition, forKey: line)
      // Data lost on a connection cannot be recovered on it.
      if condition == .cut || old == .deaf { endLinks(of: line) }
      for (id, link) in state.value.links where link.line == line {
        for (bytes, direction) in link.takeHeld() { forward(bytes, going: direction, link: id) }
        if let direction = link.endedFrom { ended(id, going: direction) }
      }
    }
  }

  /// Lets nothing more pass on the existing connections, as after a change of address.
  package func strand() {
    onLoop { for link in self.state.value.links.values { link.isStranded = true } }
  }

  /// Ends the connections of a line, and replays everything sent on each of them on a new one.
  ///
  /// No connection is accepted in the meantime, so the replay precedes what the client sends next.
  ///
  /// - Returns: The number of connections that were replayed.
  /// - Throws: The event loop's error after it has been shut down.
  func repeatAll(line: Int) async throws -> Int {
    let recorded = try await loop.submit { [self] in
      state.value.conditions[line] = .cut
      let recorded = state.value.links.values.filter { $0.line == line }.compactMap(\.sent)
      endLinks(of: line)
      return recorded
    }.get()
    for bytes in recorded where bytes.readableBytes > 0 { await send(bytes) }
    set(.sound, line: line)
    return recorded.count
  }

  /// Ends all connections and accepts no more.
  package func close() {
    onLoop { [self] in
      for listener in state.value.listeners { listener.close(promise: nil) }
      for id in state.value.links.keys { end(id) }
    }
  }

  private func onLoop(_ body: @escaping @Sendable () -> Void) {
    try? loop.submit(body).wait()
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

  private func accept(_ client: any Channel, of line: Int) -> EventLoopFuture<Void> {
    let condition = state.value.conditions[line] ?? .sound
    guard condition != .cut else { return client.close() }
    state.value.lastLink += 1
    let id = state.value.lastLink
    return dial(readingAtOnce: false)
      .flatMapThrowing { server in
        let link = NetworkLink(line: line, client: client, server: server, on: self.loop)
        link.isSpared = condition == .losingReplies
        self.state.value.links[id] = link
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
      LinkHandler(
        onRead: { [weak self] in self?.forward($0, going: direction, link: id) },
        onEnd: { [weak self] in self?.ended(id, going: direction) }
      )
    )
  }

  private func condition(of link: NetworkLink) -> Condition {
    state.value.conditions[link.line] ?? .sound
  }

  /// Whether a connection delivers nothing in a direction for now.
  private func holds(_ link: NetworkLink, _ direction: NetworkLink.Direction) -> Bool {
    switch condition(of: link) {
    case .silent: true
    case .silentIfWatched: link.isWatched
    case .oneWay: direction == .toServer
    case .sound, .cut, .deaf, .losingReplies, .late, .uneven, .lossy, .slow: link.isStranded
    }
  }

  private func forward(_ bytes: ByteBuffer, going direction: NetworkLink.Direction, link id: Int) {
    guard let link = state.value.links[id] else { return }
    if direction == .toServer {
      link.record(bytes)
      let view = bytes.readableBytesView
      if texts.contains(where: { view.firstRange(of: $0.readableBytesView) != nil }) {
        link.isWatched = true
      }
    }
    guard !holds(link, direction) else { return link.hold(bytes, going: direction) }
    switch (condition(of: link), direction) {
    case (.cut, _), (.deaf, .toClient): link.source(direction).read()
    case (.losingReplies, .toClient) where !link.isSpared: end(id)
    case (.late(let delay), _): link.deliver(bytes, going: direction, after: delay)
    case (.uneven(let delay), _):
      link.deliver(bytes, going: direction, after: id.isMultiple(of: 2) ? delay : .zero)
    case (.lossy(let percent), _):
      let packets = 0...bytes.readableBytes / Self.packet.bytes
      let lost = packets.count { _ in Int.random(in: 0..<100) < percent }
      link.deliver(bytes, going: direction, after: Self.packet.delay * lost)
    case (.slow(let rate), .toClient):
      let nanoseconds = Int64(bytes.readableBytes) * 1_000_000_000 / Int64(max(1, rate))
      link.deliver(bytes, going: direction, after: .nanoseconds(nanoseconds))
    case (.sound, _), (.deaf, _), (.slow, _), (.losingReplies, _), (.silent, _),
      (.silentIfWatched, _), (.oneWay, _):
      link.deliver(bytes, going: direction, after: .zero)
    }
  }

  /// Ends a connection of which one end has closed, once what that end has sent has arrived.
  private func ended(_ id: Int, going direction: NetworkLink.Direction) {
    guard let link = state.value.links[id] else { return }
    link.endedFrom = direction
    if !holds(link, direction) {
      link.afterDelivery(going: direction) { [weak self] in self?.end(id) }
    }
  }

  private func endLinks(of line: Int) {
    for (id, link) in state.value.links where link.line == line { end(id) }
  }

  private func end(_ id: Int) { state.value.links.removeValue(forKey: id)?.close() }
}

/// The two ends of a connection through a network, and what the client has sent on it.
///
/// Confined to the event loop of the network. It is a class because forwarding bytes may end the
/// same connection.
private final class NetworkLink {
  enum Direction {
    case toServer
    case toClient
  }

  /// The maximum number of a client's bytes that are recorded.
  private static let recordedBytes = 4 * 1_024 * 1_024

  let line: Int
  /// Whether nothing passes any more, whatever the network does to other connections.
  var isStranded = false
  /// Whether a watched text was sent through it.
  var isWatched = false
  /// Whether its replies arrive even while those of other connections are lost.
  var isSpared = false
  /// The direction from which its end comes, if one of its ends has closed.
  var endedFrom: Direction?
  /// Everything that the client has sent since the connection opened; nil when it was too much.
  private(set) var sent: ByteBuffer? = ByteBuffer()
  private let client: any Channel
  private let server: any Channel
  private let loop: any EventLoop
  private var held: [(bytes: ByteBuffer, direction: Direction)] = []
  /// The delivery of the last piece in each direction.
  private var last: [Direction: EventLoopFuture<Void>] = [:]

  init(line: Int, client: any Channel, server: any Channel, on loop: any EventLoop) {
    self.line = line
    self.client = client
    self.server = server
    self.loop = loop
  }

  func close() {
    client.close(promise: nil)
    server.close(promise: nil)
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

  /// Keeps a piece; nothing more is read before it is taken.
  func hold(_ bytes: ByteBuffer, going direction: Direction) { held.append((bytes, direction)) }

  func takeHeld() -> [(bytes: ByteBuffer, direction: Direction)] {
    defer { held = [] }
    return held
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

  /// Calls a closure when everything in a direction has arrived, or cannot.
  func afterDelivery(going direction: Direction, _ body: @escaping () -> Void) {
    guard let last = last[direction] else { return body() }
    last.assumeIsolated().whenComplete { _ in body() }
  }
}

/// Forwards what arrives at one end of a connection, one piece at a time.
///
/// Nothing is read before the last piece has been forwarded, so a slow end slows the other one
/// down, as the network between them would.
private final class LinkHandler: ChannelInboundHandler {
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
