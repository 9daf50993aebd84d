import RealtimeCore
import TestSupport

@testable import HearthLab

/// Plays the lines of a ``Transcript`` to a ``Scenario``, and has the checker judge what comes of it.
///
///     run sound|watched|copies [STRATEGY]      what has happened before
///     CLIENT posts KEY, comments KEY on POST, stars POST, unstars POST, deletes POST, adds N to PATH
///     begin NAME CLIENT star|unstar POST, begin NAME CLIENT {…}     an operation, as histories have it
///     answer NAME [JSON], answer NAME refused|unknown REASON        its end
///     commit {"PATH":JSON,…}, commit star|unstar CLIENT POST [half|rest]    rest is what half left out
///     read CLIENT PLACE [=NAME|JSON] [at SERVER]    what is there, or something else; - is no server
///     keep NAME PLACE                               remembers the data there
///     show CLIENT POST, show CLIENT comments on POST [KEY…], shown CLIENT POST COUNT STARS
///     shown … mine|theirs [VERSION]                 with one's own star or not, of a state by its hash
///     hold, release, deliver CLIENT                 clients are not told of commits; they are; one is
///     tell CLIENT PLACE [=NAME|JSON], retell CLIENT PLACE [=NAME|JSON]
///     note CLIENT {…}, add CLIENT [PRESENCE]        an event, as histories have it; another client
///     crash, wait SECONDS, drop, jump, frozen       the observer misses a commit; sees no more data
///     option NAME NUMBER, rules JSON
///     again                                         everything so far is forgotten
///     check, evidence PROMISE, count PROMISE, checked PROMISE, gaps    the judgement
struct HistoryPlayer: TranscriptPlayer {
  private let base: Scenario
  private let finishing: [String]
  private var run: Scenario
  private var operations: [String: (client: String, number: Int64)] = [:]
  private var kept: [String: Node] = [:]

  static func isStart(_ line: String) -> Bool { line.hasPrefix("run ") }

  init(_ lines: [String]) throws {
    let words = (lines.last { Self.isStart($0) } ?? "").split(separator: " ").map { String($0) }
    let strategy = words.count > 2 ? HistoryHeader.Strategy(rawValue: words[2]) : .increment
    guard words.count > 1, let strategy else {
      throw Transcript.UnknownLine(text: words.joined(separator: " "))
    }
    switch words[1] {
    case "sound": (base, finishing) = (Sound.run(strategy), ["ann", "bob"])
    case "watched": (base, finishing) = (Self.watched, ["cem"])
    case "copies": (base, finishing) = (Self.copies, ["bob", "dan"])
    default: throw Transcript.UnknownLine(text: words.joined(separator: " "))
    }
    run = base
  }

  /// Cem watches and writes nothing, while Ann and Bob write two posts.
  private static var watched: Scenario {
    var run = Scenario("ann", "bob", "cem")
    run.look("cem")
    run.wait(.seconds(9))
    write(&run)
    run.wait(.seconds(9))
    return run
  }

  /// Ann and Bob write two posts; Bob and Dan listen, Cem only reads.
  ///
  /// The tolerances are those of several servers.
  private static var copies: Scenario {
    var run = Scenario("ann", "bob", "cem", "dan")
    run.options.echo = .seconds(25)
    run.options.freshness = .seconds(25)
    for client in ["bob", "dan"] { run.look(client) }
    run.wait(.seconds(30))
    write(&run)
    return run
  }

  private static func write(_ run: inout Scenario) {
    run.post("ann", "-p1")
    run.post("bob", "-p2")
    run.star("ann", "-p2")
    run.comment("bob", "-q1", on: "-p1")
  }

  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    let (word, rest) = line.divided
    if let answer = try judgement(word, rest) { return Transcript.Outcome(answer: answer) }
    let (first, more) = rest.divided
    let (second, last) = more.divided
    switch word {
    case "begin":
      let number = run.invoke(second, try intent(last))
      operations[first] = (second, number)
    case "answer":
      guard let operation = operations[first] else { throw Transcript.UnknownLine(text: line) }
      run.answer(operation.client, operation.number, try outcome(second, last))
    case "commit": run.commit(try changes(rest))
    case "read":
      let parts = more.split(separator: " at ", maxSplits: 1).map { String($0) }
      let (place, data) = parts[0].divided
      let server = parts.count > 1 ? (parts[1] == "-" ? nil : parts[1]) : "server1"
      run.read(first, place, at: server, try node(data))
    case "keep": kept[first] = run.root[Path(wire: second)]
    case "show": show(first, more)
    case "shown":
      let numbers = last.split(separator: " ")
      guard let count = Int(numbers[0]), let stars = Int(numbers[1]) else {
        throw Transcript.UnknownLine(text: line)
      }
      let isMine = numbers.count > 2 && numbers[2] == "mine"
      let version = numbers.count > 3 ? String(numbers[3]) : nil
      run.show(
        first,
        .post(second, starCount: count, stars: stars, isMine: isMine, version: version)
      )
    case "hold": run.isHeldBack = true
    case "release": run.isHeldBack = false
    case "deliver": run.deliver(first)
    case "tell", "retell": run.tell(first, second, try node(last), isAgain: word == "retell")
    case "note": run.note(first, try HistoryEvent(JSONFields(JSONParser.parse(more))))
    case "add": run.add(.make(first, presence: more.isEmpty ? nil : more))
    case "crash": run.crash()
    case "wait": run.wait(.seconds(Int(first) ?? 0))
    case "drop": run.dropCommit()
    case "jump": run.jump()
    case "frozen": run.finalRoot = run.root
    case "option": try set(first, try Self.number(second))
    case "rules": run.rules = [rest]
    case "again": (run, operations, kept) = (base, [:], [:])
    default: try act(word, first, second, last)
    }
    return Transcript.Outcome()
  }

  /// What a client does from its beginning to its end.
  private mutating func act(
    _ client: String,
    _ verb: String,
    _ object: String,
    _ rest: String
  ) throws {
    let last = rest.divided.rest
    switch verb {
    case "posts": run.post(client, object)
    case "comments": run.comment(client, object, on: last)
    case "stars": run.star(client, object)
    case "unstars": run.star(client, object, false)
    case "deletes": run.delete(client, post: object)
    case "adds": run.increment(client, last, by: try Self.number(object))
    default: throw Transcript.UnknownLine(text: "\(client) \(verb)")
    }
  }

  private mutating func show(_ client: String, _ rest: String) {
    let words = rest.split(separator: " ").map { String($0) }
    if words[0] != "comments" {
      run.show(client, post: words[0])
    } else if words.count == 3 {
      run.show(client, commentsOn: words[2])
    } else {
      let content = Showing.Content.comments(post: words[2], keys: Array(words.dropFirst(3)))
      run.show(client, content, view: "comments/\(words[2])")
    }
  }

  private mutating func set(_ option: String, _ number: Int64) throws {
    switch option {
    case "absence": run.options.absence = .seconds(number)
    case "residentBytes": run.options.residentBytes = number
    case "descriptors": run.options.descriptors = Int64(number)
    case "p99": run.options.p99 = .milliseconds(number)
    default: throw Transcript.UnknownLine(text: option)
    }
  }

  // MARK: The judgement

  private func judgement(_ word: String, _ rest: String) throws -> String? {
    guard ["check", "evidence", "count", "checked", "gaps"].contains(word) else { return nil }
    var run = run
    for client in finishing { run.finish(client) }
    let report = try run.check()
    let lines = report.lines.filter { $0.promises.contains { $0.name == rest } }
    switch word {
    case "check":
      let violated = Set(report.lines.filter { $0.violationCount > 0 }.flatMap(\.promises))
      let broken = Promise.allCases.filter(violated.contains).map(\.name)
      return broken.isEmpty ? "held" : broken.joined(separator: " ")
    case "evidence":
      return lines.lazy.flatMap(\.violations).first?.description
        .replacing("\n", with: "; ") ?? "none"
    case "count": return "\(lines.reduce(0) { $0 + $1.violationCount })"
    case "checked": return "\(lines.reduce(0) { $0 + $1.checked })"
    default: return "\(report.activity.gaps)"
    }
  }

  // MARK: Texts

  private static func number(_ text: String) throws -> Int64 {
    guard let number = Int64(text) else { throw Transcript.UnknownLine(text: text) }
    return number
  }

  /// Data that was kept, or JSON; nil if there is none.
  private func node(_ text: String) throws -> Node? {
    if text.isEmpty { return nil }
    guard text.hasPrefix("=") else { return try Node(json: JSONParser.parse(text)) }
    guard let node = kept[String(text.dropFirst())] else {
      throw Transcript.UnknownLine(text: text)
    }
    return node
  }

  private func intent(_ text: String) throws -> Intent {
    if text.hasPrefix("{") { return try Intent(JSONFields(JSONParser.parse(text))) }
    let (verb, post) = text.divided
    switch verb {
    case "star": return .star(post: post)
    case "unstar": return .unstar(post: post)
    default: throw Transcript.UnknownLine(text: text)
    }
  }

  private func outcome(_ word: String, _ rest: String) throws -> HearthLab.Outcome {
    switch word {
    case "": .ok(nil)
    case "refused": .refused(rest)
    case "unknown": .unknown(rest)
    case _ where word.hasPrefix("="): .ok(try node(word)?.json(.value))
    default: .ok(try JSONParser.parse(word))
    }
  }

  private func changes(_ text: String) throws -> [(String, JSONValue)] {
    if text.hasPrefix("{") {
      return try JSONParser.parse(text).members?.map { ($0.name, $0.value) } ?? []
    }
    let words = text.split(separator: " ").map { String($0) }
    let all = run.starring(words[1], words[2], words[0] == "star")
    guard words.count > 3 else { return all }
    return Array(words[3] == "half" ? all.prefix(2) : all.suffix(2))
  }
}

extension String {
  /// The first word, and what follows it.
  fileprivate var divided: (word: String, rest: String) {
    let parts = split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }
}
