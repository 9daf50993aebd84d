private import Glibc
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket

/// Listens at one address and hands over the WebSocket connections of clients.
package final class ServerListener: Sendable {
  /// Where it listens; a port of 0 has become the one that the system chose.
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

  /// Starts to listen.
  ///
  /// It is a programmer error to pass a certificate for an address that is not secure, or none for one
  /// that is: it traps.
  ///
  /// - Parameters:
  ///   - address: Where.
  ///   - certificate: What the connections are encrypted with.
  ///   - eventLoop: The loop of a NIO socket group; it serves the listener and its connections.
  ///   - limits: The bounds of every connection.
  ///   - memory: What its connections share with those of others; nil for no bounds.
  ///   - policy: Which requests are let in at all.
  ///   - handlers: Who decides and takes the connections.
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
    case .unix(let path): return listen(at: path, bootstrap, acceptor, on: eventLoop)
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
          let reason = isInUse ? "another program is listening there" : FailureText.describe(error)
          throw ListenError(isInUse ? .inUse : .failed, "\(address) cannot be used: \(reason)")
        }
    }
  }

  /// Each connection keeps a buffer or two, so they begin small; they grow with what is read.
  private static let readBuffers = AdaptiveRecvByteBufferAllocator(
    minimum: 256,
    initial: 512,
    maximum: 64 * 1_024
  )

  private static func listen(
    at path: String,
    _ bootstrap: ServerBootstrap,
    _ acceptor: ConnectionAcceptor,
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
        "\(address) cannot be listened at: \(FailureText.describe(error))"
      )
    }
  }

  /// Encrypts the connections to come with another certificate; those that are open stay open.
  ///
  /// It is a programmer error to call it where connections are not encrypted: it traps.
  package func replaceCertificate(_ certificate: ServerCertificate) -> EventLoopFuture<Void> {
    precondition(address.isSecure, "\(address) is not encrypted")
    return channel.eventLoop.submit { self.certificate.value = certificate }
  }

  /// Stops listening and removes the socket; connections that are open stay open.
  package func close() -> EventLoopFuture<Void> {
    file?.remove()
    return channel.close().flatMapErrorThrowing { error in
      guard let error = error as? ChannelError, error == .alreadyClosed else { throw error }
    }
  }

  /// Closes the connections that are not WebSockets, once what they have asked for is answered.
  ///
  /// - Returns: A future that completes when they are closed; streams are ended.
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

  /// Closes the connections that are not WebSockets at once, answered or not; only on the event loop.
  package func dropPlainConnections() {
    for handler in Array(plainConnections.value.values) { handler.closeAtOnce() }
  }
}
