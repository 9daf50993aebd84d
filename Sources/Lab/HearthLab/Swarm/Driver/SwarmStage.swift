internal import Foundation
private import RealtimeCore
private import RealtimeTransport

/// The set-up of a run: the server, the network in front of it, the clients and the terminals.
struct SwarmStage: Sendable {
  let options: SwarmRun.Options
  let settings: SwarmSettings
  let crews: [CrewProcess]
  private(set) var network: FaultyNetwork?
  private(set) var server: SwarmServer?
  private(set) var cluster: SwarmCluster?
  let admin: AdminClient
  private(set) var observer: LogObserver?
  private(set) var stream: StreamObserver?
  let terminals: SwarmTerminals?
  /// The rules in force when no fault changes them, if the servers belong to the swarm.
  private(set) var rules: String?

  /// How long the presence of clients that have left may persist.
  private static let absence = Duration.seconds(60)
  /// How often the commits in PostgreSQL are read, and how long it may be unreachable.
  private static let reading = (
    interval: Duration.milliseconds(100), patience: Duration.seconds(60)
  )

  /// Starts everything that a run needs.
  init(
    _ settings: SwarmSettings,
    options: SwarmRun.Options,
    history: HistoryWriter
  ) async throws {
    var settings = settings
    let file = "\(options.directory)/rules.json"
    let target: ConnectionTarget
    var access = options.database
    switch options.target {
    case .database(let database):
      target = database.target
      let follower = database.admin.observer
      try await follower.start()
      stream = follower
      // Rules do not bind administrators, and every client at a socket is one.
      if !database.isAtSocket {
        history.append(.rules(source: try await database.admin.rules()))
      }
      if settings.faults.contains(where: \.needsNetwork) {
        network = FaultyNetwork(toAnyOf: [target.endpoint])
      }
    case .ownServer(let source, let program, let openDatabase):
      rules = try Self.copyRules(source, to: file, history: history)
      let files = SwarmServer.Files(directory: options.directory, rules: file, program: program)
      let own = SwarmServer(files, history: history)
      try await own.start()
      let reader = try LogObserver(openDatabase(files.data), markFile: files.logMark)
      reader.start()
      await own.attach(reader)
      network = FaultyNetwork()
      network?.aim(at: await own.port)
      (server, observer) = (own, reader)
      target = ConnectionTarget(unixSocket: files.socket, namespace: "hearth")
    case .ownCluster(let source, let openDatabase, let leader):
      rules = try Self.copyRules(source, to: file, history: history)
      let own = try await SwarmCluster(
        settings.servers,
        for: settings.seconds,
        in: options.directory,
        rules: file,
        history: history,
        lookup: leader,
        tell: { options.tell(.message($0)) }
      )
      cluster = own
      do {
        let reader = try await Blocking.run {
          let mark = SwarmServer.Files(directory: options.directory, rules: file).logMark
          return try LogObserver(
            openDatabase(own.store),
            markFile: mark,
            patience: Self.reading.patience
          )
        }
        reader.start(every: Self.reading.interval)
        await own.attach(reader)
        observer = reader
        var database = try SwarmDatabase("http://127.0.0.1:\(own.port)?ns=hearth")
        target = database.target
        // Servers that share accounts require an account of every client.
        let accounts = SwarmAccounts(ofRun: "own", at: database, in: options.directory)
        settings.uids = try await accounts.make(for: settings, terminals: options.terminals)
        settings.hosts = own.members.map(\.host)
        try JSONEncoder().encode(settings).write(to: URL(fileURLWithPath: options.settingsFile))
        database.wantsAccounts = true
        access = database
      } catch {
        _ = await own.stop()
        throw error
      }
    }
    self.options = options
    self.settings = settings
    admin = cluster?.admin ?? options.database?.admin ?? AdminClient(target)
    crews = try await Self.launch(settings, options: options, at: access, network: network)
    terminals = try Self.terminals(options, at: target, through: access)
  }

  /// Stores the rules of a run, with the additions that the swarm needs.
  private static func copyRules(
    _ source: String,
    to copy: String,
    history: HistoryWriter
  ) throws -> String {
    let rules = SwarmCounters.allowed(in: source) ?? source
    history.append(.rules(source: rules))
    try rules.write(toFile: copy, atomically: true, encoding: .utf8)
    return rules
  }

  /// Starts the client processes, each with its own port if there is a network.
  private static func launch(
    _ settings: SwarmSettings,
    options: SwarmRun.Options,
    at database: SwarmDatabase?,
    network: FaultyNetwork?
  ) async throws -> [CrewProcess] {
    var crews: [CrewProcess] = []
    for number in 0..<settings.processes {
      let port = try network?.open(line: number)
      let crew = CrewProcess(
        number,
        arguments: [
          "swarm-client", "--directory", options.directory, "--process", String(number),
        ] + way(to: database, through: port),
        errors: "\(options.directory)/clients.err"
      )
      try await crew.launch()
      crews.append(crew)
    }
    return crews
  }

  /// The arguments that tell a client process where the database is; they contain no secret.
  private static func way(to database: SwarmDatabase?, through port: Int?) -> [String] {
    let port = port.map(String.init)
    guard let database else {
      return ["--url", "http://127.0.0.1:\(port ?? "")?ns=hearth"]
    }
    let options = [
      ("--url", database.url), ("--api-key", database.apiKey), ("--ca-file", database.caFile),
      ("--detour", port),
    ]
    return options.flatMap { name, value in value.map { [name, $0] } ?? [] }
      + (database.hasAccounts ? ["--accounts"] : [])
  }

  /// Opens the terminals that watch, if any.
  private static func terminals(
    _ options: SwarmRun.Options,
    at target: ConnectionTarget,
    through database: SwarmDatabase?
  ) throws -> SwarmTerminals? {
    guard options.terminals > 0 else { return nil }
    let url = database?.url ?? "\(target)?ns=\(target.namespace ?? "hearth")"
    let arguments = [
      ("--database", url), ("--api-key", database?.apiKey), ("--ca-file", database?.caFile),
    ]
    return try SwarmTerminals(
      options.terminals,
      options: arguments.flatMap { name, value in value.map { [name, $0] } ?? [] },
      areSignedIn: database?.hasAccounts ?? false,
      in: options.directory
    )
  }

  /// Asks all client processes at the same time.
  func eachCrew<Answer: Sendable>(
    _ ask: @escaping @Sendable (CrewProcess) async -> Answer
  ) async -> [Answer] {
    await withTaskGroup(of: (Int, Answer).self) { group in
      for crew in crews { group.addTask { (crew.number, await ask(crew)) } }
      var answers: [(Int, Answer)] = []
      for await answer in group { answers.append(answer) }
      return answers.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Whether the database has the posts that a screen shows, with the same number of stars.
  func isCurrent(_ screen: CapturedScreen) async -> Bool {
    guard let posts = try? await admin.get("/posts") else { return false }
    var stars: [String: Set<Int>] = [:]
    for post in (posts.members ?? []).map(\.value) {
      guard let title = post["title"]?.string else { continue }
      stars[title, default: []].insert(Int(post["starCount"]?.integer ?? 0))
    }
    return screen.rows.allSatisfy { stars[$0.title]?.contains($0.stars) == true }
  }

  /// Closes the terminals as well, and waits until nobody is present any more.
  func empty() async {
    await terminals?.close()
    let deadline = Moment.now.advanced(by: min(Self.absence, options.patience))
    while Moment.now < deadline {
      if let people = try? await admin.get("/presence"), !isAnybodyHere(people) { break }
      await Pause.lasting(.milliseconds(50))
    }
  }

  /// Whether anybody is listed as present; in a shared database only the swarm's users count.
  private func isAnybodyHere(_ people: JSONValue) -> Bool {
    guard options.database != nil else { return people != .null }
    return (0..<settings.users).contains { people[settings.uid($0)] != nil }
  }

  /// Stops the server, if there is one, and returns the status with which it ended.
  func leave() async -> Int32 {
    network?.close()
    if let cluster { return await cluster.stop() }
    return await server?.stop() ?? 0
  }

  /// What an observer that is independent of the clients has seen of the database.
  func commits() async throws -> CommitHistory {
    if let observer { return try observer.finish() }
    guard let stream else {
      throw SwarmProblem("nobody has read the database")
    }
    return try await stream.finish()
  }

  /// Ends everything immediately after an error.
  func clear() async {
    for crew in crews { await crew.end() }
    await terminals?.close()
    network?.close()
    // It would write to a directory that is removed next.
    observer?.stop()
    _ = await server?.stop()
    _ = await cluster?.stop()
  }
}

extension SwarmStage {
  /// Whether the servers belong to the swarm.
  var ownsServers: Bool { server != nil || cluster != nil }

  /// The process ID of the server that serves the database; nil while there is none.
  var serverProcess: pid_t? {
    get async {
      if let cluster { return await cluster.leadingProcess }
      return await server?.processID
    }
  }

  var serverStates: [ServerState] {
    get async {
      if let cluster { return await cluster.states }
      guard let server else { return [] }
      return await server.processID == nil ? [.down] : [.leads]
    }
  }

  /// How often servers of the swarm were killed or ended on their own.
  var serverEnds: Int {
    get async {
      if let cluster { return await cluster.ends }
      return await server?.ends ?? 0
    }
  }

  /// Reverts all faults of the servers.
  func recoverServers() async throws {
    try await server?.recover()
    try await cluster?.recover()
  }

  /// Kills the server, or the leader of several, and starts it again.
  func killAndRestartServer() async throws {
    try await server?.killAndRestart(after: .zero)
    try await cluster?.killLeaderAndRestart()
  }
}
