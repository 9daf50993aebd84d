private import Foundation
private import NIOConcurrencyHelpers
private import RealtimeAuth
private import RealtimeDatabase
private import RealtimeTransport

/// The users of one process, which the driver of the run controls with lines of text.
package struct SwarmCrew: Sendable {
  /// How the users reach the database, and how they authenticate.
  package struct Access: Sendable {
    /// The URL of the database.
    package var url: String
    /// The run's directory, which holds the histories and the clients' files.
    package var directory: String
    /// Whether users have accounts, whose credentials are in the directory.
    package var hasAccounts = false
    /// The API key of the database's project, if it has one.
    package var apiKey: String?
    /// The file of trusted certificates, which replace those of the system.
    package var caFile: String?
    /// The local port through which the database is reached; nil for a direct connection.
    package var detour: Int?

    /// Describes the access of users without accounts.
    package init(url: String, directory: String) {
      self.url = url
      self.directory = directory
    }
  }

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
  ///   - access: How the users reach the database, and how they authenticate.
  /// - Throws: `DatabaseURLError` for a URL that does not name a database, `HistoryError` when the
  ///   history cannot be written, or the error of the database or of the session's file.
  package init(
    process: Int,
    settings: SwarmSettings,
    access: Access
  ) throws {
    self.process = process
    self.settings = settings
    plan = SwarmPlan(settings)
    let clock = SteppingClock(plan.faults.filter { $0.process == process })
    let pulse = SwarmPulse()
    self.pulse = pulse
    users = try settings.users(ofProcess: process).map { number in
      let options = try Self.options(
        ofUser: number,
        process: process,
        settings: settings,
        access: access,
        clock: clock
      )
      let database = try Database(url: access.url, options: options)
      database.isPersistenceEnabled = true
      return SwarmUser(
        number: number,
        settings: settings,
        database: database,
        history: try Self.history(ofUser: number, settings: settings, access: access),
        reader: SwarmReader(at: settings.hosts, by: options.tokenProvider),
        pulse: pulse
      )
    }
    self.clock = clock
  }

  private let clock: SteppingClock

  private static func options(
    ofUser number: Int,
    process: Int,
    settings: SwarmSettings,
    access: Access,
    clock: SteppingClock
  ) throws -> DatabaseOptions {
    let target = try DatabaseURL(access.url).target
    let name = SwarmUser.clientName(number)
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
    options.persistenceDirectory = "\(access.directory)/offline/\(name)"
    options.trustRoots = access.trustRoots
    if let port = access.detour {
      options.detours[target.host] = .tcp(host: "127.0.0.1", port: port)
    }
    let uid = settings.uid(number)
    if access.hasAccounts {
      options.tokenProvider = try Auth(access.accounts(of: process, uid: uid))
    } else if case .tcp = target.endpoint {
      options.tokenProvider = EmulatorTokens(uid: uid)
    } else if settings.stars == .increment {
      options.localUser = uid
    }
    return options
  }

  private static func history(
    ofUser number: Int,
    settings: SwarmSettings,
    access: Access
  ) throws(HistoryError) -> HistoryWriter {
    let name = SwarmUser.clientName(number)
    let uid = settings.uid(number)
    return try HistoryWriter(
      path: "\(access.directory)/histories/\(name).jsonl",
      header: HistoryHeader(
        client: name,
        role: .client,
        user: SwarmSettings.name(number),
        uid: uid,
        pid: getpid(),
        seed: settings.seed,
        strategy: settings.stars,
        presence: SwarmUser.presence(ofUser: number, settings: settings),
        wallClock: Int64(Date().timeIntervalSince1970 * 1_000)
      )
    )
  }

  /// Carries out orders until they end or the run is concluded.
  ///
  /// - Parameters:
  ///   - orders: The driver's orders.
  ///   - tell: Sends a report to the driver.
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
    for user in users {
      count += await withCheckedContinuation { continuation in
        user.pending { continuation.resume(returning: $0) }
      }
    }
    return count
  }

  private func views() async -> [String: [String]] {
    var all: [String: Set<String>] = [:]
    for user in users {
      let digests = await withCheckedContinuation { continuation in
        user.digests { continuation.resume(returning: $0) }
      }
      for (name, digest) in digests { all[name, default: []].insert(digest) }
    }
    return all.mapValues { $0.sorted() }
  }

  private func conclude() async -> SwarmTally {
    var sum = SwarmTally()
    for user in users {
      sum.add(
        await withCheckedContinuation { continuation in
          user.conclude { continuation.resume(returning: $0) }
        }
      )
      await user.leave()
    }
    return sum
  }
}

extension SwarmCrew.Access {
  /// The certificates to trust.
  fileprivate var trustRoots: DatabaseOptions.TrustRoots { caFile.map { .file($0) } ?? .system }

  /// The configuration that restores the session the driver has started for a user.
  fileprivate func accounts(of process: Int, uid: String) -> AuthConfiguration {
    var configuration = AuthConfiguration(databaseURL: url, apiKey: apiKey)
    configuration.trustRoots = trustRoots
    configuration.persistence = .file(
      SwarmAccounts.credentialFile(ofProcess: process, in: directory)
    )
    configuration.account = uid
    return configuration
  }
}

/// How long operations took that were acknowledged since somebody last asked.
package final class SwarmPulse: Sendable {
  static let interval = Duration.milliseconds(500)

  private let latencies = NIOLockedValueBox<Latencies?>(nil)

  /// Creates a pulse without operations.
  package init() {}

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
