private import Glibc
public import Logging
internal import NIOCore
internal import NIOPosix
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
/// with its event streams, at the same addresses. One thread owns the trees, so all writes to a
/// database have a single order; each database has a thread of its own that stores them. A write is
/// acknowledged, and seen by others, only once it is stored. By default, requests from web pages are
/// refused.
public final class DatabaseServer: Sendable {
  /// The addresses that a server listens at, and its settings.
  public typealias Options = ServerOptions
  /// The bounds on what clients may ask for.
  public typealias Limits = ServerLimits
  /// The certificate and key files that encrypt a server's connections.
  public typealias TLS = ServerOptions.TLS
  /// Security rules that a server starts with.
  public typealias Rules = ServerOptions.Rules
  /// The accounts and tokens of a server's users.
  public typealias Identities = IdentityOptions

  /// The URLs at which clients reach the server, one for each address it listens at.
  public let urls: [String]
  /// The TCP port that the server listens at, or nil if there is none.
  public let port: Int?

  /// The kind of rules that the default database had when the server started.
  public let rulesState: RulesState

  let core: NIOLoopBound<ServerCore>
  let ending: ServerEnding
  /// Reads the files named in ``ServerOptions/tls``.
  let readCertificate: CertificateSource

  typealias CertificateSource = @Sendable () throws(DatabaseServerError) -> ServerCertificate?

  private init(
    core: NIOLoopBound<ServerCore>,
    ending: ServerEnding,
    readCertificate: @escaping CertificateSource,
    addresses: [ListenAddress],
    rulesState: RulesState,
    namespace: String
  ) {
    self.core = core
    self.rulesState = rulesState
    self.ending = ending
    self.readCertificate = readCertificate
    urls = addresses.map { "\($0)?ns=\(namespace)" }
    port =
      addresses.lazy.compactMap { address in
        if case .tcp(_, let port, _) = address { port } else { nil }
      }.first
  }

  /// Starts a server that keeps its data in memory and loses it when it stops.
  ///
  /// - Parameters:
  ///   - options: The addresses to listen at, and the server's settings.
  ///   - logger: Receives log events, which never contain data or credentials.
  /// - Returns: The server, which runs until it is stopped, even if nothing refers to it.
  /// - Throws: ``DatabaseServerError`` when it cannot listen.
  public static func start(
    _ options: Options,
    logger: Logger = Logger(label: "hearth.server")
  ) async throws -> DatabaseServer {
    try await start(options, store: MemoryTreeStore(), logger: logger)
  }

  /// Starts a server with one database, whose store it closes when it stops, or if it cannot start.
  ///
  /// The store is used only from one of the server's own threads. Log events never contain data or
  /// credentials. The clock returns milliseconds since 1970. The server runs until it is stopped,
  /// even if nothing refers to it.
  ///
  /// - Throws: ``DatabaseServerError`` when it cannot listen or the store cannot be read.
  package static func start(
    _ options: Options,
    store: any TreeStore,
    logger: Logger = Logger(label: "hearth.server"),
    clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds
  ) async throws -> DatabaseServer {
    let stores = MemoryTreeStores([options.namespace: store])
    return try await start(options, stores: stores, logger: logger, clock: clock)
  }

  /// Starts a server with several databases, each of which is opened on first use.
  ///
  /// The default database is opened at the start, and created if it is missing. When the stores are
  /// a ``ClusterStore``, each database is opened only by the server that leads it; the other
  /// servers redirect clients to that one. Leases are measured by the uptime, a monotonic clock.
  ///
  /// - Throws: ``DatabaseServerError`` when it cannot listen or the first store cannot be read.
  package static func start(
    _ options: Options,
    stores: any TreeStores,
    logger: Logger = Logger(label: "hearth.server"),
    clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds,
    uptime: @escaping @Sendable () -> Duration = Uptime.now
  ) async throws -> DatabaseServer {
    try options.validate()
    var options = possible(options, logger: logger)
    if stores is any ClusterStore, options.identities.refreshInterval == nil {
      options.identities.refreshInterval = .seconds(1)
    }
    options.identities.openStore = options.identities.openStore ?? { MemoryIdentityStore() }
    let settled = options
    let readCertificate: CertificateSource = { () throws(DatabaseServerError) in
      try settled.tls?.certificate(logger, now: clock())
    }
    let certificate = try readCertificate()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let ending = ServerEnding(group: group)
    let eventLoop = group.next()
    let isSecure = settled.tls != nil
    let core = try await eventLoop.submit {
      let context = ServerContext(
        eventLoop: eventLoop,
        options: settled,
        logger: logger,
        clock: clock
      )
      let leaders = (stores as? any ClusterStore).map { shared in
        LeadershipDriver(
          shared,
          as: ServerID(Session.makeName()),
          timing: settled.leadership,
          eventLoop: eventLoop,
          logger: logger,
          clock: uptime,
          isReached: ServerReach(on: eventLoop, isSecure: isSecure).isReached
        )
      }
      let core = ServerCore(stores: stores, leaders: leaders, context: context)
      core.certificate = certificate
      return NIOLoopBound(core, eventLoop: eventLoop)
    }.get()
    do {
      let addresses = try await eventLoop.flatSubmit { core.value.start() }.get()
      let rulesState = try await eventLoop.submit {
        core.value.whenStopped { ending.resolve($0) }
        return core.value.rulesState
      }.get()
      return DatabaseServer(
        core: core,
        ending: ending,
        readCertificate: readCertificate,
        addresses: addresses,
        rulesState: rulesState,
        namespace: settled.namespace
      )
    } catch {
      try? await eventLoop.flatSubmit { core.value.release() }.get()
      try? await group.shutdownGracefully()
      throw DatabaseServerError(error)
    }
  }

  /// The options with the connection limit lowered to what the system allows.
  private static func possible(_ options: Options, logger: Logger) -> Options {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return options
    }
    // The others are for files, and for connections that are only being refused.
    let bound = max(1, Int(clamping: limit.rlim_cur) - ServerLimits.spareConnections - 128)
    guard bound < options.limits.connections else { return options }
    logger.warning("the system allows only \(bound) connections (RLIMIT_NOFILE)")
    var options = options
    options.limits.connections = bound
    return options
  }

  /// Replaces the security rules of the default database.
  ///
  /// Listens that the new rules do not allow are ended. If the document has a mistake, the old
  /// rules stay in force. Where several servers share a storage, one that does not lead the database
  /// puts them in force once it does.
  ///
  /// - Parameter source: A rules document: JSON with comments.
  /// - Throws: ``DatabaseServerError`` with the line and column of a mistake, or when the server
  ///   has stopped.
  public func setRules(_ source: String) async throws {
    guard let rules = try Rules.source(source).compiled() else { return }
    try await change { core in
      core.context.rules = .source(source)
      core.databases.opened(core.options.namespace)?.setRules(rules)
    }
  }

  /// Changes the running server on its event loop, unless it has stopped.
  private func change(_ body: @escaping @Sendable (ServerCore) -> Void) async throws {
    let change = ending.whileRunning { core.eventLoop.submit { body(self.core.value) } }
    guard let change else {
      throw DatabaseServerError(.failed, description: "the server has stopped")
    }
    try await change.get()
  }

  /// The kind of rules that a database has in force.
  public enum RulesState: String, Sendable {
    /// No rules document: only administrators are allowed anything.
    case locked
    /// No rules document: everything is allowed.
    case open
    /// A rules document.
    case document
  }

  /// Stops the server: stops listening, disconnects clients, stores the last batch, closes the
  /// store.
  ///
  /// Returns once everything is stored and the socket is gone. Further calls wait for the same end.
  public func stop() async {
    ending.whileRunning { core.eventLoop.execute { self.core.value.stop() } }
    _ = await ending.wait()
  }

  /// Waits until the server has stopped, on request or because it was idle for too long.
  ///
  /// - Throws: ``DatabaseServerError`` when a write failed and the server cannot know what is on
  ///   the disk. Start a new server: it reads what is there, and clients resend the writes that
  ///   were not answered.
  public func waitUntilStopped() async throws(DatabaseServerError) {
    if let failure = await ending.wait() { throw failure }
  }
}

extension DatabaseServer {
  /// Rereads the certificate and its key for new connections; open ones are not affected.
  ///
  /// Does nothing without ``ServerOptions/tls``. If a file cannot be used, the old certificate
  /// stays.
  ///
  /// - Throws: ``DatabaseServerError``, which names the file, or when the server has stopped.
  public func reloadCertificate() async throws {
    guard let certificate = try readCertificate() else { return }
    try await change { core in
      core.certificate = certificate
      for listener in core.listeners where listener.address.isSecure {
        listener.replaceCertificate(certificate)
      }
    }
  }
}

extension ServerOptions.TLS {
  /// How long before a certificate expires the log starts to warn, in milliseconds.
  private static let notice: Int64 = 14 * 86_400_000

  /// Reads the files, and warns if the certificate has expired or expires soon.
  func certificate(
    _ logger: Logger,
    now: Int64
  ) throws(DatabaseServerError) -> ServerCertificate {
    let certificate: ServerCertificate
    do throws(ServerCertificateError) {
      certificate = try ServerCertificate(chain: certificateChain, key: privateKey)
    } catch {
      throw DatabaseServerError(error)
    }
    let left = certificate.expiry * 1_000 - now
    if left < 0 {
      logger.warning("the certificate in \(certificateChain) has expired")
    } else if left < Self.notice {
      let days = left / 86_400_000
      let time = days == 1 ? "1 day" : "\(days) days"
      logger.warning("the certificate in \(certificateChain) expires in \(time)")
    }
    return certificate
  }
}

enum SystemClock {
  /// The time in milliseconds since 1970.
  @Sendable static func milliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
