import ArgumentParser
import Foundation
import RealtimeServer
import SecurityRules

/// What a server is told on the command line, beyond where its data and its socket are.
struct ServeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Also listen at this port of 127.0.0.1; 0 chooses one.", valueName: "n")
  )
  var port: Int?

  @Option(
    help: ArgumentHelp(
      "What those may do who are not at the socket: a rules document. SIGHUP reads it again.",
      valueName: "file"
    )
  )
  var rules: String?

  @Option(
    help: ArgumentHelp("The database that clients reach who name none.", valueName: "name")
  )
  var ns: String = DatabaseName.standard

  @Flag(
    help: """
      Stand in for the emulator, for tests on this machine: believe every credential, allow \
      everything until there are rules, make databases on first use. Listens at port 9000 only, \
      and keeps nothing, unless --port, --socket or --data-dir say otherwise.
      """
  )
  var emulator = false

  @Option(
    help: ArgumentHelp(
      "Let the pages of this origin in, such as http://localhost:5173; may be repeated.",
      valueName: "origin"
    )
  )
  var allowOrigin: [String] = []

  @Option(
    help: ArgumentHelp("Set a limit; may be repeated. The names are above.", valueName: "name=n")
  )
  var limit: [String] = []

  @Option(
    help: ArgumentHelp("Stop when no one has been connected for so long.", valueName: "seconds")
  )
  var idleExit: Double?

  @Option(help: ArgumentHelp("Log to this file instead of stderr.", valueName: "file"))
  var log: String?

  @Option(
    help: ArgumentHelp(
      "Keep the commits in the store that come after the one this file names.",
      valueName: "file",
      visibility: .hidden
    )
  )
  var logMark: String?

  @Option(
    help: ArgumentHelp(
      "Log connections, writes, latencies and so on as JSON every so often.",
      valueName: "seconds"
    )
  )
  var metrics: Double?

  /// The limits by name with their defaults, for the help.
  static var limitHelp: String {
    let width = DatabaseServer.Limits.table.map(\.name.count).max() ?? 0
    return DatabaseServer.Limits.table.map { entry in
      let padding = String(repeating: " ", count: width - entry.name.count + 2)
      return "  \(entry.name)\(padding)\(entry.summary) (\(entry.defaultValue))"
    }.joined(separator: "\n")
  }

  /// The options of the server.
  ///
  /// - Parameter socket: Where it listens for its administrators, if anywhere.
  /// - Returns: Options that are yet to be validated.
  /// - Throws: ``CommandFailure`` for a value that is not usable.
  func serverOptions(socket: String?) throws -> DatabaseServer.Options {
    var options =
      emulator ? DatabaseServer.Options.emulator(port: port ?? 9_000) : DatabaseServer.Options()
    if !emulator { options.port = port }
    options.socketPath = socket
    options.namespace = ns
    options.allowedOrigins = allowOrigin
    options.idleExit = try Self.duration(idleExit, "--idle-exit")
    options.metricsInterval = try Self.duration(metrics, "--metrics")
    if let rules { options.rules = .source(try Rules.load(rules).source) }
    for setting in limit { try Self.set(setting, in: &options.limits) }
    return options
  }

  private static func duration(_ seconds: Double?, _ name: String) throws -> Duration? {
    guard let seconds else { return nil }
    guard seconds > 0, seconds <= 1_000_000_000 else {
      throw CommandFailure(.usage, "\(name) must be a number of seconds above 0")
    }
    return .seconds(seconds)
  }

  private static func set(_ setting: String, in limits: inout DatabaseServer.Limits) throws {
    let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let value = Int(parts[1]) else {
      throw CommandFailure(.usage, "--limit takes NAME=NUMBER, not \(setting)")
    }
    try limits.set(String(parts[0]), to: value)
  }
}
