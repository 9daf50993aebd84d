import OfflineTestSupport
import RealtimeCore
import TestSupport

@testable import RealtimeDatabase

/// Plays the lines of a ``Transcript`` to a client engine, as its program, its server and its clock.
///
///     store, setting NAME NUMBER, ephemeral KEY   how the engine starts: with a store, settings
///     begin [once], load PATH JSON [QUERY]     a new connection, and a listener whose listen is
///                                              answered; what comes of these is not shown
///     connect [once] [at MS]                   it is greeted; the server offers write-once keys
///     lose, refuse ID, offline, online, probe  connections end; the program asks
///     observe PATH [QUERY] [KIND]              a listener; stop N ends listener N
///     keep PATH [QUERY], unkeep PATH [QUERY]   data is kept synced, or not any more
///     get PATH [QUERY]                         a read
///     set PATH JSON, update PATH JSON          writes; schedule and reschedule do so on disconnect
///     cancel PATH, purge                       scheduled writes, or all that is not answered, end
///     transact PATH FUNCTION                   increment, same, abort, write JSON, mark KEY JSON, or
///                                              raise JSON, which aborts unless the data is JSON;
///                                              hidden PATH FUNCTION does not apply it locally
///     user [NAME], token TEXT                  who writes, and what proves it
///     d {…}, m {…}, rm {…}, c {…}, ac {…}      pushes of the server
///     answer ID [STATUS [JSON]]                a response; pong, progress, {…} any message
///     greet ID HOST, redirect HOST [ID], from ID {…}    messages on another connection
///     wait MS, pass MS [pongs], fire TIMER     the clock; pass fires the timers that are due
///     size N, restart                          the store's size; the next process on the store
///     damage PATH CHILD JSON                   the stored data changes behind the engine's back
///     phase, silent, pending, current, known PATH, looks, stored, reads, reasons, offset, now
///
/// `<` marks what is sent, `=` what the program is told; `*3` stands behind what comes three times.
struct EnginePlayer: TranscriptPlayer {
  private static let settings: [String: any WritableKeyPath<RepoConfiguration, Int64> & Sendable] =
    [
      "longestPause": \.maximumReconnectDelay,
      "longestRetry": \.maximumTransactionRetryDelay,
      "offlineBytes": \.offlineBytes,
      "retry": \.transactionRetryDelay,
    ]

  private let configure: (inout RepoConfiguration) -> Void
  private var engine: CoreDriver
  private var store: MemoryOfflineStore?
  private var process = 1
  private var told = 0

  static func isStart(_ line: String) -> Bool {
    line == "store" || line.hasPrefix("ephemeral ") || line.hasPrefix("setting ")
  }

  init(_ lines: [String]) throws {
    let settings = lines.filter { $0.hasPrefix("setting ") }.map { $0.split(separator: " ") }
    for setting in settings
    where setting.count != 3 || Self.setting(String(setting[1]), Int64(setting[2])) == nil {
      throw Transcript.UnknownLine(text: setting.joined(separator: " "))
    }
    let ephemeral = lines.filter { $0.hasPrefix("ephemeral ") }
      .map { ChildKey(String($0.dropFirst(10))) }
    configure = { configuration in
      for setting in settings {
        Self.setting(String(setting[1]), Int64(setting[2]))?(&configuration)
      }
      configuration.ephemeral = Set(ephemeral)
    }
    engine = CoreDriver(configure: configure)
    if lines.contains("store") { start(on: MemoryOfflineStore()) }
  }

  private static func setting(
    _ name: String,
    _ number: Int64?
  ) -> ((inout RepoConfiguration) -> Void)? {
    guard let number else { return nil }
    switch name {
    case "tries": return { $0.transactionTries = Int(number) }
    case "queries": return { $0.offlineQueries = Int(number) }
    case "getDeadline": return { $0.getDeadline = number }
    case "jitter": return { $0.reconnectJitter = Double(number) }
    case "spares": return { $0.opensSpares = number == 1 }
    case "follows": return { $0.followsServerHost = number == 1 }
    default: return settings[name].map { path in { $0[keyPath: path] = number } }
    }
  }

  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    let (word, rest) = Self.divided(line)
    if let answer = try state(word, rest) {
      return Transcript.Outcome(answer: SceneText.shortened(answer))
    }
    switch word {
    case "begin":
      engine.lose()
      engine.connect(rest == "once" ? [.writeOnce] : [])
    case "load":
      let parts = rest.split(separator: " ", maxSplits: 2).map { String($0) }
      let query = try Self.query(parts.count > 2 ? parts[2] : "")
      try engine.observe(Path(wire: parts[0]), query, answered: parts[1])
    case _ where try call(word, rest): break
    case _ where try hear(word, rest, line): break
    case "wait":
      let milliseconds = try Self.number(rest)
      engine.time.monotonic += milliseconds
      engine.time.wall += milliseconds
    case "pass":
      let (time, pongs) = Self.divided(rest)
      let milliseconds = try Self.number(time)
      if pongs == "pongs" { engine.passWithPongs(milliseconds) } else { engine.pass(milliseconds) }
    case "fire": engine.feed(.timerFired(try timer(rest)))
    case "size": engine.feed(.storeSize(try Self.number(rest)))
    case "restart": restart()
    case "damage": try damage(rest)
    default: throw Transcript.UnknownLine(text: line)
    }
    let outputs = engine.outputs.dropFirst(told)
    for case .persist(let changes) in outputs { store?.perform(changes) }
    let lines = outputs.compactMap(\.text)
    told = engine.outputs.count
    if word == "begin" || word == "load" { return Transcript.Outcome() }
    return Transcript.Outcome(lines: Self.counted(lines.map { SceneText.shortened($0) }))
  }

  // MARK: The program

  /// Does what a program asks of the engine; false if the line is no such call.
  private mutating func call(_ word: String, _ rest: String) throws -> Bool {
    let (place, argument) = Self.divided(rest)
    let path = Path(wire: place)
    switch word {
    case "offline": engine.feed(.goOffline(.user))
    case "online": engine.feed(.goOnline(.user))
    case "probe": engine.feed(.probe)
    case "observe":
      let (query, kind) = argument.hasPrefix("{") ? Self.divided(argument) : ("", argument)
      let kinds = DataEventType.inOrder.filter { kind.isEmpty || "\($0)" == kind }
      _ = engine.observe(path, try Self.query(query), Set(kinds))
    case "stop": engine.feed(.stopObserving(ListenerID(try Self.number(rest))))
    case "keep", "unkeep":
      engine.feed(.keepSynced(path: path, query: try Self.query(argument), word == "keep"))
    case "get": engine.feed(.get(engine.token(), path: path, query: try Self.query(argument)))
    case "set", "update":
      engine.feed(.write(engine.token(), path: path, try Self.operation(word, argument)))
    case "schedule", "reschedule":
      let operation = try Self.operation(word == "schedule" ? "set" : "update", argument)
      engine.feed(.onDisconnect(engine.token(), path: path, operation))
    case "cancel": engine.feed(.cancelOnDisconnect(engine.token(), path: path))
    case "transact", "hidden":
      let function = try Self.function(argument)
      engine.transact(path, appliesLocally: word == "transact", function)
    case "purge": engine.feed(.purgeOutstandingWrites)
    case "user": engine.feed(.actAs(user: rest.isEmpty ? nil : rest))
    case "token": engine.feed(.authenticate(ClientRequest.Authentication(credential: rest)))
    default: return false
    }
    return true
  }

  /// The function of a transaction.
  private static func function(_ text: String) throws -> TransactionUpdate {
    let (name, rest) = divided(text)
    switch name {
    case "increment": return increment
    case "same": return { .commit($0) }
    case "abort": return { _ in .abort }
    case "write":
      let node = try node(rest)
      return { _ in .commit(node) }
    case "mark":
      let (key, json) = divided(rest)
      let node = try node(json)
      return { .commit($0.setting(ChildKey(key), to: node)) }
    case "raise":
      let node = try node(rest)
      return { $0 == node ? increment($0) : .abort }
    default: throw Transcript.UnknownLine(text: text)
    }
  }

  // MARK: The server and the network

  /// Passes the engine what comes from the network; false if the line is no such message.
  private mutating func hear(_ word: String, _ rest: String, _ line: String) throws -> Bool {
    let (first, second) = Self.divided(rest)
    switch word {
    case "connect":
      let at = rest.firstMatch(of: /at (\d+)/).flatMap { Int64($0.1) }
      engine.connect(rest.hasPrefix("once") ? [.writeOnce] : [], timestamp: at)
    case "lose": engine.lose()
    case "refuse":
      engine.feed(.transportClosed(ConnectionID(try Self.number(rest)), reason: "refused"))
    case "d", "m", "rm", "c", "ac", "zz":
      engine.receive(try Self.message(#"{"t":"d","d":{"a":"\#(word)","b":\#(rest)}}"#))
    case "answer":
      let (status, json) = Self.divided(second)
      let data = json.isEmpty ? #""""# : json
      let body = #"{"s":"\#(status.isEmpty ? "ok" : status)","d":\#(data)}"#
      engine.receive(try Self.message(#"{"t":"d","d":{"r":\#(first),"b":\#(body)}}"#))
    case "pong": engine.receive(.pong)
    case "progress":
      if let id = engine.core.connection.current { engine.feed(.transportProgress(id)) }
    case "greet":
      let hello = ServerHello(timestamp: 0, host: second, session: "t", extensions: [.writeOnce])
      engine.feed(.message(ConnectionID(try Self.number(first)), .hello(hello)))
    case "redirect":
      if second.isEmpty {
        engine.receive(.reset(host: first))
      } else {
        engine.feed(.message(ConnectionID(try Self.number(second)), .reset(host: first)))
      }
    case "from":
      engine.feed(.message(ConnectionID(try Self.number(first)), try Self.message(second)))
    case _ where line.hasPrefix("{"): engine.receive(try Self.message(line))
    default: return false
    }
    return true
  }

  private func timer(_ text: String) throws -> RepoTimer {
    let (name, rest) = Self.divided(text)
    switch name {
    case "reconnect": return .reconnect
    case "connectTimeout": return .connectTimeout
    case "keepalive": return .keepalive
    case "deadline": return .getDeadline(RequestToken(try Self.number(rest)))
    case "retry": return .transactionRetry(Path(wire: rest))
    default: throw Transcript.UnknownLine(text: text)
    }
  }

  /// Ends the process and starts the next one a minute later on the same store.
  private mutating func restart() {
    process += 1
    engine.time.wall += 60_000
    start(on: MemoryOfflineStore(store?.model ?? OfflineModel()))
    told = 0
  }

  private mutating func start(on store: MemoryOfflineStore) {
    self.store = store
    let (name, configure) = ("p\(process)", configure)
    let time = engine.time
    engine = CoreDriver {
      configure(&$0)
      $0.clientID = name
    }
    engine.time = time
    engine.core.restore(store.model.state) { store.data(of: $0) }
  }

  private func damage(_ rest: String) throws {
    let (path, change) = Self.divided(rest)
    let (child, json) = Self.divided(change)
    let node = try Self.node(json)
    for query in store?.model.queries.values.filter({ $0.path == Path(wire: path) }) ?? [] {
      store?.perform([.update(query: query.id, Change(Path(wire: child), to: node))])
    }
  }

  // MARK: Texts

  private mutating func state(_ word: String, _ rest: String) throws -> String? {
    switch word {
    case "phase":
      switch engine.core.phase {
      case .interrupted: "interrupted"
      case .waiting(let until): "waiting until \(until)"
      case .connecting(let id): "connecting \(id.number)"
      case .connected(let id): "connected \(id.number)"
      }
    case "silent": engine.core.silentSince.map { "\($0)" } ?? "no"
    case "pending": "\(engine.core.pendingWriteCount)"
    case "current": engine.core.isCurrent ? "yes" : "no"
    case "known":
      engine.core.cachedValue(at: Path(wire: rest), query: .all)?.json(.export).text ?? "nothing"
    case "looks": "\(engine.looks)"
    case "reads": "\(store?.reads ?? 0)"
    case "reasons": engine.core.interruptReasons.map { "\($0)" }.sorted().joined(separator: ", ")
    case "offset": "\(engine.core.serverTimeOffset)"
    case "now": "\(engine.time.monotonic)"
    case "stored": stored
    default: nil
    }
  }

  /// The content of the store: queries in order of their paths, and writes.
  private var stored: String {
    guard let model = store?.model else { return "no store" }
    let data = model.queries.values.map { query in
      let name = query.query == .all ? "" : " \(query.query.id)"
      let node = model.data[query.id]?.json(.export).text ?? "nothing"
      return "\(query.path)\(name) \(node)" + (query.isComplete ? "" : " incomplete")
    }
    let writes = model.state.writes.map { "write \($0.key.wireText) \($0.path)" }
    return data.isEmpty && writes.isEmpty
      ? "nothing" : (data.sorted() + writes).joined(separator: ", ")
  }

  /// Equal lines that follow each other, as one.
  private static func counted(_ lines: [String]) -> [String] {
    lines.reduce(into: [(line: String, count: Int)]()) { all, line in
      if all.last?.line == line { all[all.count - 1].count += 1 } else { all.append((line, 1)) }
    }.map { $0.count == 1 ? $0.line : "\($0.line) *\($0.count)" }
  }

  private static func divided(_ line: String) -> (word: String, rest: String) {
    let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  private static func number(_ text: String) throws -> Int64 {
    guard let number = Int64(text) else { throw Transcript.UnknownLine(text: text) }
    return number
  }

  private static func node(_ json: String) throws -> Node { try Node(json: JSONParser.parse(json)) }

  /// A query in its wire form.
  private static func query(_ json: String) throws -> Query {
    json.isEmpty ? .all : try Query(json: JSONParser.parse(json))
  }

  private static func operation(_ word: String, _ json: String) throws -> WriteOperation {
    word == "set" ? .set(try node(json)) : .merge(try Change.update(json: JSONParser.parse(json)))
  }

  private static func message(_ text: String) throws -> ServerMessage {
    try ServerMessage(decoding: Array(text.utf8))
  }
}
