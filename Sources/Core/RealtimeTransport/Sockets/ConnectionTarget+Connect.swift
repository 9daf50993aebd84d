private import Glibc
internal import NIOCore
internal import NIOPosix

extension ConnectionTarget {
  /// Connects, using TLS if the target requires it; the timeout is for each address of the host.
  ///
  /// - Returns: The channel, with the handlers that `initialize` has added before it connected. The
  ///   TLS handshake may still be in progress; its errors reach them as ``TLSFailure``.
  func connect(
    on eventLoop: any EventLoop,
    trust: TrustRoots,
    timeout: TimeAmount,
    initialize: @escaping @Sendable (any Channel) throws -> Void
  ) -> EventLoopFuture<any Channel> {
    guard isSecure, case .tcp(let host, _) = endpoint else {
      return dial(on: eventLoop, timeout: timeout, initialize: initialize)
    }
    return ClientTLS.make(trusting: trust, on: eventLoop).flatMap { tls in
      dial(on: eventLoop, timeout: timeout) { channel in
        try tls.secure(channel, to: host)
        try initialize(channel)
      }
    }
  }

  private func dial(
    on eventLoop: any EventLoop,
    timeout: TimeAmount,
    initialize: @escaping @Sendable (any Channel) throws -> Void
  ) -> EventLoopFuture<any Channel> {
    let bootstrap = ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelOption(.recvAllocator, value: ReadBuffers())
      .channelOption(.maxMessagesPerRead, value: ReadBuffers.readsPerTurn)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try initialize(channel) }
      }
    return switch detour ?? endpoint {
    case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
    case .tcp(let host, let port):
      bootstrap
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.tcpOption(Self.userTimeout), value: Self.patience)
        .resolver(turns > 0 ? TurningResolver(turns: turns, eventLoop: eventLoop) : nil)
        .connect(host: host, port: port)
    }
  }

  /// The Linux option for how long sent data may stay unacknowledged, in milliseconds.
  private static let userTimeout = NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)
  /// Long enough for a short network outage, and far less than TCP's default of about 15 minutes.
  private static let patience: ChannelOptions.Types.SocketOption.Value = 30_000
}
