import NIOCore
import NIOPosix

/// A simulated cable between one terminal and the server that can be pulled, plugged in again and
/// made slow.
///
/// All state belongs to one event loop.
package final class Cable: Sendable {
  private struct State {
    var isPlugged = true
    var ends: [any Channel] = []
    var beginning: (any Channel)?
  }

  private let loop: any EventLoop
  private let server: String
  private let state: NIOLoopBoundBox<State>
  private let delay: NIOLoopBoundBox<TimeAmount>

  /// Makes a cable; it has no socket before ``lay(at:)``.
  package init(to server: String) {
    loop = MultiThreadedEventLoopGroup.singleton.next()
    self.server = server
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
    delay = NIOLoopBoundBox.makeBoxSendingValue(.zero, eventLoop: loop)
  }

  /// Opens the socket at which the cable begins.
  ///
  /// - Throws: The system's error.
  package func lay(at socket: String) throws {
    let beginning = try ServerBootstrap(group: loop)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { client in
        client.eventLoop.makeCompletedFuture {
          let beginning = CableBeginning { self.join($0) }
          try client.pipeline.syncOperations.addHandler(beginning)
        }
      }
      .bind(unixDomainSocketPath: socket).wait()
    loop.execute { self.state.value.beginning = beginning }
  }

  /// Pulls the cable, or plugs it in.
  package func set(isPlugged: Bool) {
    loop.execute { [self] in
      state.value.isPlugged = isPlugged
      guard !isPlugged else { return }
      for end in state.value.ends { end.close(promise: nil) }
      state.value.ends = []
    }
  }

  /// Makes everything take that much longer, in each direction.
  package func slow(by delay: Duration) {
    loop.execute { self.delay.value = TimeAmount(delay) }
  }

  /// Closes the socket, and pulls the cable for good.
  package func remove() {
    set(isPlugged: false)
    loop.execute { self.state.value.beginning?.close(promise: nil) }
  }

  /// Joins an incoming connection to a connection to the server.
  private func join(_ client: any Channel) {
    guard state.value.isPlugged else { return client.close(promise: nil) }
    ClientBootstrap(group: loop)
      .channelOption(.autoRead, value: false)
      .connect(unixDomainSocketPath: server)
      .flatMapThrowing { other in
        // It may have been pulled in the meantime.
        guard self.state.value.isPlugged, client.isActive else {
          other.close(promise: nil)
          return client.close(promise: nil)
        }
        try client.pipeline.syncOperations.addHandler(CableEnd(other, delay: self.delay))
        try other.pipeline.syncOperations.addHandler(CableEnd(client, delay: self.delay))
        self.state.value.ends.removeAll { !$0.isActive }
        self.state.value.ends += [client, other]
        client.read()
        other.read()
      }
      .whenFailure { _ in client.close(promise: nil) }
  }
}

/// Reports a connection as soon as it can be read from.
private final class CableBeginning: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let onActive: (any Channel) -> Void

  init(_ onActive: @escaping (any Channel) -> Void) {
    self.onActive = onActive
  }

  func channelActive(context: ChannelHandlerContext) {
    onActive(context.channel)
  }
}

/// Forwards what arrives at one end of a cable, in order, each chunk after the delay.
private final class CableEnd: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// How many chunks may be on their way before no more is read.
  private static let capacity = 64

  private let other: any Channel
  private let delay: NIOLoopBoundBox<TimeAmount>
  /// What is on its way.
  ///
  /// Each chunk's timer forwards the oldest, so a shorter delay changes no order.
  private var chunks = CircularBuffer<ByteBuffer>()
  private var isClosed = false

  init(_ other: any Channel, delay: NIOLoopBoundBox<TimeAmount>) {
    self.other = other
    self.delay = delay
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    chunks.append(Self.unwrapInboundIn(data))
    let channel = context.channel
    context.eventLoop.assumeIsolated().scheduleTask(in: delay.value) { self.forward(from: channel) }
    let hasRoom = Self.capacity > chunks.count
    if hasRoom, delay.value != .zero { channel.read() }
  }

  private func forward(from channel: any Channel) {
    guard let chunk = chunks.popFirst() else { return }
    let isLast = isClosed && chunks.isEmpty
    other.writeAndFlush(chunk).assumeIsolated().whenComplete { _ in
      channel.read()
      if isLast { self.other.close(promise: nil) }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosed = true
    if chunks.isEmpty { other.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
