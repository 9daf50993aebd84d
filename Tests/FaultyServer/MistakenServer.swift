import ArgumentParser
import DurableFiles
import Foundation
import RealtimeCore
import RealtimeServer

/// A mistake that no server may make, and that a swarm has to detect.
enum Mistake: String, CaseIterable {
  /// A write is acknowledged before it is stored.
  case earlyAcknowledgement = "early-acknowledgement"
  /// An update of several paths is stored in two halves.
  case splitUpdate = "split-update"
  /// A star is counted twice.
  case doubleStar = "double-star"
  /// The rules are not evaluated.
  case unaskedRules = "unasked-rules"
  /// A push is never sent.
  case lostPush = "lost-push"
  /// A push is sent late, as is everything after it.
  case latePush = "late-push"
  /// A push is sent after the ones that follow it.
  case reorderedPush = "reordered-push"

  /// The environment variable that names the mistake.
  static let variable = "FAULTY_SERVER_MISTAKE"
}

/// A server with one mistake, which accepts the options that a swarm passes to `hearth serve`.
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
    stop.setEventHandler { Task { await server.stop() } }
    // Only then is it heard: a swarm stops a server that it has just started.
    await withCheckedContinuation { registered in
      stop.setRegistrationHandler { registered.resume() }
      stop.resume()
    }
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
