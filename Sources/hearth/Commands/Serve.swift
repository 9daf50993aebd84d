public import ArgumentParser
import Foundation
public import Logging
import RealtimeHub
import RealtimeServer
import RealtimeTree
import SQLiteStorage

/// Runs a server.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a database server, until it is told to stop.",
    discussion: """
      Prints one line of JSON when it is ready. It listens at the local socket, which only processes \
      of the same user may use, and with --port at 127.0.0.1 as well, which every process of this \
      machine may use.
      """
  )

  @Option(
    help: ArgumentHelp("Also listen at this port of 127.0.0.1; 0 chooses one.", valueName: "n")
  )
  var port: Int?

  @Option(
    help: ArgumentHelp("Stop when no one has been connected for so long.", valueName: "seconds")
  )
  var idleExit: Double?

  @Option(help: "What to log: trace, debug, info, notice, warning, error or critical.")
  var logLevel = Logger.Level.notice

  @Option(help: ArgumentHelp("Log to this file instead of stderr.", valueName: "file"))
  var log: String?

  @Flag(
    help: ArgumentHelp("Report failures on stdout, and close it when ready.", visibility: .hidden)
  )
  var background = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    do {
      try await serve()
    } catch let error where background {
      let failure = CommandFailure(error)
      let isLocked = (error as? StoreError)?.kind == .locked
      Output.line(
        .object(
          ("error", .string(failure.description)),
          ("status", .integer(Int64(failure.status.rawValue))),
          ("locked", .bool(isLocked))
        )
      )
      throw failure.status.exitCode
    }
  }

  private func serve() async throws {
    let places = try options.places()
    if let idleExit, idleExit <= 0 || !idleExit.isFinite {
      throw CommandFailure(.usage, "--idle-exit must be a number of seconds above 0")
    }
    if options.socket == nil { try PrivateDirectory.prepare(places.socketDirectory) }
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let store: any TreeStore =
      options.ephemeral
      ? MemoryTreeStore() : try SQLiteTreeStore(directory: places.data, now: now)
    if let log { try ServerLog.redirect(to: log) }
    var logger = Logger(label: "hearth.server") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = logLevel
    let server = try await DatabaseServer.start(
      DatabaseServer.Options(
        socketPath: places.socket,
        port: port,
        idleExit: idleExit.map { .seconds($0) }
      ),
      store: store,
      logger: logger
    )
    let signals = StopSignals { Task { await server.stop() } }
    defer { signals.cancel() }
    if !options.ephemeral { ServerRecord.write(socket: places.socket, in: places.data) }
    announce(server, places)
    await server.waitUntilStopped()
    if !options.ephemeral { ServerRecord.remove(from: places.data) }
  }

  private func announce(_ server: DatabaseServer, _ places: Places) {
    Output.line(
      .object(
        ("ready", .bool(true)),
        ("urls", .array(server.urls.map { .string($0) })),
        ("port", server.port.map { .integer(Int64($0)) } ?? .null),
        ("data", options.ephemeral ? .null : .string(places.data)),
        ("pid", .integer(Int64(getpid())))
      )
    )
    // The terminal that started this server reads one line and goes on; nothing more may block it.
    if background { ServerLog.closeOutput() }
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
