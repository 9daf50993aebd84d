import NIOCore
import NIOPosix
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

/// What is written to a socket directly, what goes through its channel, and both in turn.
@Suite("Output of an unencrypted connection", .timeLimit(.minutes(1)), .cleansUp)
struct SocketWriterTests {
  /// More than the buffers of both sockets can hold.
  private static let early = 3_000
  private static let late = 10
  private static let length = 10_000

  /// A message that differs from its neighbours.
  private static func message(_ number: Int) -> [UInt8] {
    let name = Array("\(number) ".utf8)
    let letter = UInt8(ascii: "a") + UInt8(number % 26)
    return name + [UInt8](repeating: letter, count: length - name.count)
  }

  /// The single frame in which the message is sent.
  private static func frame(_ number: Int) -> [UInt8] {
    [0x81, 126, UInt8(length >> 8), UInt8(length & 0xFF)] + message(number)
  }

  /// Collects what follows the handshake response; confined to its event loop.
  private final class Reader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var bytes = ByteBuffer()
    private var isOpen = false
    private var waiting: (count: Int, promise: EventLoopPromise<[UInt8]>)?

    /// Returns all bytes once at least this many have arrived.
    func read(_ count: Int, _ promise: EventLoopPromise<[UInt8]>) {
      waiting = (count, promise)
      look()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = Self.unwrapInboundIn(data)
      bytes.writeBuffer(&buffer)
      if !isOpen, let end = bytes.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) {
        isOpen = true
        bytes.moveReaderIndex(to: end.upperBound)
      }
      look()
    }

    func channelInactive(context: ChannelHandlerContext) {
      waiting?.promise.fail(ChannelError.eof)
    }

    private func look() {
      guard isOpen, let (count, promise) = waiting, bytes.readableBytes >= count else { return }
      waiting = nil
      promise.succeed(Array(bytes.readableBytesView))
    }
  }

  @Test("arrives once and in order, even at a peer that reads late", arguments: [true, false])
  func lateReader(isUnix: Bool) async throws {
    let directory = try TemporaryDirectory()
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let allSent = loop.makePromise(of: Void.self)
    var limits = TransportLimits.server
    limits.congestionBytes = 1 << 30
    limits.pendingBytes = 1 << 30
    let listener = try await ServerListener.start(
      at: isUnix ? .unix(path: directory.file("s")) : .loopback(port: 0),
      limits: limits
    ) { connection in
      // One message per turn of the event loop, so that each is written separately.
      @Sendable func send(_ numbers: Range<Int>) {
        guard let number = numbers.first else { return allSent.succeed() }
        connection.send(EncodedMessage(Self.message(number)))
        connection.eventLoop.execute { send(numbers.dropFirst()) }
      }
      send(0..<Self.early)
      return ServerHandlers.Callbacks(
        onMessage: { _ in send(Self.early..<Self.early + Self.late) },
        onClose: { _ in }
      )
    }
    let reader = try await loop.submit { NIOLoopBound(Reader(), eventLoop: loop) }.get()
    let bootstrap = ClientBootstrap(group: loop)
      .channelOption(.autoRead, value: false)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(reader.value)
        }
      }
    let channel: any Channel =
      switch listener.address {
      case .unix(let path): try await bootstrap.connect(unixDomainSocketPath: path).get()
      case .tcp(_, let port, _): try await bootstrap.connect(host: "127.0.0.1", port: port).get()
      }
    func read(_ messages: Int) async throws -> [UInt8] {
      let promise = loop.makePromise(of: [UInt8].self)
      loop.execute { reader.value.read(messages * (Self.length + 4), promise) }
      return try await promise.futureResult.get()
    }
    try await channel.writeAndFlush(ByteBuffer(string: RawPeer.upgradeRequest()))
    try await allSent.futureResult.get()
    try await channel.setOption(.autoRead, value: true).get()
    _ = try await read(Self.early)
    // Everything has been read, so the rest is written to the socket directly again.
    try await channel.writeAndFlush(ByteBuffer(bytes: [0x81, 0x82, 0, 0, 0, 0, 0x7B, 0x7D]))
    let received = try await read(Self.early + Self.late)
    #expect(received == (0..<Self.early + Self.late).flatMap(Self.frame))
    try await channel.close()
  }
}
