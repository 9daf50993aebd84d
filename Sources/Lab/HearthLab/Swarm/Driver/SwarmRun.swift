private import Foundation
private import NIOConcurrencyHelpers
package import RealtimeServer

/// A whole run: a server, a network, clients, faults, and the verdict of the checker.
package struct SwarmRun: Sendable {
  /// The database that a run uses.
  package enum Target: Sendable {
    /// A server of the swarm's own, with these rules; another program may act as the server.
    ///
    /// The closure opens its database, in a directory, to read what the server commits.
    case ownServer(
      rules: String,
      program: String? = nil,
      database: @Sendable (String) -> any StoredDatabase
    )
    /// Several servers of its own and their PostgreSQL, with these rules.
    ///
    /// The first closure opens the database in PostgreSQL, to read what the servers commit; the
    /// second looks up the leader.
    case ownCluster(
      rules: String,
      database: @Sendable (String) -> any StoredDatabase,
      leader: SwarmCluster.LeaderLookup
    )
    case database(SwarmDatabase)
  }

  package struct Options: Sendable {
    /// The directory of the run, which must exist.
    var directory: String
    var target: Target
    package var bug: InjectedBug?
    /// How many terminals with screens watch the run.
    package var terminals = 0
    /// How long all clients may take to show the same after the storm.
    package var patience = Duration.seconds(120)
    /// Whether the resources that the processes use must stay level.
    package var isSoak = false
    /// The minimum that must have been done.
    package var check = CheckOptions()
    package var tell: @Sendable (SwarmNews) -> Void = { _ in }
    /// Whether the clients report their operations while they work.
    package var isWatched = false
    /// Whether the storm is to end before its time; asked several times a second.
    package var isStopped: @Sendable () -> Bool = { false }

    package init(directory: String, at target: Target) {
      self.directory = directory
      self.target = target
    }

    /// The existing database; nil for a server of the swarm's own.
    package var database: SwarmDatabase? {
      if case .database(let database) = target { database } else { nil }
    }

    var histories: String { "\(directory)/histories" }
  }

  let settings: SwarmSettings
  let options: Options
  let plan: SwarmPlan
  let history: HistoryWriter
  private let stage = NIOLockedValueBox<SwarmStage?>(nil)

  /// Prepares a run without starting anything.
  ///
  /// - Throws: `HistoryError` when the directory cannot be written.
  package init(_ settings: SwarmSettings, options: Options) throws {
    self.settings = settings
    self.options = options
    plan = SwarmPlan(settings)
    for name in ["histories", "offline"] {
      try FileManager.default.createDirectory(
        atPath: "\(options.directory)/\(name)",
        withIntermediateDirectories: true
      )
    }
    try JSONEncoder().encode(settings).write(to: URL(fileURLWithPath: options.settingsFile))
    history = try HistoryWriter(
      path: "\(options.histories)/driver.jsonl",
      header: HistoryHeader(
        client: "driver",
        role: .driver,
        user: "driver",
        uid: "driver",
        pid: getpid(),
        seed: settings.seed,
        strategy: settings.stars,
        wallClock: Int64(Date().timeIntervalSince1970 * 1_000)
      )
    )
  }

  /// Carries the run out.
  ///
  /// - Throws: ``SwarmProblem``, or the error that keeps a program from starting.
  package func run() async throws -> SwarmReport {
    let stage = try await SwarmStage(settings, options: options, history: history)
    self.stage.withLockedValue { $0 = stage }
    do {
      return try await perform(on: stage)
    } catch {
      await stage.clear()
      throw error
    }
  }

  /// Kills all programs of the run, whatever they are doing; the run yields no report.
  package func abandon() async {
    await stage.withLockedValue(\.self)?.clear()
  }

  private func perform(on stage: SwarmStage) async throws -> SwarmReport {
    let watch = ServerSampling(stage: stage, history: history)
    let nemesis = Nemesis(stage: stage, history: history)
    try await gather(stage)
    let start = Moment.now.advanced(by: .milliseconds(200))
    for crew in stage.crews { await crew.begin(start, reportsTo: pulse) }
    let sampling = Task { await watch.run() }
    let resources = Task { await ResourceWatch(stage: stage).run(for: settings.seconds) }
    options.tell(.message("the storm lasts \(Int(settings.seconds)) s"))
    let lookout = Task { await tellServers(of: stage) }
    let early = Task { try await self.inject(on: stage, isEarly: true, from: start) }
    let clock = Task { await showStorm(from: start) }
    let faults = await nemesis.run(plan.faults, from: start, until: options.isStopped)
    try await early.value
    await Pause.until(start.advanced(by: .microseconds(plan.end)), orIf: options.isStopped)
    let (lasted, least) = shortened(since: start)
    resources.cancel()
    clock.cancel()
    await clock.value
    options.tell(.message("healing"))
    try await heal(stage, nemesis)
    try await inject(on: stage, isEarly: false, from: start)
    let quiet = Moment.now
    let convergence = await converge(stage)
    let screens = await stage.terminals?.capture(where: stage.isCurrent) ?? []
    for screen in screens { history.append(.screen(screen)) }
    for task in [sampling, lookout] { task.cancel() }
    await sampling.value
    let (tally, mishaps) = await conclude(stage)
    let blank = screens.filter(\.lines.isEmpty).map { "\($0.terminal) shows nothing" }
    history.append(.ended)
    history.close()
    options.tell(.phase(.checking))
    let commits = try await stage.commits()
    var check = options.check
    check.least = least
    let history = try History(in: options.histories)
    let checker = Checker(history, commits: commits, options: check)
    var report = SwarmReport(
      settings: lasted,
      check: checker.check { options.tell(.judged($0)) },
      directory: options.directory
    )
    report.timeline = SwarmTimeline(history, from: start)
    report.tally = tally
    let use = await resources.value
    report.resources = use.trends
    report.timeline.clientMemory = use.clientMemory
    report.faults = faults
    report.serverEnds = await stage.serverEnds
    report.awakenings = await stage.cluster?.awakenings ?? Awakenings()
    report.convergence = convergence?.since(quiet)
    report.mishaps = mishaps + blank + report.awakenings.wrongs
    if stage.observer != nil, commits.gapCount > 0 {
      report.mishaps.append("the observer has missed commits")
    }
    if options.isSoak {
      report.mishaps += report.resources.filter { !$0.isFlat }.map { "\($0.name) grows" }
      if report.resources.isEmpty { report.mishaps.append("too short for a soak") }
    }
    return report
  }

  // MARK: Phases

  /// Waits until all clients are connected and see the lists.
  private func gather(_ stage: SwarmStage) async throws {
    let deadline = Moment.now.advanced(by: .seconds(60 + settings.users))
    let isReady = await isQuiet(stage, until: deadline) { options.tell(.phase(.gathering($0))) }
    guard isReady else {
      throw SwarmProblem(
        "the clients do not get ready; see \(options.directory)/clients.err"
          + (options.database == nil ? "" : ", or do the rules forbid them to read?")
      )
    }
  }

  /// Reverts all faults, so that everything can become quiet.
  private func heal(_ stage: SwarmStage, _ nemesis: Nemesis) async throws {
    try await stage.recoverServers()
    for crew in stage.crews {
      await crew.send(SIGCONT)
      stage.network?.set(.sound, line: crew.number)
    }
    if settings.faults.contains(.rules) { try await nemesis.restoreRules() }
    for crew in stage.crews { await crew.tell(.finish) }
  }

  /// Shows how far the storm has progressed, until the task is cancelled.
  private func showStorm(from start: Moment) async {
    while !Task.isCancelled {
      let elapsed = Moment.now.since(start) / .seconds(1)
      options.tell(.phase(.storm(elapsed: max(elapsed, 0), of: settings.seconds)))
      await Pause.lasting(.milliseconds(200))
    }
  }

  /// Tells the state of the servers, until the task is cancelled.
  private func tellServers(of stage: SwarmStage) async {
    while options.isWatched, !Task.isCancelled {
      options.tell(.servers(await stage.serverStates))
      await Pause.lasting(.milliseconds(250))
    }
  }

  /// What client processes report to while they work, if anybody watches.
  private var pulse: (@Sendable (Latencies) -> Void)? {
    guard options.isWatched else { return nil }
    return { [tell = options.tell] in tell(.acknowledged($0)) }
  }

  /// The settings and the least of a storm that may have ended before its time.
  private func shortened(since start: Moment) -> (SwarmSettings, CheckOptions.Least) {
    let elapsed = (Moment.now.since(start) - .microseconds(SwarmPlan.opening)) / .seconds(1)
    guard options.isStopped(), elapsed < settings.seconds else {
      return (settings, options.check.least)
    }
    options.tell(.message("the storm was ended after \(Int(max(0, elapsed))) s"))
    var settings = settings
    settings.seconds = max(0, elapsed)
    return (settings, options.check.least.scaled(by: settings.seconds / self.settings.seconds))
  }

  private func inject(on stage: SwarmStage, isEarly: Bool, from start: Moment) async throws {
    #if DEBUG
    guard let bug = options.bug else { return }
    let injector = BugInjector(
      bug: bug,
      settings: settings,
      admin: stage.admin,
      crews: stage.crews
    )
    guard injector.isEarly == isEarly else { return }
    if isEarly {
      await Pause.until(start.advanced(by: .microseconds(SwarmPlan.opening)))
    } else {
      _ = await isQuiet(stage, until: .now.advanced(by: .seconds(60))) { _ in }
    }
    try await injector.inject(try History(in: options.histories))
    #endif
  }

  /// Waits until nothing is under way and all clients show the same; nil if that never happened.
  private func converge(_ stage: SwarmStage) async -> Moment? {
    let deadline = Moment.now.advanced(by: options.patience)
    var speaker = WaitSpeaker(tell: { [tell = options.tell] in tell(.message($0)) })
    let isQuiet = await isQuiet(stage, until: deadline) { obstacle in
      options.tell(.phase(.healing(obstacle)))
      speaker.wait(for: obstacle)
    }
    guard isQuiet else { return nil }
    while Moment.now < deadline {
      let views = await stage.eachCrew { await $0.views() }
      guard let obstacle = SwarmPhase.obstacle(views: views) else { return .now }
      options.tell(.phase(.healing(obstacle)))
      speaker.wait(for: obstacle)
      await Pause.lasting(.milliseconds(100))
    }
    return nil
  }

  /// Waits until nothing is under way, and keeps reporting what still is.
  private func isQuiet(
    _ stage: SwarmStage,
    until deadline: Moment,
    else say: (String) -> Void
  ) async -> Bool {
    while Moment.now < deadline {
      let pending = await stage.eachCrew { await $0.pending() }
      if pending.allSatisfy({ $0 == 0 }) { return true }
      say(SwarmPhase.obstacle(pending: pending))
      await Pause.lasting(.milliseconds(100))
    }
    return false
  }

  /// Ends the clients, waits until nobody is present any more, and stops the server.
  private func conclude(_ stage: SwarmStage) async -> (SwarmTally, [String]) {
    var tally = SwarmTally()
    var mishaps: [String] = []
    let tallies = await stage.eachCrew { await $0.conclude() }
    for (number, found) in tallies.enumerated() {
      if let found { tally.add(found) } else { mishaps.append("process \(number) does not end") }
    }
    await stage.empty()
    do {
      // With all clients gone, everything acknowledged must survive this as well.
      try await stage.killAndRestartServer()
    } catch {
      mishaps.append("the server does not start again: \(error)")
    }
    let status = await stage.leave()
    if status != 0 { mishaps.append("the server ended with status \(status)") }
    return (tally, mishaps)
  }
}

extension SwarmRun.Options {
  /// The file that tells client processes the settings of the run.
  var settingsFile: String { "\(directory)/settings.json" }
}
