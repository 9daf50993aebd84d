import BlogModel
import BlogTUI
import DurableFiles
import Foundation
import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase
import RealtimeServer

/// Runs a script on a blog of its own, which leaves nothing behind and is reproducible.
///
/// The server runs in this process, the clock is frozen except where the script lets time pass, and
/// the keys of posts are not random. Showing the script on the terminal changes only how long it
/// takes.
@MainActor
struct ScriptRun {
  /// The time at which every script starts: 14 November 2023, 22:13:20 UTC.
  private static let start: Int64 = 1_700_000_000_000
  /// How long a step waits for its condition, in seconds.
  private static let patience: TimeInterval = 30

  private let path: String
  private let options: ScreenOptions

  /// Makes a run of a script file.
  init(_ path: String, options: ScreenOptions) {
    self.path = path
    self.options = options
  }

  /// Runs the script.
  ///
  /// - Throws: ``CommandFailure`` with the line of the script when a step fails.
  func run() async throws {
    // A script shows the same on every machine.
    setenv("TZ", "UTC", 1)
    tzset()
    let text = try InputFile.text(path)
    let script: Script
    do {
      script = try Script(text)
    } catch {
      throw CommandFailure(.usage, description: "\(path): \(error)")
    }
    for line in script.lines {
      guard case .data(let path, let json, _) = line.step else { continue }
      do {
        _ = try ScriptedData.parsed(path, json)
      } catch {
        let reason = "\(path) or \(json) cannot be in a database: \(error)"
        let failure = Script.Failure(line: line.number, reason: reason)
        throw CommandFailure(.usage, description: "\(self.path): \(failure)")
      }
    }
    if options.show { try TerminalScreen.check() }
    let directory = NSTemporaryDirectory() + "hearth-script-\(getpid())"
    try PrivateDirectory.prepare(directory)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let clock = NIOLockedValueBox(Self.start)
    let digit = NIOLockedValueBox<UInt8>(0)
    let socket = directory + "/socket"
    var serverOptions = DatabaseServer.Options(socketPath: socket, namespace: "hearth")
    serverOptions.localRules = try LocalRules.compiled()
    let server = try await DatabaseServer.start(
      serverOptions,
      store: MemoryTreeStore(),
      logger: Logger(label: "script", factory: { _ in SwiftLogNoOpLogHandler() }),
      clock: { clock.withLockedValue { $0 } }
    )
    var databaseOptions = DatabaseOptions()
    databaseOptions.readDeadline = nil
    databaseOptions.clock = { clock.withLockedValue { $0 } }
    databaseOptions.keyDigits = {
      digit.withLockedValue { digit in
        digit = (digit + 1) % 64
        return digit
      }
    }
    let url = "unix:\(socket)?ns=hearth"
    let others = ScriptedPeople(url: url, options: databaseOptions)
    let me = try Author(userName: "alice")
    let stars = StarMethod.automatic(at: url, for: me, &databaseOptions)
    let database = try Database(url: url, options: databaseOptions)
    let blog = LiveBlog(
      database: database,
      name: "script",
      me: me,
      stars: stars,
      terminal: TerminalName(key: "me", text: "script")
    )
    let data = try ScriptedData(url: url)
    let terminal = try play(
      script,
      as: blog,
      on: database,
      with: others,
      data,
      clock: clock
    )
    await data.close()
    await others.close()
    await database.close()
    await server.stop()
    let result = ScriptResult(
      of: path,
      script,
      playedSteps: terminal.playedSteps,
      failure: terminal.failure,
      screen: terminal.screen?.text() ?? ""
    )
    Output.text(result.text(in: options.results))
    guard let failure = terminal.failure else { return }
    Output.write(Self.picture(of: failure, in: text, on: terminal.screen), to: STDERR_FILENO)
    throw CommandFailure(.failed, description: "\(path): \(failure)")
  }

  private func play(
    _ script: Script,
    as blog: LiveBlog,
    on database: Database,
    with others: ScriptedPeople,
    _ data: ScriptedData,
    clock: NIOLockedValueBox<Int64>
  ) throws -> ScriptTerminal {
    let wakes = DispatchSemaphore(value: 0)
    var configuration = options.files.read()
    let isASCII = configuration.settings.isOn(.ascii)
    let stage = options.show ? try TerminalScreen(TerminalOptions(configuration.settings)) : nil
    defer { stage?.close() }
    if let stage {
      configuration = TerminalLook(colorCount: stage.colorCount).applied(to: configuration)
    }
    let terminal = ScriptTerminal(
      script,
      glyphs: isASCII ? .ascii : .unicode,
      mirror: stage,
      pace: options.pace
    )
    var environment = Environment()
    // A script that is run again writes the same files.
    environment.write = { text, name in TextFile.write(text, to: name, replacing: true) }
    let tap = WireTap(database)
    tap.open()
    environment.watchWire = { $0 ? tap.start() : tap.stop() }
    environment.attributeWrites = { database.writes(because: $0) }
    environment.writeWire = { TextFile.write(lines: $0, to: $1) }
    environment.setNetwork = { $0 ? database.goOnline() : database.goOffline() }
    let recording = try options.recording()
    if let recording { environment.record = { recording.add($0) } }
    let program = Program(
      terminal: terminal,
      repository: blog,
      wake: { wakes.signal() },
      configuration: configuration,
      environment: environment
    )
    tap.report { program.add(.wire($0)) }
    var deadline = Date()
    terminal.world = ScriptTerminal.World(
      wait: { _ = wakes.wait(timeout: .now() + .milliseconds(20)) },
      pass: { time in clock.withLockedValue { $0 += time } },
      isIdle: { program.unanswered == 0 && program.model.isQuiet },
      send: { program.add($0) },
      isLate: { isFirstLook in
        if isFirstLook { deadline = Date(timeIntervalSinceNow: Self.patience) }
        return Date() > deadline
      },
      act: { name, act, isFirstLook in
        // Their actions come later than earlier ones, and so do the keys of their posts.
        if isFirstLook { clock.withLockedValue { $0 += 1 } }
        return others.perform(act, by: name, isFirst: isFirstLook)
      },
      data: { data.compare($0, with: $1, isFirst: $2) }
    )
    if let stage {
      terminal.world?.look = { time in
        Self.look(at: stage, for: time) { [weak terminal] in terminal?.showAgain() }
      }
    }
    _ = program.run()
    recording?.finish()
    return terminal
  }

  /// The screen on which a step failed, with a border at its left, and below it the step.
  private static func picture(
    of failure: Script.Failure,
    in text: String,
    on screen: Screen?
  ) -> String {
    var rows = screen?.text().split(separator: "\n", omittingEmptySubsequences: false) ?? []
    while rows.last?.isEmpty == true { rows.removeLast() }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let index = failure.line - 1
    let step = lines.indices.contains(index) ? SafeText(untrusted: String(lines[index])).string : ""
    return rows.map { "  | \($0)\n" }.joined() + "\(failure.line): \(step)\n"
  }

  /// Leaves the screen to the viewer for a while; returns the event that ends the script, if any.
  private static func look(
    at stage: TerminalScreen,
    for milliseconds: Int64,
    showAgain: () -> Void
  ) -> TerminalEvent? {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      let rest = max(.zero, end - ContinuousClock.now)
      for event in stage.nextEvents(timeout: rest) {
        switch event {
        case .key(.resize), .resumed: showAgain()
        case .key(.character("q")), .key(.control("c")): return .terminate(signal: 0)
        case .hangUp, .terminate: return event
        case .key, .escaped, .woken, .unreadable: break
        }
      }
      if rest == .zero { return nil }
    }
  }
}

/// What the server of a script holds, as an administrator sees it over a connection of its own.
@MainActor
final class ScriptedData {
  private let database: Database
  /// What was found at the path that was read last; nil while the server has not answered.
  private let found = NIOLockedValueBox<Result<JSONValue, any Error>?>(nil)

  /// Connects to the server.
  init(url: String) throws {
    var options = DatabaseOptions()
    options.readDeadline = nil
    database = try Database(url: url, options: options)
    // The main queue is busy with the program for as long as the script runs.
    database.callbackQueue = DispatchQueue(label: "hearth.script")
  }

  /// Parses a path and what a database would hold of JSON.
  static func parsed(_ path: String, _ json: String) throws -> (path: String, node: Node) {
    let path = try DatabasePath.parse(path)
    let node = try Node(json: try JSONParser.parse(json))
    if let problem = Validation.problem(with: node, at: Path(wire: path)) {
      throw CommandFailure(.usage, description: problem)
    }
    return (path, node)
  }

  /// Reads a path and compares what is there with JSON, or reports the progress of that.
  ///
  /// After a refusal the path is read once more.
  func compare(_ path: String, with json: String, isFirst: Bool) -> Script.Progress {
    do {
      let wanted = try Self.parsed(path, json)
      guard !isFirst, let answer = found.withLockedValue({ $0 }) else {
        if isFirst { read(wanted.path) }
        return .underWay
      }
      let there = try answer.get()
      if try Node(json: there) == wanted.node { return .done }
      read(wanted.path)
      return .refused("the server has \(SafeText(untrusted: there.text).string) at \(path)")
    } catch {
      return .refused("\(path) cannot be read: \(error)")
    }
  }

  private func read(_ path: String) {
    found.withLockedValue { $0 = nil }
    database.reference(withPath: path).getData { @Sendable [found] error, snapshot in
      found.withLockedValue {
        $0 = error.map { .failure($0) } ?? .success(snapshot?.jsonValue ?? .null)
      }
    }
  }

  /// Disconnects.
  func close() async { await database.close() }
}

/// The other people in a script, each with a connection and a blog of their own.
@MainActor
final class ScriptedPeople {
  /// A person who has joined.
  private struct Person {
    let database: Database
    let blog: LiveBlog
    let seen: NIOLockedValueBox<Seen>
    /// Whether their current action has started.
    var hasBegun = false
  }

  /// What a person has seen so far.
  private struct Seen {
    var isOnline = false
    var posts: [Post]?
    /// The outcome of their last action.
    var outcome: Script.Progress = .underWay
  }

  private let url: String
  private let options: DatabaseOptions
  private var people: [String: Person] = [:]

  /// Names the database; no one has joined yet.
  init(url: String, options: DatabaseOptions) {
    self.url = url
    self.options = options
  }

  /// Starts a person's action, or reports its progress.
  func perform(_ act: Script.Act, by name: String, isFirst: Bool) -> Script.Progress {
    do {
      var person = try people[name] ?? join(name)
      if isFirst {
        person.hasBegun = false
        person.seen.withLockedValue { $0.outcome = .underWay }
      }
      people[name] = person
      let seen = person.seen.withLockedValue { $0 }
      guard seen.isOnline, let posts = seen.posts else { return .underWay }
      if person.hasBegun { return seen.outcome }
      let post = posts.first { $0.title == act.subject }
      guard act.subject == nil || post != nil else { return .underWay }
      people[name]?.hasBegun = true
      return begin(act, on: post?.id ?? "", by: person) ? .underWay : .done
    } catch {
      return .refused("\(error)")
    }
  }

  /// Starts an action; false if it is complete at once.
  private func begin(_ act: Script.Act, on id: PostID, by person: Person) -> Bool {
    switch act {
    case .join: return false
    case .leave:
      person.database.goOffline()
      person.seen.withLockedValue { $0.isOnline = false }
      people[person.blog.me.name] = nil
      left.append(person.database)
      return false
    case .post(let title, let body): person.blog.perform(.post(title: title, body: body))
    case .comment(_, let text): person.blog.perform(.comment(id, text: text))
    case .star(_, let isStarred): person.blog.perform(.star(id, isStarred))
    case .delete: person.blog.perform(.deletePost(id))
    case .type:
      person.blog.request(.typing(id, true))
      return false
    }
    return true
  }

  private var left: [Database] = []

  private func join(_ name: String) throws -> Person {
    let me = try Author(userName: name)
    var options = options
    let stars = StarMethod.automatic(at: url, for: me, &options)
    let database = try Database(url: url, options: options)
    let blog = LiveBlog(
      database: database,
      name: "script",
      me: me,
      stars: stars,
      terminal: TerminalName(key: name, text: "script")
    )
    let seen = NIOLockedValueBox(Seen())
    blog.start { event in
      seen.withLockedValue { seen in
        switch event {
        case .feed(.recent, let posts): seen.posts = posts
        case .connection(let state): seen.isOnline = state == .online
        case .succeeded: seen.outcome = .done
        case .failed(_, let reason): seen.outcome = .refused(reason)
        case .feed, .extent, .feedFailed, .post, .comments, .hasEarlierComments, .latestComments,
          .typing, .people, .readState, .markAnswered, .notice, .notices, .ownLists, .renamed,
          .roundTrip,
          .connectionProblem,
          .silence, .found,
          .pendingWrites:
          break
        }
      }
    }
    blog.request(.follow(.recent))
    return Person(database: database, blog: blog, seen: seen)
  }

  /// Lets everyone leave.
  func close() async {
    for database in people.values.map(\.database) + left { await database.close() }
    people = [:]
    left = []
  }
}
