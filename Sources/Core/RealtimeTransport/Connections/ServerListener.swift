private import Glibc
internal import NIOConcurrencyHelpers
package import NIOCore
internal import NIOPosix

/// Listens on one address and accepts WebSocket connections and plain HTTP requests.
package final class ServerListener: Sendable {
  /// The address; port 0 has been replaced by the port that the system chose.
  package let address: ListenAddress

  private let listening: NIOLockedValueBox<Listening>

  /// What listens; a Unix socket is replaced when its file is lost.
  private struct Listening: Sendable {
    var channel: any Channel
    var file: SocketFile?
    var watch: RepeatedTask?
    var isClosed = false
  }

  /// How often a Unix socket checks that its file is there.
  private static let watchInterval = TimeAmount.seconds(1)

  private let acceptor: ConnectionAcceptor

  private init(
    address: ListenAddress,
    channel: any Channel,
    file: SocketFile?,
    acceptor: ConnectionAcceptor
  ) {
    self.address = address
    listening = NIOLockedValueBox(Listening(channel: channel, file: file))
    self.acceptor = acceptor
  }

  /// Starts listening.
  ///
  /// It is a programmer error to pass a certificate for an address that is not secure, or to pass
  /// none for one that is.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - certificate: The certificate for TLS, if the address is secure.
  ///   - eventLoop: The event loop of the listener, of its connections, and of all calls of handlers.
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
    memory: NIOLoopBoundBox<ConnectionMemory>? = nil,
    policy: RequestPolicy = RequestPolicy(),
    handlers: ServerHandlers
  ) -> EventLoopFuture<ServerListener> {
    precondition(
      address.isSecure == (certificate != nil),
      "\(address) does not match its certificate"
    )
    let acceptor = ConnectionAcceptor(
      limits: Shared(limits),
      policy: policy,
      handlers: handlers,
      user: geteuid(),
      connections: OpenConnections(),
      certificate: NIOLockedValueBox(certificate),
      memory: memory,
      endOfTick: .makeBoxSendingValue(OutputTick(eventLoop), eventLoop: eventLoop),
      plainConnections: .makeBoxSendingValue([:], eventLoop: eventLoop)
    )
    let makeBootstrap = { @Sendable in
      ServerBootstrap(group: eventLoop)
        .serverChannelOption(.backlog, value: 4_096)
        .childChannelOption(.recvAllocator, value: ReadBuffers())
        .childChannelOption(.maxMessagesPerRead, value: ReadBuffers.readsPerTurn)
        .childChannelInitializer { acceptor.initialize($0, at: address) }
    }
    switch address {
    case .unix(let path):
      return listen(at: path, with: makeBootstrap, acceptor: acceptor, on: eventLoop)
    case .tcp(let host, let port, let isSecure):
      return makeBootstrap()
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

  private static func listen(
    at path: String,
    with makeBootstrap: @escaping @Sendable () -> ServerBootstrap,
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
    return makeBootstrap().withBoundSocket(file.descriptor).map { channel in
      let listener = ServerListener(
        address: address,
        channel: channel,
        file: file,
        acceptor: acceptor
      )
      listener.watchFile(with: makeBootstrap, on: eventLoop)
      return listener
    }.flatMapErrorThrowing { error in
      file.remove()
      throw ListenError(
        .failed,
        description: "\(address) cannot be listened on: \(FailureText.describe(error))"
      )
    }
  }

  /// Replaces the certificate for future connections; open connections are not affected.
  ///
  /// It is a programmer error to call this on a listener without TLS.
  package func replaceCertificate(_ certificate: ServerCertificate) {
    precondition(address.isSecure, "\(address) is not encrypted")
    acceptor.certificate.withLockedValue { $0 = certificate }
  }

  /// Binds the socket again whenever its file is lost: the end of a login session, a cleaner of
  /// temporary files or a person may remove it while the server runs.
  private func watchFile(
    with makeBootstrap: @escaping @Sendable () -> ServerBootstrap,
    on eventLoop: any EventLoop
  ) {
    let watch = eventLoop.scheduleRepeatedTask(
      initialDelay: Self.watchInterval,
      delay: Self.watchInterval
    ) { [weak self] _ in
      // What is at the path now may go away again, so that a failure is only tried again.
      guard let self, let lost = listening.withLockedValue(\.file), !lost.isInPlace,
        let file = try? lost.restored()
      else { return }
      makeBootstrap().withBoundSocket(file.descriptor).whenSuccess { channel in
        let former: (any Channel)? = self.listening.withLockedValue { listening in
          guard !listening.isClosed else { return nil }
          defer { (listening.channel, listening.file) = (channel, file) }
          return listening.channel
        }
        if former == nil { file.remove() }
        (former ?? channel).close(promise: nil)
      }
    }
    listening.withLockedValue { $0.watch = watch }
  }

  /// Stops listening and removes the socket; open connections stay open.
  package func close() -> EventLoopFuture<Void> {
    let last = listening.withLockedValue { listening in
      listening.isClosed = true
      return listening
    }
    last.watch?.cancel()
    last.file?.remove()
    return last.channel.close().flatMapErrorThrowing { error in
      guard let error = error as? ChannelError, error == .alreadyClosed else { throw error }
    }
  }

  /// Closes the plain HTTP connections after their pending requests are answered, and ends streams.
  ///
  /// - Returns: A future that completes when all of them are closed.
  package func closePlainConnections() -> EventLoopFuture<Void> {
    let eventLoop = listening.withLockedValue(\.channel).eventLoop
    return eventLoop.flatSubmit { [acceptor] in
      let handlers = Array(acceptor.plainConnections.value.values)
      return EventLoopFuture.andAllComplete(
        handlers.compactMap { $0.closeGracefully() },
        on: eventLoop
      )
    }
  }

  /// Closes connections other than WebSockets at once, answered or not.
  ///
  /// Must be called on the server's event loop, and comes before any answers that follow there.
  package func dropPlainConnections() {
    for handler in Array(acceptor.plainConnections.value.values) { handler.closeAtOnce() }
  }
}
