package import NIOCore
internal import NIOPosix
package import RealtimeTransport

/// Sends bytes to an address, reads nothing or everything, and notices when it is disconnected.
package enum RawPeer {
  /// Collects what arrives until the other end closes.
  package final class Collector: ChannelInboundHandler, Sendable {
    package typealias InboundIn = ByteBuffer

    /// Everything that has arrived.
    package let end: EventLoopPromise<String>
    private let text: NIOLoopBoundBox<String>
    private let last: String?

    package init(loop: any EventLoop, until last: String? = nil) {
      self.last = last
      text = NIOLoopBoundBox("", eventLoop: loop)
      end = loop.makePromise()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      text.value += String(decoding: Self.unwrapInboundIn(data).readableBytesView, as: UTF8.self)
      if let last, text.value.hasSuffix(last) { context.close(promise: nil) }
    }

    package func channelInactive(context: ChannelHandlerContext) {
      end.succeed(text.value)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }

  /// Sends a text and waits until the other end closes.
  ///
  /// - Parameters:
  ///   - address: Where to send it.
  ///   - request: The text.
  ///   - isAll: Whether this side of the connection ends with it.
  ///   - last: What the other end says last, if it then waits until this end closes.
  /// - Returns: Everything that arrived.
  /// - Throws: An error when nothing listens at the address, or when the end does not come in time.
  package static func exchange(
    _ address: ListenAddress,
    _ request: String,
    isAll: Bool = false,
    until last: String? = nil
  ) async throws -> String {
    let (channel, end) = try await connect(address, until: last)
    // The other end may close before it has read everything; its response up to then counts.
    try? await channel.writeAndFlush(ByteBuffer(string: request))
    if isAll { try? await channel.close(mode: .output) }
    let deadline = channel.eventLoop.scheduleTask(in: .seconds(20)) {
      end.fail(ClientProbe.DeadlinePassed())
    }
    defer { deadline.cancel() }
    return try await end.futureResult.get()
  }

  /// Sends a request and some bytes, and closes the connection.
  ///
  /// - Throws: An error when nothing listens at the address.
  package static func send(
    _ address: ListenAddress,
    _ request: String,
    then bytes: [UInt8]
  ) async throws {
    let (channel, _) = try await connect(address)
    var buffer = ByteBuffer(string: request)
    buffer.writeBytes(bytes)
    // The other end may close at any time.
    try? await channel.writeAndFlush(buffer)
    try? await channel.close()
  }

  /// The request that opens a WebSocket, with these additional header lines.
  package static func upgradeRequest(
    path: String = "/.ws?v=5",
    lines: [String] = ["Host: localhost"]
  )
    -> String
  {
    ([
      "GET \(path) HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==",
    ] + lines + ["", ""]).joined(separator: "\r\n")
  }

  private static func connect(
    _ address: ListenAddress,
    until last: String? = nil
  ) async throws -> (any Channel, EventLoopPromise<String>) {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let promise = loop.makePromise(of: EventLoopPromise<String>.self)
    let bootstrap = ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let collector = Collector(loop: channel.eventLoop, until: last)
          promise.succeed(collector.end)
          try channel.pipeline.syncOperations.addHandler(collector)
        }
      }
    let channel: any Channel
    switch address {
    case .unix(let path): channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
    case .tcp(_, let port, _):
      channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
    }
    return (channel, try await promise.futureResult.get())
  }
}
