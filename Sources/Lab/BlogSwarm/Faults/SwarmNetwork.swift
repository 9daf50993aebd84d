internal import NIOCore
internal import NIOPosix
package import RealtimeTransport

/// A network between the clients of a swarm and their server that can be made to fail.
///
/// Each process of clients has a port of its own, so that something can happen to one of them. All
/// state belongs to one event loop. Bytes are never reordered, since TCP does not let that show.
package final class SwarmNetwork: Sendable {
  private struct State {
    var conditions: [Int: NetworkCondition] = [:]
    var links: [Int: NetworkLink] = [:]
    var lastLink = 0
    var listeners: [any Channel] = []
  }

  /// How long a connection that repeats another one stays open.
  private static let repetition = TimeAmount.milliseconds(300)

  private let loop: any EventLoop
  private let server: ConnectionTarget.Endpoint
  private let state: NIOLoopBoundBox<State>

  /// Makes a network in front of a server.
  ///
  /// - Parameter server: Where the server listens, which may be away for a while.
  package init(to server: ConnectionTarget.Endpoint) {
    loop = MultiThreadedEventLoopGroup.singleton.next()
    self.server = server
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// Makes a network in front of a port of this machine.
  package convenience init(to port: Int) {
    self.init(to: .tcp(host: "127.0.0.1", port: port))
  }

  /// Starts to listen for a process of clients.
  ///
  /// - Parameter process: The number of the process.
  /// - Returns: The port that it connects to.
  /// - Throws: What the system reports when there is no free port.
  package func open(process: Int) async throws -> Int {
    let listener = try await ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 256)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { self.accept($0, process) }
      .bind(host: "127.0.0.1", port: 0).get()
    try await loop.submit { self.state.value.listeners.append(listener) }.get()
    return listener.localAddress?.port ?? 0
  }

  /// Changes what the network does to a process of clients.
  ///
  /// - Throws: What the event loop reports when it has been shut down.
  package func set(_ condition: NetworkCondition, process: Int) async throws {
    try await loop.submit { [self] in
      let old = state.value.conditions.updateValue(condition, forKey: process)
      // What was lost on a connection cannot be made up for on it.
      if condition == .cut || old == .deaf { endLinks(ofProcess: process) }
    }.get()
  }

  /// Ends the connections of a process and sends all that was sent on them again, each on a new one.
  ///
  /// Nobody is let in meanwhile, so that what is repeated comes before what the client sends next.
  ///
  /// - Parameter process: The number of the process.
  /// - Returns: How many connections were repeated.
  /// - Throws: What the event loop reports when it has been shut down.
  package func repeatAll(process: Int) async throws -> Int {
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

  /// Ends all connections and lets no more in.
  package func close() async {
    let listeners = try? await loop.submit { [self] in
      for id in state.value.links.keys { end(id) }
      defer { state.value.listeners = [] }
      return state.value.listeners
    }.get()
    for listener in listeners ?? [] { try? await listener.close() }
  }

  /// Sends bytes on a connection of their own and waits a while, whatever is answered.
  private func send(_ bytes: ByteBuffer) async {
    guard let channel = try? await dial(ClientBootstrap(group: loop)).get() else { return }
    try? await channel.writeAndFlush(bytes)
    try? await loop.scheduleTask(in: Self.repetition) {}.futureResult.get()
    try? await channel.close()
  }

  // MARK: Connections

  private func accept(_ client: any Channel, _ process: Int) -> EventLoopFuture<Void> {
    guard state.value.conditions[process] != .cut else { return client.close() }
    state.value.lastLink += 1
    let id = state.value.lastLink
    return dial(ClientBootstrap(group: loop).channelOption(.autoRead, value: false))
      .flatMapThrowing { server in
        self.state.value.links[id] = NetworkLink(process, client, server, on: self.loop)
        try self.join(client, .toServer, id)
        try self.join(server, .toClient, id)
        client.read()
        server.read()
      }
  }

  private func dial(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
    switch server {
    case .tcp(let host, let port): bootstrap.connect(host: host, port: port)
    case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
    }
  }

  private func join(
    _ channel: any Channel,
    _ direction: NetworkLink.Direction,
    _ id: Int
  ) throws {
    try channel.pipeline.syncOperations.addHandler(
      LinkHandler(onRead: { self.forward($0, direction, id) }, onEnd: { self.end(id) })
    )
  }

  private func forward(_ bytes: ByteBuffer, _ direction: NetworkLink.Direction, _ id: Int) {
    guard let link = state.value.links[id] else { return }
    if direction == .toServer { link.record(bytes) }
    switch (state.value.conditions[link.process] ?? .sound, direction) {
    case (.sound, _), (.deaf, .toServer), (.slow, .toServer):
      link.deliver(bytes, direction, after: .zero)
    case (.cut, _), (.deaf, .toClient): link.source(direction).read()
    case (.late(let delay), _): link.deliver(bytes, direction, after: delay)
    case (.slow(let rate), .toClient):
      let nanoseconds = Int64(bytes.readableBytes) * 1_000_000_000 / Int64(max(1, rate))
      link.deliver(bytes, direction, after: .nanoseconds(nanoseconds))
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
