import NIOCore
import NIOPosix
import RealtimeTransport

/// A connection that speaks HTTP in bytes, and reads each answer within a deadline.
final class HTTPProbe: Sendable {
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

  init(_ address: ListenAddress, isReading: Bool = true) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
    self.state = state
    let bootstrap = ClientBootstrap(group: loop)
      .channelOption(.autoRead, value: isReading)
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

  deinit { channel.close(promise: nil) }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Stops or resumes reading.
  func setReading(_ isReading: Bool) async throws {
    // The other end may have hung up meanwhile.
    try? await channel.setOption(.autoRead, value: isReading).get()
    if isReading { channel.read() }
  }

  /// Hangs up, unless the other end has done so.
  func close() async { try? await channel.close() }

  /// Sends a request and reads the answer.
  func request(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = []
  ) async throws -> HTTPProbeAnswer {
    send(Self.text(method, target, body, lines: lines))
    return try await answer(hasBody: method != "HEAD")
  }

  static func text(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = []
  ) -> String {
    var text = (["\(method) \(target) HTTP/1.1", "Host: localhost"] + lines)
      .joined(separator: "\r\n")
    if let body { text += "\r\nContent-Length: \(body.utf8.count)" }
    return text + "\r\n\r\n" + (body ?? "")
  }

  /// Reads an answer, with its body where the header tells its length.
  func answer(hasBody: Bool = true) async throws -> HTTPProbeAnswer {
    try await take { HTTPProbeAnswer.parse($0, hasBody: hasBody) }
  }

  /// Reads a chunk of a body; an empty one is the last.
  func chunk() async throws -> String {
    try await take { bytes in
      guard let end = bytes.firstIndex(of: 10), end > 0,
        let count = Int(String(decoding: bytes[..<(end - 1)], as: UTF8.self), radix: 16),
        bytes.count >= end + 1 + count + 2
      else { return nil }
      let body = bytes[(end + 1)..<(end + 1 + count)]
      return (String(decoding: body, as: UTF8.self), end + 1 + count + 2)
    }
  }

  /// Reads until the other end closes.
  func rest() async throws -> String {
    try await take(atEnd: true) { (String(decoding: $0, as: UTF8.self), $0.count) }
  }

  private func take<Value: Sendable>(
    atEnd: Bool = false,
    _ parse: @escaping @Sendable ([UInt8]) -> (Value, Int)?
  ) async throws -> Value {
    while true {
      let promise = channel.eventLoop.makePromise(of: Void.self)
      let deadline = channel.eventLoop.scheduleTask(in: .seconds(20)) {
        promise.fail(DeadlinePassed())
      }
      let state = state
      let value = try await channel.eventLoop.submit { () throws -> Value? in
        if !atEnd || state.value.isClosed, let (value, count) = parse(state.value.bytes) {
          state.value.bytes.removeFirst(count)
          promise.succeed(())
          return value
        }
        if state.value.isClosed {
          promise.succeed(())
          throw Closed()
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
