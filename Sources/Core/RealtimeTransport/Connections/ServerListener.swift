private import Glibc
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket

/// Listens on one address and accepts WebSocket connections and plain HTTP requests.
package final class ServerListener: Sendable {
  /// The address; port 0 has been replaced by the port that the system chose.
  package let address: ListenAddress

  private let channel: any Channel
  private let file: SocketFile?

  private let plainConnections: NIOLoopBoundBox<[ObjectIdentifier: PlainRequestHandler]>
  private let certificate: NIOLoopBoundBox<ServerCertificate?>

  private init(
    address: ListenAddress,
    channel: any Channel,
    file: SocketFile?,
    acceptor: ConnectionAcceptor
  ) {
    self.address = address
    self.channel = channel
    self.file = file
    plainConnections = acceptor.plainConnections
    certificate = acceptor.certificate
  }

  /// Starts listening.
  ///
  /// It is a programmer error to pass a certificate for an address that is not secure, or to pass
  /// none for one that is.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - certificate: The certificate for TLS, if the address is secure.
  ///   - eventLoop: The event loop of the listener and its connections.
  ///   - limits: The limits of every connection.
  ///   - memory: The memory that its connections share with those of other listeners; nil to share
  ///     none and have no bounds.
  ///   - policy: Decides which requests are accepted.
  ///   - handlers: Decide on requests and receive the connections.
  /// - Returns: The listener; the future fails with a ``ListenError``.
  package static func listen(
    at address: ListenAddress,
    certificate: ServerCertificate? = nil,
    on eventLoop: any EventLoop,
    limits: TransportLimits = .server,
    memory: NIOLoopBound<ConnectionMemory>? = nil,
    policy: RequestPolicy = RequestPolicy(),
    handlers: ServerHandlers
  ) -> EventLoopFuture<ServerListener> {
    precondition(
      address.isSecure == (certificate != nil),
      "\(address) and its certificate contradict each other"
    )
    let acceptor = ConnectionAcceptor(
      limits: Shared(limits),
      policy: policy,
      handlers: handlers,
      user: geteuid(),
      memory: memory,
      openConnections: NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: eventLoop),
      idleConnections: NIOLoopBoundBox.makeBoxSendingValue(
        IdleConnections(),
        eventLoop: eventLoop
      ),
      certificate: NIOLoopBoundBox.makeBoxSendingValue(certificate, eventLoop: eventLoop),
      endOfTick: NIOLoopBoundBox.makeBoxSendingValue(OutputTick(eventLoop), eventLoop: eventLoop),
      plainConnections: NIOLoopBoundBox.makeBoxSendingValue([:], eventLoop: eventLoop)
    )
    let bootstrap = ServerBootstrap(group: eventLoop)
      .serverChannelOption(.backlog, value: 4_096)
      .childChannelOption(.recvAllocator, value: Self.readBuffers)
      .childChannelInitializer { acceptor.initialize($0, at: address) }
    switch address {
    case .unix(let path):
      return listen(at: path, with: bootstrap, acceptor: acceptor, on: eventLoop)
    case .tcp(let host, let port, let isSecure):
      return
        bootstrap
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .bind(host: host, port: port)
        .map { channel in
          let chosen = channel.localAddress?.port ?? port
          return ServerListener(
            address: .tcp(host: host, port: chosen, isSecure: isSecure),
            channel: channel,
            file: nil,
            acceptor: acceptor
          )
        }.flatMapErrorThrowing { error in
          let isInUse = (error as? IOError)?.errnoCode == EADDRINUSE
          let reason =
            isInUse
            ? "another program is listening there (\"ss -ltnp\" shows which)"
            : FailureText.describe(error)
          throw ListenError(
            isInUse ? .inUse : .failed,
            description: "\(address) cannot be used: \(reason)"
          )
        }
    }
  }

  /// Each connection keeps a buffer or two, so buffers start small and grow with the input.
  private static let readBuffers = AdaptiveRecvByteBufferAllocator(
    minimum: 256,
    initial: 512,
    maximum: 64 * 1_024
  )

  private static func listen(
    at path: String,
    with bootstrap: ServerBootstrap,
    acceptor: ConnectionAcceptor,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<ServerListener> {
    let address = ListenAddress.unix(path: path)
    let file: SocketFile
    do throws(ListenError) {
      file = try SocketFile(listeningAt: path)
    } catch {
      return eventLoop.makeFailedFuture(error)
    }
    return bootstrap.withBoundSocket(file.descriptor).map { channel in
      ServerListener(address: address, channel: channel, file: file, acceptor: acceptor)
    }.flatMapErrorThrowing { error in
      file.remove()
      throw ListenError(
        .failed,
        description: "\(address) cannot be listened at: \(FailureText.describe(error))"
      )
    }
  }

  /// Replaces the certificate for future connections; open connections are not affected.
  ///
  /// It is a programmer error to call this on a listener without TLS.
  package func replaceCertificate(_ certificate: ServerCertificate) -> EventLoopFuture<Void> {
    precondition(address.isSecure, "\(address) is not encrypted")
    return channel.eventLoop.submit { self.certificate.value = certificate }
  }

  /// Stops listening and removes the socket; open connections stay open.
  package func close() -> EventLoopFuture<Void> {
    file?.remove()
    return channel.close().flatMapErrorThrowing { error in
      guard let error = error as? ChannelError, error == .alreadyClosed else { throw error }
    }
  }

  /// Closes the plain HTTP connections after their pending requests are answered, and ends streams.
  ///
  /// - Returns: A future that completes when all of them are closed.
  package func closePlainConnections() -> EventLoopFuture<Void> {
    let eventLoop = channel.eventLoop
    return eventLoop.flatSubmit { [plainConnections] in
      let handlers = Array(plainConnections.value.values)
      return EventLoopFuture.andAllComplete(
        handlers.compactMap { $0.closeGracefully() },
        on: eventLoop
      )
    }
  }

  /// Closes connections other than WebSockets at once, answered or not; only on the event loop.
  package func dropPlainConnections() {
    for handler in Array(plainConnections.value.values) { handler.closeAtOnce() }
  }
}
