import ArgumentParser
import BlogChecker
import BlogSwarm
import Foundation
import RealtimeCore

/// Lets many users loose on a database, harms them, and checks that everything that was promised held.
struct Swarm: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let many users loose on a blog, with faults, and check that nothing went wrong.",
    discussion: """
      Headless clients in processes of their own read and write at the times of a plan that the \
      seed decides (an open load: who is late is late, and that counts). Meanwhile clients and \
      the server are killed, stopped and cut off. Afterwards a checker that reads the database \
      by another way holds everything against what was promised.

      Without --database the swarm has a server of its own, in a directory that is removed when \
      everything held. Histories, logs and the database stay there otherwise, or with \
      --directory.

      With --database it is a guest: nobody else should write there meanwhile, since the checker \
      would take it for a mistake. Where people sign in (--admin-key-file) each user gets an \
      account of its own, which is deleted at the end. What the swarm has written is removed as \
      well when everything held, unless --keep is given; it touches no posts of others.

      Faults: \(FaultKind.allCases.map(\.rawValue).joined(separator: ", ")), all, none.

      Exit status: 0 when everything held, 1 when something did not, or too little was done to \
      mean anything.
      """
  )

  @Option(help: ArgumentHelp("How many users there are.", valueName: "n"))
  var users = 10

  @Option(help: ArgumentHelp("How long the storm lasts.", valueName: "n"))
  var seconds = Swarm.usualSeconds

  @Option(help: ArgumentHelp("Where the plan comes from.", valueName: "n"))
  var seed: UInt64 = 1

  @Option(
    help: ArgumentHelp(
      """
      How often what is done: shares of post, comment, star, unstar, edit, delete, retract, count, \
      trespass.
      """,
      valueName: "action=n,…"
    )
  )
  var mix: String?

  @Option(help: ArgumentHelp("Operations a second, of all users.", valueName: "n"))
  var rate: Double?

  @Option(help: ArgumentHelp("What is done to them; the list is above.", valueName: "name,…"))
  var faults = "none"

  @Option(
    help: ArgumentHelp(
      """
      How stars are given: transaction or increment, or as the published samples do: sample, naive; \
      auto takes transaction at a socket, where no rules are asked, and increment elsewhere.
      """,
      valueName: "strategy"
    )
  )
  var stars = "auto"

  @Option(help: ArgumentHelp("How many posts everybody has to do with.", valueName: "n"))
  var posts = 5

  @Option(
    help: ArgumentHelp("How many users share a process; 1 while they are few.", valueName: "n")
  )
  var usersPerProcess: Int?

  @Flag(
    help: """
      Expect memory and descriptors of all processes to stay where they are; what is written is \
      deleted as well, unless --mix says otherwise.
      """
  )
  var soak = false

  @Option(
    help: ArgumentHelp(
      "Terminals with screens that look on, in tmux; 1 where there is tmux.",
      valueName: "n"
    )
  )
  var terminals: Int?

  @OptionGroup var access: SwarmAccess

  @Option(help: ArgumentHelp("The rules of the swarm's own server.", valueName: "file"))
  var rules: String?

  @Option(help: ArgumentHelp("Write the report as JSON to this file.", valueName: "file"))
  var report: String?

  @Option(help: ArgumentHelp("Keep everything in this new directory.", valueName: "dir"))
  var directory: String?

  @Flag(name: .long, help: "Print the report as JSON.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Make a mistake on purpose, to see that it is found; \"list\" lists them.",
      valueName: "name",
      visibility: .hidden
    )
  )
  var injectBug: String?

  @Option(
    help: ArgumentHelp(
      "Another program to be the server, such as one with a mistake; it takes what serve takes.",
      valueName: "program",
      visibility: .hidden
    )
  )
  var server: String?

  /// How long a storm lasts that must show something of every promise.
  private static let usualSeconds = 10.0
  /// How many processes there are before users share them.
  private static let processLimit = 24

  func run() async throws {
    if injectBug == "list" { return listBugs() }
    var settings = try swarmSettings()
    let bug = try bug()
    let place: SwarmRun.Place
    let program = try serverProgram()
    if let database = try access.target() {
      try adapt(&settings, to: database)
      try await access.knock(at: database)
      // At a socket all are administrators, and what the rules say is nothing to them.
      if !database.isAtSocket { adapt(&settings, to: try await database.door.rules()) }
      place = .database(database)
    } else {
      let file = try rulesFile(settings)
      if let source = try? String(contentsOfFile: file, encoding: .utf8) {
        adapt(&settings, to: source)
      }
      place = .ownServer(rules: file, program: program, database: Storage.database)
    }
    let folder = try SwarmFolder(directory)
    var options = SwarmRun.Options(directory: folder.path, at: place)
    options.terminals = screens
    options.bug = bug
    options.isSoak = soak
    // What is wrong on purpose does not become right by waiting.
    if options.bug != nil { options.patience = .seconds(4) }
    options.check.least = least(settings)
    // Where things are stopped and killed, one's own change may wait for its turn.
    if !settings.faults.isEmpty {
      options.check.echo = .seconds(10)
      options.check.freshness = .seconds(5)
    }
    // A run with a mistake tells within seconds what it would tell after minutes.
    if program != nil { options.patience = .seconds(6) }
    options.check.residentBytes = Int64(256 + 2 * users) << 20
    options.tell = { Output.message($0) }
    FileDescriptors.allowMany()
    var result = try await SwarmOuting(settings, options, folder, keeps: access.keep).result()
    if result.isClean, folder.remove() { result.directory = nil }
    if let report { try Self.write(result.json, to: report) }
    if json {
      Output.line(result.json)
    } else {
      for line in result.lines { Output.line(untrusted: line) }
    }
    guard result.isClean else { throw ExitStatus.failed.exitCode }
  }

  private func listBugs() {
    #if DEBUG
    for bug in InjectedBug.allCases { Output.line(bug.rawValue) }
    #else
    Output.message("this build makes no mistakes on purpose")
    #endif
  }

  private func bug() throws(CommandFailure) -> InjectedBug? {
    guard let injectBug else { return nil }
    #if DEBUG
    if let bug = InjectedBug(rawValue: injectBug) { return bug }
    throw CommandFailure(.usage, "\"\(injectBug)\" is no mistake (--inject-bug list)")
    #else
    throw CommandFailure(.usage, "this build makes no mistakes on purpose")
    #endif
  }

  /// The program that is to be the server, in place of this one.
  private func serverProgram() throws(CommandFailure) -> String? {
    guard let server else { return nil }
    #if DEBUG
    return server
    #else
    throw CommandFailure(.usage, "this build has no server but its own")
    #endif
  }

  /// Leaves out what must be refused where the rules refuse nothing, and says so.
  private func adapt(_ settings: inout SwarmSettings, to rules: String) {
    guard mix == nil, settings.mix.shares[.trespass] != nil, !Trespass.isRefused(by: rules) else {
      return
    }
    settings.mix = settings.mix.without(.trespass)
    Output.message("left out: trespass, which the rules allow")
  }

  /// What the run is to be.
  ///
  /// - Throws: ``CommandFailure`` for what cannot be.
  private func swarmSettings() throws(CommandFailure) -> SwarmSettings {
    guard (1...5_000).contains(users), (0.1...86_400).contains(seconds), (1...100).contains(posts)
    else {
      throw CommandFailure(
        .usage,
        "--users takes 1 to 5000, --seconds 0.1 to 86400, --posts 1 to 100"
      )
    }
    var settings = SwarmSettings()
    settings.users = users
    settings.seconds = seconds
    settings.seed = seed
    settings.hotPosts = posts
    settings.rate = rate ?? min(200, Double(users) * 2)
    guard (0.1...100_000).contains(settings.rate) else {
      throw CommandFailure(.usage, "--rate takes 0.1 to 100000 operations a second")
    }
    settings.usersPerProcess =
      usersPerProcess ?? (users + Self.processLimit - 1) / Self.processLimit
    guard settings.usersPerProcess > 0 else {
      throw CommandFailure(.usage, "--users-per-process takes at least 1")
    }
    let automatic = access.isAtSocket ? StarStrategy.transaction : .increment
    guard let strategy = stars == "auto" ? automatic : StarStrategy(rawValue: stars) else {
      let names = (["auto"] + StarStrategy.allCases.map(\.rawValue)).joined(separator: ", ")
      throw CommandFailure(.usage, "\"\(stars)\" is no strategy: there are \(names)")
    }
    settings.stars = strategy
    do {
      if soak { settings.mix = .steady }
      if let mix { settings.mix = try SwarmMix(mix) }
      settings.faults = try FaultKind.list(faults)
    } catch {
      throw CommandFailure(.usage, String(describing: error))
    }
    return settings
  }

  /// Leaves out what cannot be done at a database that is there already, and says so.
  private func adapt(
    _ settings: inout SwarmSettings,
    to database: SwarmDatabase
  ) throws(CommandFailure) {
    if mix == nil {
      // Rules elsewhere allow what belongs to a blog, and nothing that belongs to swarms.
      settings.mix = settings.mix.without(.count)
      // Nothing is refused to administrators, and all are that at a socket.
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

  /// How many terminals look on: at a database elsewhere none but those that are asked for.
  private var screens: Int {
    terminals ?? (access.database == nil && TmuxServer.program != nil && injectBug == nil ? 1 : 0)
  }

  /// How much must be done to mean anything: a part of what is planned, in proportion.
  private func least(_ settings: SwarmSettings) -> CheckOptions.Least {
    var least = CheckOptions.Least.nothing
    let planned = settings.rate * settings.seconds
    func share(_ actions: SwarmAction...) -> Double {
      let shares = actions.reduce(0) { $0 + (settings.mix.shares[$1] ?? 0) }
      return Double(shares) / Double(settings.mix.total)
    }
    least.acknowledged = max(1, Int(planned / 5))
    least.commits = access.database == nil ? max(1, Int(planned / 10)) : 0
    least.comments = Int(planned * share(.comment) / 5)
    least.stars = Int(planned * share(.star) / 10)
    least.shown = max(1, Int(planned / 10))
    if seconds >= Self.usualSeconds, mix == nil, access.database == nil {
      least.promises = Set(Promise.allCases)
      if screens == 0 { least.promises.remove(.i13) }
    }
    return least
  }

  /// The rules: those that were named, or those that come with the program.
  private func rulesFile(_ settings: SwarmSettings) throws(CommandFailure) -> String {
    let name =
      switch settings.stars {
      case .increment: "blog.json"
      case .transaction: "blog-transactions.json"
      case .sample, .naive: "quickstart.json"
      }
    return try SharedFiles.rules(rules, orElse: name)
  }

  private static func write(_ json: JSONValue, to path: String) throws(CommandFailure) {
    do {
      try (PrettyJSON.text(json) + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    } catch {
      throw CommandFailure(.failed, "\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
