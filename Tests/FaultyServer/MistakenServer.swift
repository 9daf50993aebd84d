import ArgumentParser
import DurableFiles
import Foundation
import RealtimeCore
import RealtimeServer
import SQLiteStorage

/// Something that no server may do, which a swarm has to find.
enum Mistake: String, CaseIterable {
  /// A write is acknowledged before it is stored.
  case earlyAcknowledgement = "early-acknowledgement"
  /// An update of several places is stored by halves.
  case splitUpdate = "split-update"
  /// A star is counted twice.
  case doubleStar = "double-star"
  /// Nobody asks the rules.
  case unaskedRules = "unasked-rules"
  /// What a client is to be told never leaves.
  case lostPush = "lost-push"
  /// What a client is to be told leaves late, and all that follows as well.
  case latePush = "late-push"
  /// What a client is to be told leaves after what follows.
  case reorderedPush = "reordered-push"

  /// The variable of the environment that names the mistake.
  static let variable = "FAULTY_SERVER_MISTAKE"
}

/// A server with one mistake, which takes the options that a swarm gives `hearth serve`.
struct MistakenServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "serve")

  @Flag var emulator = false
  @Option var port: Int
  @Option var socket: String
  @Option var dataDir: String
  @Option var rules: String
  @Option var log: String
  @Option var logMark: String
  @Option var idleExit: Int

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    guard let mistake = environment[Mistake.variable].flatMap(Mistake.init(rawValue:)) else {
      throw ValidationError("\(Mistake.variable) names none of the mistakes")
    }
    let delivery = FaultyDelivery.Fault(mistake)
    var options = DatabaseServer.Options.emulator(port: delivery == nil ? port : 0)
    options.socketPath = socket
    options.idleExit = .seconds(idleExit)
    if mistake != .unaskedRules {
      options.rules = .source(try String(contentsOfFile: rules, encoding: .utf8))
    }
    var storeOptions = StoreOptions()
    storeOptions.logMark = LogMark(path: logMark)
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let store = MistakenStore(
      try SQLiteTreeStore(directory: dataDir, now: now, options: storeOptions),
      mistake
    )
    let server = try await DatabaseServer.start(options, store: store)
    let stop = DispatchSource.makeSignalSource(signal: SIGTERM)
    signal(SIGTERM, SIG_IGN)
    stop.setEventHandler { Task { await server.stop() } }
    stop.resume()
    var port = server.port ?? 0
    if let delivery { port = try FaultyDelivery(delivery, from: self.port, to: port).port }
    let ready = JSONValue.object(
      ("ready", .bool(true)),
      ("socket", .string(socket)),
      ("port", .integer(Int64(port))),
      ("pid", .integer(Int64(getpid())))
    )
    FileHandle.standardOutput.write(Data("\(ready.text)\n".utf8))
    try await server.waitUntilStopped()
    stop.cancel()
  }
}
