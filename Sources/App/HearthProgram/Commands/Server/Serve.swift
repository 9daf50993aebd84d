import ArgumentParser
import DurableFiles
import Foundation
import Logging
import RealtimeCore
import RealtimeDatabase
import RealtimeServer

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run a database server until it is told to stop.",
    discussion: """
      Prints one line of JSON when it is ready, with the seconds that the start took: the database is \
      read into memory first, about two million values a second. It listens on the local socket, which only processes of the same user may use, as \
      administrators, and with --port on 127.0.0.1 as well, which every process of this machine may \
      use: there the rules decide, and without --rules nothing is allowed.

      SIGTERM and SIGINT end it after the last write is stored, with status 0; a second one ends it \
      at once, with status 143, and loses nothing that was acknowledged. If it cannot know whether a \
      write was stored, it ends with status 1; started again, it reads what the disk has. SIGHUP reads \
      the rules and the certificate again. Administrators read metrics at /.info/metrics.json \
      and, in Prometheus' text format, at /metrics.

      With --store the databases, the accounts and the keys are in PostgreSQL, in the schema "hearth", \
      which is made when it is missing. The URL is one of libpq, with its environment variables and \
      password file; it needs libpq5. There is a socket only with --socket. While PostgreSQL cannot \
      be reached, the start waits for it.

      Limits, with their defaults:
      \(ServeOptions.limitHelp)
      """
  )

  @OptionGroup var serving: ServeOptions

  @OptionGroup var storage: StoreChoice

  @OptionGroup var logging: LogOptions

  @OptionGroup var network: NetworkOptions

  @OptionGroup var identities: IdentityOptions

  @OptionGroup var pages: PagesOptions

  @Flag(help: .init("Report failures on stdout, and close it when ready.", visibility: .hidden))
  var background = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    do {
      try await serve()
    } catch let error where background {
      let failure = CommandFailure(error)
      Output.line(
        .object(
          ("error", .string(failure.description)),
          ("status", .integer(Int64(failure.status.rawValue))),
          ("locked", .bool((error as? DatabaseServerError)?.kind == .storeLocked))
        )
      )
      throw failure.status.exitCode
    }
  }

  /// Whether to store the data; an emulator does so only if a data directory is named.
  private var keepsData: Bool {
    storage.store == nil && !options.ephemeral && (!serving.emulator || options.dataDir != nil)
  }

  /// Whether to open a socket; an emulator or a server with a shared store does so only if one is
  /// named.
  private var hasSocket: Bool {
    !serving.emulator && storage.store == nil || options.socket != nil
  }

  private func serve() async throws {
    // One that arrives before the server is ready must not end it, and is not lost either.
    let (reloads, request) = AsyncStream.makeStream(
      of: Void.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let hangUp = SignalWatch(SIGHUP) { request.yield() }
    defer { hangUp.cancel() }
    try storage.requireAlone(with: options)
    if storage.store != nil, serving.emulator {
      throw CommandFailure(.usage, "--store keeps data, but --emulator keeps none")
    }
    try requireConnections()
    let paths = try options.paths()
    var serverOptions = try serving.serverOptions(socket: hasSocket ? paths.socket : nil)
    serverOptions.localRules = try LocalRules.compiled()
    serverOptions.version = SDKVersion.current
    try network.apply(to: &serverOptions)
    if storage.store != nil, serverOptions.isPublic, network.advertise == nil {
      throw CommandFailure(
        .usage,
        "--store with --address needs --advertise, the name at which the other servers reach this"
          + " one and no other"
      )
    }
    if storage.store == nil, network.redirect || network.tlsCa != nil {
      throw CommandFailure(
        .usage,
        "--redirect and --tls-ca are about several servers, which share the storage of --store"
      )
    }
    try pages.apply(to: &serverOptions)
    try identities.apply(to: &serverOptions, keptIn: keepsData ? paths : nil)
    if let store = storage.store {
      serverOptions.identities.openStore = { try Storage.sharedAccounts(at: store) }
    }
    if hasSocket, options.socket == nil { try PrivateDirectory.prepare(paths.socketDirectory) }
    if serving.emulator { warnOfEmulator() }
    if serverOptions.isExposed { Output.message(NetworkOptions.warning) }
    let file = try serving.log.map { path throws(CommandFailure) in
      try LogFile(path, size: logging.logSize)
    }
    if background { file?.takeStandardError() }
    let logger = logging.logger("hearth.server", to: file)
    FileDescriptors.allowMany()
    let stores = stores(in: paths, logger: logger)
    if let shared = stores as? any ClusterStore {
      try Storage.waitUntilReached(shared, logger: logger)
      try requireOwnName(in: shared)
    }
    let start = ContinuousClock.now
    let server: DatabaseServer
    do {
      server = try await .start(serverOptions, stores: stores, logger: logger)
    } catch {
      // Without a file, the log is on stderr, where the error is printed anyway.
      if file != nil { logger.error("cannot start: \(CommandFailure(error).description)") }
      throw error
    }
    let startTime = ContinuousClock.now - start
    let stop = watchForStop(of: server)
    defer { stop.cancel() }
    let reloading = Task { for await _ in reloads { await reload(server, logger: logger) } }
    defer { reloading.cancel() }
    if keepsData, hasSocket { ServerRecord.write(socket: paths.socket, in: paths.data) }
    if server.port != nil, server.rulesState == .locked {
      logger.notice(
        "the port refuses everything because there are no rules (set them with --rules)"
      )
    }
    // Also runs when the server ends on its own, which is reported as a failure.
    defer { if keepsData, hasSocket { ServerRecord.remove(from: paths.data) } }
    try announce(server, at: paths, names: stores.names(), startTime: startTime)
    // Until here, whoever starts a server in a shell is told why it does not start.
    file?.takeStandardError()
    if background {
      // The name of a program that was started from `/proc/self/exe` is `exe`.
      try? Data("hearth".utf8).write(to: URL(filePath: "/proc/self/comm"))
      ProgramPages.releaseOnceStarted()
    }
    try await server.waitUntilStopped()
  }

  private func stores(in paths: ProgramPaths, logger: Logger) -> any TreeStores {
    if let store = storage.store {
      return Storage.shared(
        at: store,
        logger: logger,
        logMark: serving.logMark,
        connections: serving.storeConnections
      )
    }
    guard keepsData else { return MemoryTreeStores() }
    return Storage.databases(in: paths.data, logger: logger, logMark: serving.logMark)
  }

  /// Ensures that the number of connections to PostgreSQL has a use and suffices.
  private func requireConnections() throws(CommandFailure) {
    guard let count = serving.storeConnections else { return }
    guard storage.store != nil else {
      throw CommandFailure(.usage, "--store-connections has no use without --store")
    }
    guard count >= Storage.leastConnections else {
      throw CommandFailure(
        .usage,
        "--store-connections must be at least \(Storage.leastConnections)"
      )
    }
  }

  /// Ensures that no other server is running under the advertised name.
  ///
  /// An earlier run of this server may still be listed, but it announces itself no more.
  private func requireOwnName(in store: any ClusterStore) throws {
    guard let host = network.advertise else { return }
    let view = try store.view()
    guard let other = view.servers.first(where: { $0.host == host }) else { return }
    for _ in 0..<25 {
      poll(nil, 0, 100)
      guard try store.view().hasAnnounced(other, since: view) else { continue }
      throw CommandFailure(
        .conflict,
        "another server is running as \(host); --advertise takes a name of its own"
      )
    }
  }

  private func warnOfEmulator() {
    Output.message(
      """
      EMULATOR MODE: every credential is believed and, as long as there are no rules, everything is \
      allowed. Whoever can reach this port can read and change all data. Never use it for data that \
      matters.
      """
    )
  }

  private func watchForStop(of server: DatabaseServer) -> SignalWatch {
    let stops = Once()
    return SignalWatch(SIGTERM, SIGINT) {
      // Every acknowledged write is stored already; only the wait for clients is cut short.
      if !stops.isFirst() { _exit(128 + SIGTERM) }
      Task { await server.stop() }
    }
  }

  /// Reads the rules and the certificate again.
  private func reload(_ server: DatabaseServer, logger: Logger) async {
    if let rules = serving.rules {
      await Self.reload("rules", logger: logger) {
        try await server.setRules(try Rules.load(rules).source)
      }
    }
    if network.tlsCert != nil {
      await Self.reload("certificate", logger: logger) { try await server.reloadCertificate() }
    }
  }

  private static func reload(
    _ what: String,
    logger: Logger,
    by body: () async throws -> Void
  ) async {
    do {
      try await body()
      logger.notice("reloaded the \(what)")
    } catch {
      logger.error("keeping the old \(what): \(CommandFailure(error).description)")
    }
  }

  private func announce(
    _ server: DatabaseServer,
    at paths: ProgramPaths,
    names: [String],
    startTime: Duration
  ) {
    let socket: JSONValue = hasSocket ? .string(paths.socket) : .null
    Output.line(
      .object(
        ("ready", .bool(true)),
        ("urls", .array(server.urls.map { .string($0) })),
        ("port", server.port.map { .integer(Int64($0)) } ?? .null),
        ("socket", socket),
        ("data", keepsData ? .string(paths.data) : .null),
        ("store", storage.store.map { .string(Storage.name(of: $0)) } ?? .null),
        ("databases", .array(names.map { .string($0) })),
        ("rules", .string(server.rulesState.rawValue)),
        ("emulator", .bool(serving.emulator)),
        ("startSeconds", .double((startTime / .milliseconds(1)).rounded(.up) / 1_000)),
        ("pid", .integer(Int64(getpid())))
      )
    )
    // The terminal that started this server reads one line and continues; more output could block.
    if background { FileDescriptors.silence(STDOUT_FILENO) }
  }
}

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop",
    abstract: "Stop the local server; terminals that are open start it again."
  )

  @OptionGroup var options: CommonOptions

  func run() throws {
    let paths = try options.paths()
    guard let process = paths.server, process > 0 else {
      Output.message("no server answers at \(paths.socket)")
      return
    }
    guard options.socket == nil || Self.runsHearth(process) else {
      throw CommandFailure(.usage, "\(paths.socket) is not the socket of a server")
    }
    guard kill(process, SIGTERM) == 0 || errno == ESRCH else {
      throw CommandFailure(
        .notPermitted,
        "process \(process) cannot be stopped: \(String(cString: strerror(errno)))"
      )
    }
    for _ in 0..<Int(options.timeout * 50) {
      if Self.hasEnded(process) { return }
      poll(nil, 0, 20)
    }
    throw CommandFailure(.offline, "process \(process) did not stop in time")
  }

  /// Whether a process runs this program, or is gone; whatever listens at a path that was named by
  /// mistake must not be stopped.
  private static func runsHearth(_ process: pid_t) -> Bool {
    func program(_ process: String) -> String? {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
    }
    let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
    return name == nil || name == "hearth\n" || program("\(process)") == program("self")
  }

  /// Whether a process is gone, or is a zombie that its parent has not reaped.
  private static func hasEnded(_ process: pid_t) -> Bool {
    if kill(process, 0) != 0, errno == ESRCH { return true }
    let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    // The state follows the name, which is in parentheses and may contain anything.
    return status.split(separator: ")").last?.hasPrefix(" Z") ?? true
  }
}
