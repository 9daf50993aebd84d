import BlogModel
import BlogTUI
import Foundation
import Logging
import NIOConcurrencyHelpers
import RealtimeDatabase
import RealtimeServer

/// What a script is played on: terminals, each with a cable to one server, and other people.
@MainActor
final class ScriptScene: ScriptWorld {
  /// A terminal on which the app runs.
  private struct Seat {
    let terminal: ScriptTerminal
    let program: Program<ScriptTerminal>
    let database: Database
    let tap: WireTap
  }

  /// A terminal, whether or not the app runs on it.
  private struct Place {
    let number: Int
    let user: Author
    let cable: Cable
    var isCut = false
    /// What was typed and not sent when the app ended.
    var unsent = Unsent()
  }

  /// The time at which every script starts: 14 November 2023, 22:13:20 UTC.
  private static let start: Int64 = 1_700_000_000_000
  /// How long a step waits for its condition, in seconds.
  private static let patience: TimeInterval = 30
  /// The first terminal and its user.
  private static let first = "alice"

  private(set) var wasLeft = false
  /// The last screen of the terminal that was used last.
  private(set) var lastScreen: Screen?

  private let directory: String
  private let options: ScreenOptions
  /// Whether terminals store what they have not sent, for those that are killed.
  private let keepsWrites: Bool
  private let store = MemoryTreeStore()
  private let databaseOptions: DatabaseOptions
  private let clock: NIOLockedValueBox<Int64>
  private let wakes = DispatchSemaphore(value: 0)
  private let others: ScriptedPeople
  private let data: ScriptedData
  private let recording: RecordingFile?
  private var server: DatabaseServer?
  private var places: [String: Place] = [:]
  private var seats: [String: Seat] = [:]
  private var inUse = ScriptScene.first
  private var stage: NcursesTerminal?
  private var deadline = Date()

  /// Starts the server, in an empty directory, which also gets what terminals have not sent.
  ///
  /// - Throws: ``CommandFailure`` or the system's error if there is no server or no recording.
  init(in directory: String, options: ScreenOptions, keepsWrites: Bool) async throws {
    self.directory = directory
    self.options = options
    self.keepsWrites = keepsWrites
    recording = try options.recording()
    let clock = NIOLockedValueBox(Self.start)
    let digit = NIOLockedValueBox<UInt8>(0)
    var databaseOptions = DatabaseOptions()
    databaseOptions.readDeadline = nil
    databaseOptions.maximumReconnectDelay = .milliseconds(200)
    databaseOptions.clock = { clock.withLockedValue { $0 } }
    databaseOptions.keyDigits = {
      digit.withLockedValue { digit in
        digit = (digit + 1) % 64
        return digit
      }
    }
    self.clock = clock
    self.databaseOptions = databaseOptions
    let url = Self.url(of: Self.socket(in: directory))
    others = ScriptedPeople(url: url, options: databaseOptions)
    data = try ScriptedData(url: url)
    server = try await Self.serve(store, in: directory, clock: clock)
  }

  private nonisolated static func serve(
    _ store: MemoryTreeStore,
    in directory: String,
    clock: NIOLockedValueBox<Int64>
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(socketPath: socket(in: directory), namespace: "hearth")
    options.localRules = try LocalRules.compiled()
    return try await DatabaseServer.start(
      options,
      store: store,
      logger: Logger(label: "script", factory: { _ in SwiftLogNoOpLogHandler() }),
      clock: { clock.withLockedValue { $0 } }
    )
  }

  private nonisolated static func socket(in directory: String) -> String { directory + "/socket" }
  private static func url(of socket: String) -> String { "unix:\(socket)?ns=hearth" }

  /// Plays a script to its end.
  ///
  /// - Throws: ``CommandFailure`` or the system's error if there is no terminal to show it on.
  func play(_ player: ScriptPlayer) async throws {
    if options.show {
      stage = try NcursesTerminal.opened(TerminalOptions(options.files.read().settings))
    }
    defer {
      stage?.close()
      stage = nil
    }
    try use(Self.first, of: nil)
    while let events = await player.next() {
      if seats[inUse]?.program.turn(events) != nil {
        await end(inUse)
        wasLeft = true
      }
      for name in seats.keys.sorted() where name != inUse {
        if seats[name]?.program.turn([.woken]) != nil { await end(name) }
      }
      if let screen = terminal?.screen { lastScreen = screen }
      // What others have called on this thread gets its turn.
      await Task.yield()
    }
    for seat in seats.values { _ = seat.program.turn([.terminate(signal: 0)]) }
    recording?.finish()
  }

  func close() async {
    for name in seats.keys { await end(name) }
    for place in places.values { place.cable.remove() }
    await data.close()
    await others.close()
    await server?.stop()
  }

  // MARK: Terminals

  var terminal: ScriptTerminal? { seats[inUse]?.terminal }

  var isIdle: Bool {
    seats[inUse].map { $0.program.unanswered == 0 && $0.program.model.isQuiet } == true
  }

  var isOnline: Bool { seats[inUse]?.program.model.isOnline == true }

  var commandFailure: String? { seats[inUse]?.program.commandFailure }

  func send(_ event: Event) { seats[inUse]?.program.add(event) }

  private func use(_ name: String, of user: String?) throws {
    let place = try place(name, of: user)
    terminal?.mirror = nil
    inUse = name
    wasLeft = false
    if seats[name] == nil { try start(place, named: name) }
    terminal?.mirror = stage
  }

  private func place(_ name: String, of user: String?) throws -> Place {
    if let place = places[name] {
      guard user == nil || user == place.user.name else {
        throw CommandFailure(.failed, "\(name) is a terminal of \(place.user.name)")
      }
      return place
    }
    let number = places.count
    let place = Place(
      number: number,
      user: try Author(userName: user ?? name),
      cable: Cable(to: Self.socket(in: directory))
    )
    try place.cable.lay(at: "\(directory)/cable\(number)")
    places[name] = place
    return place
  }

  private func start(_ place: Place, named name: String) throws {
    var configuration = options.files.read()
    let isASCII = configuration.settings.isOn(.ascii)
    if let stage {
      configuration = TerminalLook(colorCount: stage.colorCount).applied(to: configuration)
    }
    let url = Self.url(of: "\(directory)/cable\(place.number)")
    var databaseOptions = databaseOptions
    if keepsWrites { databaseOptions.persistenceDirectory = "\(directory)/offline\(place.number)" }
    let stars = StarMethod.automatic(at: url, for: place.user, &databaseOptions)
    let database = try Database(url: url, options: databaseOptions)
    if keepsWrites { database.isPersistenceEnabled = true }
    let blog = LiveBlog(
      database: database,
      name: "script",
      me: place.user,
      naming: .kept(asks: false),
      stars: stars,
      terminal: TerminalName(key: place.number == 0 ? "me" : "t\(place.number)", text: "script")
    )
    var environment = Environment()
    // A script that is run again writes the same files.
    environment.write = { text, name in TextFile.write(text, to: name, replacing: true) }
    let tap = WireTap(database)
    tap.open(in: &environment)
    if let recording, place.number == 0 { environment.record = { recording.add($0) } }
    let terminal = ScriptTerminal(glyphs: isASCII ? .ascii : .unicode)
    let program = Program(
      terminal: terminal,
      repository: blog,
      wake: { [wakes] in wakes.signal() },
      unsent: place.unsent,
      configuration: configuration,
      environment: environment
    )
    tap.report { program.add(.wire($0)) }
    program.begin()
    seats[name] = Seat(terminal: terminal, program: program, database: database, tap: tap)
  }

  /// Ends the app on a terminal.
  private func end(_ name: String) async {
    guard let seat = seats.removeValue(forKey: name) else { return }
    seat.terminal.mirror = nil
    places[name]?.unsent = seat.program.model.unsent
    seat.tap.close()
    await seat.database.close()
  }

  // MARK: Changes

  func make(_ change: Script.Change) async -> String? {
    do {
      switch change {
      case .terminal(let name, let user): try use(name, of: user)
      case .killTerminal:
        guard terminal != nil else { return "no terminal is in use" }
        // The app saves what is typed within a quarter of a second, so it is all kept.
        places[inUse]?.cable.set(isPlugged: false)
        await end(inUse)
        plug(inUse)
      case .killServer:
        guard let server else { return "the server does not run" }
        for place in places.values { place.cable.set(isPlugged: false) }
        await server.stop()
        self.server = nil
        for name in places.keys { plug(name) }
      case .startServer:
        guard server == nil else { return "the server runs already" }
        server = try await Self.serve(store, in: directory, clock: clock)
      case .network(.cut):
        places[inUse]?.isCut = true
        places[inUse]?.cable.set(isPlugged: false)
      case .network(.slow(let delay)):
        places[inUse]?.isCut = false
        places[inUse]?.cable.slow(by: .milliseconds(delay))
        plug(inUse)
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Plugs in the cable of a terminal, unless its network is cut.
  private func plug(_ name: String) {
    guard let place = places[name], !place.isCut else { return }
    place.cable.set(isPlugged: true)
  }

  func act(_ act: Script.Act, by name: String, isFirstLook: Bool) -> Script.Progress {
    // Their actions come later than earlier ones, and so do the keys of their posts.
    if isFirstLook { pass(1) }
    return others.perform(act, by: name, isFirst: isFirstLook)
  }

  func data(at path: String, comparedWith json: String, isFirstLook: Bool) -> Script.Progress {
    data.compare(path, with: json, isFirst: isFirstLook)
  }

  // MARK: Time

  func wait() { _ = wakes.wait(timeout: .now() + .milliseconds(20)) }

  func pass(_ milliseconds: Int64) { clock.withLockedValue { $0 += milliseconds } }

  func isLate(isFirstLook: Bool) -> Bool {
    if isFirstLook { deadline = Date(timeIntervalSinceNow: Self.patience) }
    return Date() > deadline
  }

  func look(_ milliseconds: Int64) -> Bool {
    guard let stage else { return true }
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      let rest = max(.zero, end - ContinuousClock.now)
      for event in stage.nextEvents(timeout: rest) {
        switch event {
        case .key(.resize), .resumed: terminal?.showAgain()
        case .key(.character("q")), .key(.control("c")), .hangUp, .terminate: return false
        case .key, .escaped, .woken, .unreadable: break
        }
      }
      if rest == .zero { return true }
    }
  }
}
