internal import BlogChecker
private import Foundation
private import NIOPosix
private import RealtimeTransport
private import RealtimeTree

/// What is set up for a run: the server, the network before it, the clients, and who looks on.
struct SwarmStage: Sendable {
  let options: SwarmRun.Options
  let crews: [CrewProcess]
  let network: SwarmNetwork?
  let server: SwarmServer?
  let door: AdministratorDoor?
  let witness: LogWitness?
  let stream: StreamWitness?
  let terminals: SwarmTerminals?
  let nemesis: Nemesis

  /// How long the presence of clients that have left may last.
  private static let absence = Duration.seconds(60)

  /// Starts everything that a run needs.
  ///
  /// - Throws: What keeps one of the programs from starting.
  static func set(
    _ settings: SwarmSettings,
    _ options: SwarmRun.Options,
    history: HistoryWriter
  ) async throws -> SwarmStage {
    var server: SwarmServer?
    var network: SwarmNetwork?
    var witness: LogWitness?
    var stream: StreamWitness?
    let source = try String(contentsOfFile: options.rules, encoding: .utf8)
    let rules = SwarmCounters.allowed(in: source) ?? source
    let target: ConnectionTarget
    if let database = options.database {
      target = try DatabaseURL(database).target
      let follower = StreamWitness(
        client: HTTPClient(
          group: MultiThreadedEventLoopGroup.singleton,
          trust: .system,
          timeout: .seconds(10)
        ),
        target: target,
        token: database.hasPrefix("unix:") ? nil : "owner"
      )
      try await follower.start()
      stream = follower
    } else {
      let file = "\(options.directory)/rules.json"
      try rules.write(toFile: file, atomically: true, encoding: .utf8)
      let place = SwarmServer.Place(directory: options.directory, rules: file)
      let own = SwarmServer(place, history: history)
      try await own.start()
      let reader = try LogWitness(
        directory: place.data,
        markFile: place.logMark
      )
      reader.start()
      await own.attach(reader)
      history.append(.rules(source: rules))
      network = SwarmNetwork(to: await own.port)
      (server, witness) = (own, reader)
      target = ConnectionTarget(unixSocket: place.socket, namespace: "hearth")
    }
    let door = AdministratorDoor(target)
    let crews = try await launch(settings, options, network)
    let terminals =
      try options.terminals == 0
      ? nil
      : SwarmTerminals(
        options.terminals,
        url: "\(target)?ns=\(target.namespace ?? "hearth")",
        options.directory
      )
    return SwarmStage(
      options: options,
      crews: crews,
      network: network,
      server: server,
      door: door,
      witness: witness,
      stream: stream,
      terminals: terminals,
      nemesis: Nemesis(
        Nemesis.Targets(
          crews: crews,
          clients: (0..<settings.processes).map { process in
            settings.users(ofProcess: process).map(SwarmUser.clientName)
          },
          network: network,
          server: server,
          door: door,
          rules: server == nil ? nil : rules
        ),
        history: history
      )
    )
  }

  /// Starts the processes of clients, each with a port of its own where there is a network.
  private static func launch(
    _ settings: SwarmSettings,
    _ options: SwarmRun.Options,
    _ network: SwarmNetwork?
  ) async throws -> [CrewProcess] {
    var crews: [CrewProcess] = []
    for number in 0..<settings.processes {
      let url: String
      if let network {
        url = "http://127.0.0.1:\(try await network.open(process: number))?ns=hearth"
      } else {
        url = options.database ?? ""
      }
      let crew = CrewProcess(
        number,
        arguments: [
          "swarm-client", "--directory", options.directory, "--process", String(number), "--url",
          url,
        ],
        errors: "\(options.directory)/clients.err"
      )
      try await crew.launch()
      crews.append(crew)
    }
    return crews
  }

  /// Asks all processes of clients at once.
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

  /// Has the terminals leave as well, and waits until nobody is here any more.
  func empty() async {
    await terminals?.close()
    let deadline = Moment.now.advanced(by: min(Self.absence, options.patience))
    while Moment.now < deadline {
      if (try? await door?.get("/presence")) == .null { break }
      await Pause.lasting(.milliseconds(50))
    }
  }

  /// Ends the server.
  ///
  /// - Returns: The status with which it ended, 0 when there was none to end.
  func leave() async -> Int32 {
    await network?.close()
    return await server?.stop() ?? 0
  }

  /// What a witness that does not go through the clients has seen of the database.
  ///
  /// - Throws: What keeps it from reading.
  func testimony() async throws -> Testimony {
    if let witness { return try witness.testimony() }
    guard let stream else {
      throw SwarmRun.Problem(description: "nobody has read the database")
    }
    return try await stream.testimony()
  }

  /// Ends everything at once, after something went wrong.
  func clear() async {
    for crew in crews { await crew.end() }
    await terminals?.close()
    await network?.close()
    _ = await server?.stop()
  }
}
