import ArgumentParser
import BlogTUI
import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer

/// Puts a database under load from many users, with faults, and checks that every guarantee held.
struct Swarm: AsyncParsableCommand {
  static let configuration = SwarmOptions.configuration

  @OptionGroup var arguments: SwarmOptions

  /// The number of processes from which users share them.
  private static let processLimit = 24

  func run() async throws {
    if arguments.injectBug == "list" { return listBugs() }
    if let report = arguments.report { try Self.requireWritable(report) }
    var settings = try swarmSettings()
    let bug = try bug()
    let target: SwarmRun.Target
    let program = try serverProgram()
    if let database = try arguments.access.target() {
      try adapt(&settings, to: database)
      try await arguments.access.knock(at: database)
      // At a socket everyone is an administrator, so the rules do not apply.
      if !database.isAtSocket { adapt(&settings, to: try await database.admin.rules()) }
      target = .database(database)
    } else {
      let rules = try InputFile.text(try rulesFile(settings))
      adapt(&settings, to: rules)
      try adapt(&settings, toServers: arguments.servers)
      target =
        arguments.servers == 1
        ? .ownServer(rules: rules, program: program, database: Storage.database)
        : .ownCluster(
          rules: rules,
          database: { Storage.shared(at: $0).database("hearth") },
          leader: LeaderLookup().leader(at:)
        )
    }
    let folder = try SwarmFolder(arguments.directory)
    var options = SwarmRun.Options(directory: folder.path, at: target)
    options.terminals = screens
    options.bug = bug
    options.isSoak = arguments.soak
    // A deliberate bug does not go away by waiting.
    if options.bug != nil { options.patience = .seconds(4) }
    options.check.least = least(settings)
    // While processes are stopped and killed, even a client's own change may be delayed.
    if !settings.faults.isEmpty {
      options.check.echo = .seconds(10)
      options.check.freshness = .seconds(5)
    }
    // Another server leads only after a lease has expired, and clients must notice that first. What
    // was asked in the meantime is held, perhaps from one lost leader to the next.
    if settings.servers > 1 {
      options.check.echo = .seconds(25)
      options.check.freshness = .seconds(25)
      options.check.p99 = .seconds(25)
    }
    // A run with a faulty server shows within seconds what it would show after minutes.
    if program != nil { options.patience = .seconds(6) }
    // A server that forgets to bound its memory is found before it has used much.
    let megabytes = options.bug == .unboundedMemory ? 96 : 256
    options.check.residentBytes = Int64(megabytes + 2 * arguments.users) << 20
    FileDescriptors.allowMany()
    var result = try await carryOut(settings, options: options, in: folder)
    if result.isClean, folder.remove() { result.directory = nil }
    if arguments.json {
      Output.done("", json: result.json)
    } else {
      for line in result.lines { Output.done(line, json: nil) }
    }
    if let report = arguments.report { try Self.write(result, to: report) }
    guard result.isClean else { throw ExitStatus.failed.exitCode }
  }

  /// Carries out a run, and shows it on a terminal or tells its progress.
  private func carryOut(
    _ settings: SwarmSettings,
    options: SwarmRun.Options,
    in folder: SwarmFolder
  ) async throws -> SwarmReport {
    var options = options
    let keeps = arguments.access.keep
    if !arguments.json, !arguments.plain, (try? await NcursesTerminal.check()) != nil {
      let board = SwarmBoard(settings)
      options.isWatched = true
      options.tell = { board.take($0) }
      options.isStopped = { board.isStopped }
      let outing = SwarmOuting(settings, options: options, in: folder, keeps: keeps)
      return try await SwarmScreen(board).show(outing)
    }
    let progress = SwarmProgress()
    defer { progress.finish() }
    options.tell = { news in
      switch news {
      case .message(let message): Output.message(message)
      case .phase(let phase): progress.show(phase)
      case .acknowledged, .fault, .servers, .judged: break
      }
    }
    return try await SwarmOuting(settings, options: options, in: folder, keeps: keeps).result()
  }

  /// Leaves out faults that are impossible with this number of servers.
  ///
  /// - Throws: ``CommandFailure`` when such a fault was requested by name.
  private func adapt(
    _ settings: inout SwarmSettings,
    toServers count: Int
  ) throws(CommandFailure) {
    settings.servers = count
    for fault in settings.faults where arguments.faults != "all" {
      guard let obstacle = fault.obstacle(atServers: count) else { continue }
      throw CommandFailure(.usage, "the fault \(fault.rawValue) \(obstacle)")
    }
    settings.faults.removeAll { $0.obstacle(atServers: count) != nil }
  }

  private func listBugs() {
    #if DEBUG
    for bug in InjectedBug.allCases { Output.line(bug.rawValue) }
    #else
    Output.message("this build makes no mistakes on purpose")
    #endif
  }

  private func bug() throws(CommandFailure) -> InjectedBug? {
    guard let name = arguments.injectBug else { return nil }
    #if DEBUG
    if let bug = InjectedBug(rawValue: name) { return bug }
    throw CommandFailure(.usage, "\"\(name)\" is not a mistake (--inject-bug list)")
    #else
    throw CommandFailure(.usage, "this build makes no mistakes on purpose")
    #endif
  }

  /// The program to run as the server instead of this one.
  private func serverProgram() throws(CommandFailure) -> String? {
    guard let server = arguments.server else { return nil }
    #if DEBUG
    return server
    #else
    throw CommandFailure(.usage, "this build has no server but its own")
    #endif
  }

  /// Leaves out actions that must be refused if the rules allow them, and reports it.
  private func adapt(_ settings: inout SwarmSettings, to rules: String) {
    guard arguments.mix == nil, settings.mix.shares[.trespass] != nil,
      !Trespass.isRefused(by: rules)
    else {
      return
    }
    settings.mix = settings.mix.without(.trespass)
    Output.message("left out: trespass, which the rules allow")
  }

  private func swarmSettings() throws(CommandFailure) -> SwarmSettings {
    guard (1...5_000).contains(arguments.users), (0.1...86_400).contains(arguments.seconds),
      (1...100).contains(arguments.posts)
    else {
      throw CommandFailure(
        .usage,
        "--users takes 1 to 5000, --seconds 0.1 to 86400, --posts 1 to 100"
      )
    }
    var settings = SwarmSettings()
    settings.users = arguments.users
    settings.seconds = arguments.seconds
    settings.seed = arguments.seed
    settings.hotPosts = arguments.posts
    settings.rate = arguments.rate ?? min(200, Double(arguments.users) * 2)
    guard (0.1...100_000).contains(settings.rate) else {
      throw CommandFailure(.usage, "--rate takes 0.1 to 100000 operations a second")
    }
    settings.usersPerProcess = min(
      arguments.users,
      arguments.usersPerProcess ?? (arguments.users + Self.processLimit - 1) / Self.processLimit
    )
    guard settings.usersPerProcess > 0 else {
      throw CommandFailure(.usage, "--users-per-process takes at least 1")
    }
    guard
      let strategy = arguments.stars == "auto"
        ? .increment : StarStrategy(rawValue: arguments.stars)
    else {
      let names = (["auto"] + StarStrategy.allCases.map(\.rawValue)).joined(separator: ", ")
      throw CommandFailure(.usage, "\"\(arguments.stars)\" is not a strategy: there are \(names)")
    }
    settings.stars = strategy
    do {
      if arguments.soak { settings.mix = .steady }
      if let mix = arguments.mix { settings.mix = try SwarmMix(mix) }
      settings.faults = try FaultKind.list(arguments.faults)
    } catch {
      throw CommandFailure(.usage, String(describing: error))
    }
    return settings
  }

  /// Leaves out what is impossible at an existing database, and reports it.
  private func adapt(
    _ settings: inout SwarmSettings,
    to database: SwarmDatabase
  ) throws(CommandFailure) {
    if arguments.mix == nil {
      // Rules of other databases allow what belongs to a blog, and nothing specific to the swarm.
      settings.mix = settings.mix.without(.count)
      // Administrators are refused nothing, and at a socket everyone is one.
      if database.isAtSocket { settings.mix = settings.mix.without(.trespass) }
    }
    var missing: [(obstacle: String, faults: [String])] = []
    for fault in settings.faults {
      guard let obstacle = fault.obstacle(at: database) else { continue }
      if missing.last?.obstacle == obstacle {
        missing[missing.count - 1].faults.append(fault.rawValue)
      } else {
        missing.append((obstacle, [fault.rawValue]))
      }
    }
    settings.faults.removeAll { $0.obstacle(at: database) != nil }
    for (obstacle, faults) in missing {
      Output.message("left out: \(faults.joined(separator: ", ")), which \(obstacle)")
    }
  }

  /// The number of terminals that watch; at a remote database none, unless requested.
  private var screens: Int {
    arguments.terminals
      ?? (arguments.access.database == nil && TmuxServer.program != nil
        && arguments.injectBug == nil ? 1 : 0)
  }

  /// How much must happen for the run to mean anything, in proportion to the plan.
  private func least(_ settings: SwarmSettings) -> CheckOptions.Least {
    var least = CheckOptions.Least.nothing
    let planned = settings.rate * settings.seconds
    func share(_ actions: SwarmAction...) -> Double {
      let shares = actions.reduce(0) { $0 + (settings.mix.shares[$1] ?? 0) }
      return Double(shares) / Double(settings.mix.total)
    }
    least.acknowledged = max(1, Int(planned / 5))
    least.commits = arguments.access.database == nil ? max(1, Int(planned / 10)) : 0
    least.comments = Int(planned * share(.comment) / 5)
    least.stars = Int(planned * share(.star) / 10)
    least.shown = max(1, Int(planned / 10))
    if arguments.seconds >= SwarmOptions.usualSeconds, arguments.mix == nil,
      arguments.access.database == nil
    {
      least.promises = Set(Promise.allCases)
      if screens == 0 { least.promises.remove(.i13) }
    }
    return least
  }

  /// The rules file that was named, or else one that comes with the program.
  private func rulesFile(_ settings: SwarmSettings) throws(CommandFailure) -> String {
    let name =
      switch settings.stars {
      case .increment: "blog.json"
      case .transaction: "blog-transactions.json"
      case .sample, .naive: "quickstart.json"
      }
    return try SharedFiles.rules(arguments.rules, orElse: name)
  }

  /// Ensures before the storm that the report can be written after it.
  private static func requireWritable(_ path: String) throws(CommandFailure) {
    let directory = (path as NSString).deletingLastPathComponent
    var status = stat()
    let isDirectory = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    let folder = (directory.isEmpty ? "." : directory) + "/."
    guard isDirectory || access(folder, W_OK | X_OK) != 0 else { return }
    let reason = String(cString: strerror(isDirectory ? EISDIR : errno))
    throw CommandFailure(.usage, "\(path) cannot be written: \(reason)")
  }

  /// Writes the report in the format that the file name implies.
  private static func write(_ report: SwarmReport, to path: String) throws(CommandFailure) {
    let text =
      if path.hasSuffix(".html") {
        SwarmPage(report).html
      } else if path.hasSuffix(".svg") {
        SwarmPicture(report).svg
      } else {
        String(decoding: PrettyJSON.text(report.json), as: UTF8.self) + "\n"
      }
    let file = try OutputFile(path)
    try file.write(text)
    try file.finish()
  }
}

/// Asks PostgreSQL for the current leader, over one connection.
private final class LeaderLookup: Sendable {
  private let stores = NIOLockedValueBox<(any ClusterStore)?>(nil)

  func leader(at address: String) throws -> String? {
    let store = stores.withLockedValue { stores in
      let store = stores ?? Storage.shared(at: address)
      stores = store
      return store
    }
    let view = try store.view()
    let lease = view.leases.first { $0.database == "hearth" }
    return lease.flatMap { lease in view.servers.first { $0.id == lease.holder }?.host }
  }
}

/// The progress line for the phase of a run.
private final class SwarmProgress: Sendable {
  private let line = ProgressLine("starting", counting: .seconds)
  private let phase = NIOLockedValueBox<SwarmPhase?>(nil)

  func show(_ phase: SwarmPhase) {
    let before = self.phase.withLockedValue { current in
      defer { current = phase }
      return current
    }
    guard phase != before else { return }
    switch phase {
    case .gathering(let obstacle): line.turn(to: "starting: waiting for \(obstacle)")
    case .storm(let elapsed, let length):
      if case .storm? = before {
        line.set(Int64(elapsed))
      } else {
        line.turn(to: "the storm", of: Int64(length))
      }
    case .healing(let obstacle): line.turn(to: "healing: waiting for \(obstacle)", of: 0)
    case .checking: line.turn(to: "checking what everybody has noted", of: 0)
    }
  }

  func finish() { line.finish() }
}
