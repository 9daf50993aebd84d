public import Logging
internal import NIOCore
internal import NIOPosix
package import RealtimeHub
internal import RealtimeTransport

/// A realtime database server in this process.
///
/// ```swift
/// let server = try await DatabaseServer.start(.init(port: 0))
/// print(server.urls)
/// await server.stop()
/// ```
///
/// It speaks version 5 of the Firebase Realtime Database protocol over WebSockets, and the REST API
/// with its event streams, at the same addresses. One thread owns the tree, so that all writes have
/// one order; another one stores them. A write is acknowledged, and seen by others, only when it is
/// stored. Web pages are refused.
public final class DatabaseServer: Sendable {
  /// Where clients reach the server, one URL for each address it listens at.
  public let urls: [String]
  /// The port of 127.0.0.1 that the server listens at, if it does.
  public let port: Int?

  private let core: NIOLoopBound<ServerCore>
  private let ending: ServerEnding

  private init(
    core: NIOLoopBound<ServerCore>,
    ending: ServerEnding,
    addresses: [ListenAddress],
    namespace: String
  ) {
    self.core = core
    self.ending = ending
    urls = addresses.map { "\($0)?ns=\(namespace)" }
    port =
      addresses.lazy.compactMap { address in
        if case .loopback(let port) = address { port } else { nil }
      }.first
  }

  /// Starts a server that keeps its data in memory, until it stops.
  ///
  /// - Parameters:
  ///   - options: Where to listen, and as what.
  ///   - logger: Takes what happens; never data or credentials.
  /// - Returns: The server, which runs until it is stopped, even if no one keeps it.
  /// - Throws: ``DatabaseServerError`` when it cannot listen.
  public static func start(
    _ options: Options,
    logger: Logger = Logger(label: "hearth.server")
  ) async throws -> DatabaseServer {
    try await start(options, store: MemoryTreeStore(), logger: logger)
  }

  /// Starts a server that keeps its data in a store, which it closes when it stops.
  ///
  /// The store is also closed when the start fails.
  ///
  /// - Parameters:
  ///   - options: Where to listen, and as what.
  ///   - store: Where the data rest; used from one thread of the server's own.
  ///   - logger: Takes what happens; never data or credentials.
  ///   - clock: The time in milliseconds since 1970.
  /// - Returns: The server, which runs until it is stopped, even if no one keeps it.
  /// - Throws: ``DatabaseServerError`` when it cannot listen or the store cannot be read.
  package static func start(
    _ options: Options,
    store: any TreeStore,
    logger: Logger = Logger(label: "hearth.server"),
    clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds
  ) async throws -> DatabaseServer {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let thread = StoreThread(store: store, eventLoop: group.next())
    let ending = ServerEnding(group: group)
    do {
      try options.validate()
      let stored = try await thread.load().get()
      let started = thread.eventLoop.flatSubmit {
        let core = ServerCore(
          stored: stored,
          thread: thread,
          options: options,
          logger: logger,
          clock: clock
        )
        core.onStopped = { ending.resolve() }
        let bound = NIOLoopBound(core, eventLoop: thread.eventLoop)
        return core.listen().map { (bound, $0) }
      }
      let (core, addresses) = try await started.get()
      return DatabaseServer(
        core: core,
        ending: ending,
        addresses: addresses,
        namespace: options.namespace
      )
    } catch {
      try? await thread.close().get()
      try? await group.shutdownGracefully()
      throw DatabaseServerError(error)
    }
  }

  /// Stops the server: no new connections, goodbye to the open ones, the last batch and the store.
  ///
  /// Returns when everything is stored and the socket is gone. Further calls wait for the same end.
  public func stop() async {
    ending.whileRunning { core.eventLoop.execute { self.core.value.stop() } }
    await waitUntilStopped()
  }

  /// Waits until the server has stopped, because it was told to or because nobody was connected.
  public func waitUntilStopped() async {
    await ending.wait()
  }
}
