import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

/// Plays a scene against a new server, line by line.
///
/// A line begins with the actor: the name of a client (`C> frame` sends, `C< message` expects, `C
/// verb …` does something else), the server (`data`, `rules`, `restart`, `crash`), or a REST
/// request with its expectations below it. The head of `assets/transcripts/connection.txt` lists
/// the forms.
final class SceneRun {
  /// The time of the server's clock, which stands still unless a scene moves it.
  static let time: Int64 = 1_700_000_000_000

  /// The server against which a scene is played.
  enum Host {
    /// A server in this process, with its own clock and store.
    case library
    /// The built program in emulator mode, which can be controlled only through its port.
    case program
  }

  private let scene: Scene
  private let host: Host
  private var store = SceneStore()
  /// The databases beside the default one.
  private var others: [String: any TreeStore] = [:]
  private let accounts = MemoryIdentityStore()
  private let clock = NIOLockedValueBox(SceneRun.time)
  /// Sets up the accounts, whose passwords cost little work.
  var adjustAccounts: @Sendable (inout IdentitySettings) -> Void = { $0.passwordCost = .token }
  private var options = DatabaseServer.Options(port: 0, rules: .open)
  private var server: DatabaseServer?
  private var cluster: SceneCluster?
  private var program: SceneProgram?
  /// The initial data of the program, as JSON.
  private var data: String?
  var pattern = Pattern()
  var clients: [String: RawWebSocket] = [:]
  var streams: [String: RESTTalk] = [:]
  var pollers: [String: PollingProbe] = [:]
  /// The messages that were received before a line expects them.
  private var early: [String: String] = [:]
  var talk: RESTTalk?

  private init(_ scene: Scene, _ host: Host) {
    self.scene = scene
    self.host = host
  }

  /// Plays a scene.
  ///
  /// - Throws: ``SceneFailure`` with the line that deviated.
  static func play(_ scene: Scene, against host: Host = .library) async throws {
    let run = SceneRun(scene, host)
    do {
      for line in scene.lines { try await run.play(line) }
      try await run.talk?.finish(&run.pattern)
    } catch {
      await run.stop()
      throw error
    }
    await run.stop()
  }

  private func play(_ line: Scene.Line) async throws {
    do {
      try await play(line.text)
    } catch {
      throw SceneFailure("\(scene.file).txt:\(line.number): \(line.text)\n\(error)")
    }
  }

  private func play(_ line: String) async throws {
    let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    let word = String(parts[0])
    let rest = parts.count > 1 ? String(parts[1]) : ""
    if RESTTalk.isExpectation(word) {
      guard let talk else { throw SceneFailure("there is no request to expect this of") }
      return try await talk.take(word, rest, &pattern)
    }
    try await talk?.finish(&pattern)
    talk = nil
    switch word {
    case "data":
      data = rest
      store = SceneStore(StoredTree(root: try Node(json: JSONParser.parse(rest))))
    case "store":
      guard let mood = SceneStore.Mood(rest) else { throw SceneFailure("no store does that") }
      store.become(mood)
    case "rules": options.rules = rest == "locked" ? .locked : .source(rest)
    case "emulator": options = .emulator(port: 0)
    case "credentials": options.credentialVerifier = NamedVerifier()
    case "database": others[rest] = MemoryTreeStore()
    case "accounts": try setUpAccounts(rest)
    case "token": try expectToken(rest)
    case "differ": try expectDifference(rest)
    case "later": clock.withLockedValue { $0 += (Int64(rest) ?? 0) * 1_000 }
    case "limit": try limit(rest)
    case "advertised": options.advertisedHost = rest
    case "origin": options.allowedOrigins.append(rest)
    case "servers": cluster = try await SceneCluster(rest)
    case "until": try await repeats(rest)
    case "abandon": try await abandon(rest)
    case "define":
      let parts = rest.components(separatedBy: " ")
      pattern.define(parts[0], as: .string(parts[1]))
    case "restart":
      await server?.stop()
      try await start()
    case "crash":
      // The content of the store at this moment is all that is left.
      let left = store.load()
      await stop()
      store = SceneStore(left)
      try await start()
    case _ where RESTTalk.methods.contains(word):
      talk = RESTTalk(port: try await port(), word, pattern.filled(rest))
    case _ where word.hasSuffix(">"):
      let (name, text) = (String(word.dropLast()), pattern.filled(rest))
      if let poller = pollers[name] {
        try await poller.send(text)
      } else {
        try client(word).send(text)
      }
    case _ where word.hasSuffix("<"): try await expect(rest, of: String(word.dropLast()))
    case _ where word.hasSuffix("<*"):
      try await expect(rest, of: String(word.dropLast(2)), isPartial: true)
    default:
      if try await cluster?.act(word, rest) != true { try await act(word, rest) }
    }
    for (name, host) in cluster?.hosts ?? [:] { pattern.define(name, as: .string(host)) }
  }

  /// Repeats a request until its response is as expected: `METHOD TARGET [= BODY] EXPECTATION`.
  private func repeats(_ text: String) async throws {
    var words = pattern.filled(text).split(separator: " ").map(String.init)
    let (method, target) = (words.removeFirst(), words.removeFirst())
    let body = words[0] == "=" ? words[1] : nil
    if body != nil { words.removeFirst(2) }
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      do {
        let talk = RESTTalk(port: try await port(), method, target)
        if let body { try await talk.take("=", body, &pattern) }
        return try await talk.take(words[0], words.dropFirst().joined(separator: " "), &pattern)
      } catch let failure as SceneFailure {
        guard .now < deadline else { throw failure }
      }
    }
  }

  private func limit(_ text: String) throws {
    let parts = text.components(separatedBy: " ")
    guard let value = Int(parts[1]) else { throw SceneFailure("a limit is a number") }
    try options.limits.set(parts[0], to: value)
  }

  // MARK: Server

  /// The port of the server, which starts when it is first needed.
  func port() async throws -> Int {
    if server == nil, program == nil, cluster == nil { try await start() }
    return try #require(cluster?.port ?? program?.port ?? server?.port)
  }

  /// The time expected in a greeting, which is unknown where a scene does not set the clock.
  var greetingTime: String {
    host == .library && cluster == nil ? "\(Self.time)" : "\"<any>\""
  }

  private func start() async throws {
    guard host == .library else { return try await startProgram() }
    options.identities.openStore = { [accounts] in accounts }
    options.identities.adjust = adjustAccounts
    let server = try await DatabaseServer.start(
      options,
      stores: MemoryTreeStores(others.merging([options.namespace: store]) { $1 }),
      clock: { [clock] in clock.withLockedValue { $0 } }
    )
    self.server = server
    options.port = server.port
  }

  private func startProgram() async throws {
    let program = try await SceneProgram.start()
    self.program = program
    if case .source(let rules) = options.rules {
      try await program.put(rules, at: "/.settings/rules.json")
    }
    if let data { try await program.put(data, at: "/.json") }
  }

  private func stop() async {
    // A client that has closed need not be waited for.
    for client in clients.values { client.cut() }
    for stream in streams.values { stream.cut() }
    store.become(.works)
    await server?.stop()
    server = nil
    await program?.stop()
    program = nil
  }

  func client(_ word: String) throws -> RawWebSocket {
    let name = word.filter(\.isLetter)
    guard let client = clients[name] else { throw SceneFailure("\(name) is not connected") }
    return client
  }

  private func expect(_ text: String, of name: String, isPartial: Bool = false) async throws {
    let message = try await next(of: name)
    guard pattern.matches(text, message, isPartial: isPartial) else {
      throw SceneFailure("came instead: \(message)")
    }
  }

  private func next(of name: String) async throws -> String {
    if let early = early.removeValue(forKey: name) { return early }
    if let stream = streams[name] { return try await stream.event() }
    if let poller = pollers[name] { return try await poller.next() }
    return try await client(name).next()
  }

  /// Lets a message come next that need not come.
  func allow(_ text: String, of name: String) async throws {
    let message = try await next(of: name)
    if !pattern.matches(text, message) { early[name] = message }
  }
}
