private import Glibc
internal import NIOCore
internal import NIOPosix

extension ConnectionTarget {
  /// Connects, and encrypts the connection where the target demands it.
  ///
  /// - Parameters:
  ///   - eventLoop: The loop of a NIO socket group that the channel lives on.
  ///   - trust: Whose certificates are believed.
  ///   - timeout: How long one address of the host may take.
  ///   - initialize: Adds the handlers of the protocol, before the channel connects.
  /// - Returns: The channel; the handshake of TLS may still be under way, and what goes wrong there
  ///   reaches the handlers as a ``TLSFailure``.
  func connect(
    on eventLoop: any EventLoop,
    trust: TrustRoots,
    timeout: TimeAmount,
    initialize: @escaping @Sendable (any Channel) throws -> Void
  ) -> EventLoopFuture<any Channel> {
    guard isSecure, case .tcp(let host, _) = endpoint else {
      return dial(bootstrap(on: eventLoop, timeout, initialize))
    }
    return ClientTLS.make(trusting: trust, on: eventLoop).flatMap { tls in
      dial(
        bootstrap(on: eventLoop, timeout) { channel in
          try tls.secure(channel, to: host)
          try initialize(channel)
        }
      )
    }
  }

  private func dial(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
    switch detour ?? endpoint {
    case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
    case .tcp(let host, let port):
      bootstrap
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.tcpOption(Self.userTimeout), value: Self.patience)
        .connect(host: host, port: port)
    }
  }

  /// The option of Linux for how long what was sent may stay unconfirmed, in milliseconds.
  private static let userTimeout = NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)
  /// Long enough for a network that comes back, and far less than the quarter of an hour of TCP.
  private static let patience: ChannelOptions.Types.SocketOption.Value = 30_000

  private func bootstrap(
    on eventLoop: any EventLoop,
    _ timeout: TimeAmount,
    _ initialize: @escaping @Sendable (any Channel) throws -> Void
  ) -> ClientBootstrap {
    ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try initialize(channel) }
      }
  }
}
