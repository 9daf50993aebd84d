private import Foundation
private import NIOConcurrencyHelpers
private import RealtimeAuth
private import RealtimeDatabase
private import RealtimeTransport

/// The users of one process, which the driver of the run controls with lines of text.
package struct SwarmCrew: Sendable {
  private let settings: SwarmSettings
  private let process: Int
  private let plan: SwarmPlan
  private let users: [SwarmUser]
  private let pulse: SwarmPulse

  /// Creates the users of a process.
  ///
  /// - Parameters:
  ///   - process: The number of the process, from 0.
  ///   - settings: The settings of the run.
  ///   - database: The database; the users' credentials, if it has accounts, are in the directory.
  ///   - detour: The local port through which the database is reached; nil for a direct connection.
  ///   - directory: The run's directory, which holds the histories and the clients' files.
  /// - Throws: `HistoryError` when the history cannot be written, or the error of the database or of
  ///   the session's file.
  package init(
    process: Int,
    settings: SwarmSettings,
    at database: SwarmDatabase,
    by detour: Int?,
    in directory: String
  ) throws {
    self.process = process
    self.settings = settings
    plan = SwarmPlan(settings)
    let clock = SteppingClock(plan.faults.filter { $0.process == process })
    let pulse = SwarmPulse()
    self.pulse = pulse
    users = try settings.users(ofProcess: process).map { number in
      var options = Self.options(settings, clock: clock)
      options.persistenceDirectory = "\(directory)/offline/\(SwarmUser.clientName(number))"
      options.trustRoots = database.clientTrust
      if let detour {
        options.detours[database.target.host] = .tcp(host: "127.0.0.1", port: detour)
      }
      let uid = settings.uid(number)
      if database.hasAccounts {
        let file = SwarmAccounts.credentialFile(ofProcess: process, in: directory)
        options.tokenProvider = try Auth(database.sessions(in: file, of: uid))
      } else if !database.isAtSocket {
        options.tokenProvider = EmulatorTokens(uid: uid)
      } else if settings.stars == .increment {
        options.localUser = uid
      }
      let client = try Database(url: database.url, options: options)
      client.isPersistenceEnabled = true
      return SwarmUser(
        number: number,
        settings: settings,
        database: client,
        history: try Self.history(ofUser: number, settings: settings, in: directory),
        reader: SwarmReader(at: settings.hosts, by: options.tokenProvider),
        pulse: pulse
      )
    }
    self.clock = clock
  }

  private let clock: SteppingClock

  private static func options(
    _ settings: SwarmSettings,
    clock: SteppingClock
  ) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.maximumReconnectDelay = .milliseconds(500)
    options.readDeadline = nil
    options.writeDeadline = nil
    // As in the program itself: a transaction that gives up would undo the star on the screen, and
    // start again without the backoff that contention needs.
    options.transactionTries = 1_000
    // A machine that is busy with many users is slow to respond, not gone.
    options.keepaliveInterval = .seconds(min(45, max(5, settings.users / 4)))
    options.patience = options.keepaliveInterval * 2
    options.clock = { clock.now }
    return options
  }

  private static func history(
    ofUser number: Int,
    settings: SwarmSettings,
    in directory: String
  ) throws(HistoryError) -> HistoryWriter {
    let name = SwarmUser.clientName(number)
    return try HistoryWriter(
      path: "\(directory)/histories/\(name).jsonl",
      header: HistoryHeader(
        client: name,
        role: .client,
        user: SwarmSettings.name(number),
        uid: settings.uid(number),
        pid: getpid(),
        seed: settings.seed,
        strategy: settings.stars,
        presence: SwarmUser.presence(ofUser: number, settings: settings),
        wallClock: Int64(Date().timeIntervalSince1970 * 1_000)
      )
    )
  }

  /// Carries out orders until they end or the run is concluded.
  package func work(
    _ orders: AsyncStream<CrewOrder>,
    tell: @escaping @Sendable (CrewReport) -> Void
  ) async {
    for user in users { user.enter() }
    var watch: Task<Void, Never>?
    defer { watch?.cancel() }
    for await order in orders {
      switch order {
      case .begin(let start):
        clock.start(Moment(microseconds: start))
        for user in users {
          user.begin(
            at: Moment(microseconds: start),
            with: plan.operations.filter { $0.user == user.number }
          )
        }
      case .watch:
        watch = Task { [pulse] in
          while !Task.isCancelled {
            tell(.acknowledged(pulse.take()))
            await Pause.lasting(SwarmPulse.interval)
          }
        }
      case .finish: for user in users { user.finish() }
      case .count: tell(.pending(await pending()))
      case .view: tell(.views(await views()))
      case .misbehave(let bug): users.first?.misbehave(bug)
      case .conclude:
        tell(.tally(await conclude()))
        return
      }
    }
  }

  private func pending() async -> Int {
    var count = 0
    for user in users { count += await user.pending() }
    return count
  }

  private func views() async -> [String: [String]] {
    var all: [String: Set<String>] = [:]
    for user in users {
      for (name, digest) in await user.digests() { all[name, default: []].insert(digest) }
    }
    return all.mapValues { $0.sorted() }
  }

  private func conclude() async -> SwarmTally {
    var sum = SwarmTally()
    for user in users {
      sum.add(await user.conclude())
      await user.leave()
    }
    return sum
  }
}

/// How long operations took that were acknowledged since somebody last asked.
final class SwarmPulse: Sendable {
  static let interval = Duration.milliseconds(500)

  private let latencies = NIOLockedValueBox<Latencies?>(nil)

  func record(microseconds: Int64) {
    latencies.withLockedValue { $0?.record(microseconds: microseconds) }
  }

  /// What was recorded since the last call; nothing is before the first one.
  func take() -> Latencies {
    latencies.withLockedValue { latencies in
      defer { latencies = Latencies() }
      return latencies ?? Latencies()
    }
  }
}

/// The clock of a client process, which jumps when the plan says so.
final class SteppingClock: Sendable {
  private let steps: [PlannedFault]
  private let began = NIOLockedValueBox<Moment?>(nil)

  init(_ faults: [PlannedFault]) {
    steps = faults.filter { $0.kind == .clock }
  }

  /// Sets the time at which the plan began.
  func start(_ moment: Moment) {
    began.withLockedValue { $0 = moment }
  }

  /// The time in milliseconds since 1970, shifted by the last step.
  var now: Int64 {
    let real = Int64(Date().timeIntervalSince1970 * 1_000)
    guard let began = began.withLockedValue({ $0 }) else { return real }
    let elapsed = Moment.now.since(began)
    let step = steps.last { Duration.microseconds($0.at) <= elapsed }
    return real + (step?.clockStep ?? 0)
  }
}
