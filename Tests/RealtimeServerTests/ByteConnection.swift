import NIOCore
import NIOPosix
import RealtimeTransport

/// A connection for raw bytes, whose responses are each read within a deadline.
final class ByteConnection: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isClosed = false
    var waiter: EventLoopPromise<Void>?
  }

  private final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let state: NIOLoopBoundBox<State>

    init(_ state: NIOLoopBoundBox<State>) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      state.value.bytes += Self.unwrapInboundIn(data).readableBytesView
      wake()
    }

    func channelInactive(context: ChannelHandlerContext) {
      state.value.isClosed = true
      wake()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }

    private func wake() {
      let waiter = state.value.waiter
      state.value.waiter = nil
      waiter?.succeed(())
    }
  }

  struct Closed: Error {}
  struct DeadlinePassed: Error {}

  private let channel: any Channel
  private let state: NIOLoopBoundBox<State>

  /// Connects.
  ///
  /// - Parameters:
  ///   - address: The server's address.
  ///   - isReading: Whether to read what comes.
  ///   - staysOpen: Whether to notice only by reading that the other end has closed.
  /// - Throws: An error of the connection.
  init(_ address: ListenAddress, isReading: Bool = true, staysOpen: Bool = false) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
    self.state = state
    let bootstrap = ClientBootstrap(group: loop)
      .channelOption(.autoRead, value: isReading)
      .channelOption(.allowRemoteHalfClosure, value: staysOpen)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Collector(state))
        }
      }
    switch address {
    case .unix(let path): channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
    case .tcp(_, let port, _):
      channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
    }
  }

  deinit { cut() }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// Stops or resumes reading.
  func setReading(_ isReading: Bool) async throws {
    // The other end may have closed in the meantime.
    try? await channel.setOption(.autoRead, value: isReading).get()
    if isReading { channel.read() }
  }

  /// Ends this side of the connection, unless the other end has closed it.
  func endOutput() async { try? await channel.close(mode: .output) }

  /// Closes the connection, unless the other end has done so.
  func close() async { try? await channel.close() }

  /// Closes the connection without waiting.
  func cut() { channel.close(promise: nil) }

  /// Reads what a closure finds at the start of the received bytes, once it finds it.
  ///
  /// - Parameters:
  ///   - atEnd: Whether to wait until the other end has closed.
  ///   - parse: Returns what it has found and how many bytes that took, or nil to wait for more.
  /// - Throws: `Closed`, `DeadlinePassed` or what the closure throws.
  /// - Returns: What was found; its bytes are consumed.
  func take<Value: Sendable>(
    atEnd: Bool = false,
    _ parse: @escaping @Sendable ([UInt8]) throws -> (Value, Int)?
  ) async throws -> Value {
    while true {
      let promise = channel.eventLoop.makePromise(of: Void.self)
      let deadline = channel.eventLoop.scheduleTask(in: .seconds(20)) {
        promise.fail(DeadlinePassed())
      }
      let state = state
      let value = try await channel.eventLoop.submit { () throws -> Value? in
        do {
          let isDue = !atEnd || state.value.isClosed
          if isDue, let (value, count) = try parse(state.value.bytes) {
            state.value.bytes.removeFirst(count)
            promise.succeed(())
            return value
          }
          if state.value.isClosed { throw Closed() }
        } catch {
          promise.succeed(())
          throw error
        }
        state.value.waiter = promise
        return nil
      }.get()
      if let value {
        deadline.cancel()
        return value
      }
      try await promise.futureResult.get()
      deadline.cancel()
    }
  }
}
