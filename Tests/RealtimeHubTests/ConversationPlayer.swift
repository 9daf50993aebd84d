import RealtimeCore
import TestSupport

@testable import RealtimeServer

/// Plays the lines of a ``Transcript`` to a hub.
///
///     data JSON, rules RULES, limit NAME NUMBER, peers COUNT     how the hub starts
///     > ACTION BODY                   a request of peer 0, whose batch is stored at once (1> of 1)
///     >> ACTION BODY                  a request whose batch is not stored yet (1>> of 1)
///     > {…}                           any message
///     > rules SOURCE, > try SOURCE    rules are set, or only tried; owner SOURCE sets them unasked
///     take, keep, stored N, lost      a batch is taken; the store has it; N are reported; all fail
///     commit, fail                    a batch is taken, and stored or not
///     open N [root|USER], close N, leave N    peers come and go; leave does not store the batch
///     restart [PEERS], resume         a new hub on what is stored
///     wait MS, tick MS                time passes; the timer fires
///     show PATH, revision, pending, ordered, deadline, identity N, rules?, sessions, ledger
///
/// Of what is sent, `< ok {}` is the response to the peer's last request, `< #2 ok {}` to the
/// second of all, `1< d {…}` a push to peer 1; the response to the request itself, which comes after
/// all of them, stands behind it: `> q {…} => ok {}`.
struct ConversationPlayer: TranscriptPlayer {
  private static let limits: [String: any WritableKeyPath<ServerLimits, Int> & Sendable] = [
    "composedBytes": \.composedBytes,
    "disconnectBytes": \.disconnectBytes,
    "disconnectIdentities": \.disconnectIdentities,
    "disconnectWrites": \.disconnectWrites,
    "keptOrderedChildren": \.keptOrderedChildren,
    "keptOrders": \.keptOrders,
    "ledgerClients": \.ledgerClients,
    "listens": \.listens,
    "overdueDisconnects": \.overdueDisconnects,
    "pendingCommits": \.pendingCommits,
    "rememberedRefusals": \.rememberedRefusals,
    "responseBytes": \.responseBytes,
    "unindexedChildren": \.unindexedChildren,
    "updatePlaces": \.updatePlaces,
  ]

  private var dialogue: Dialogue
  private var taken: [CommitBatch] = []
  private var lastRequest = 0
  /// The number of each peer's last request.
  private var requests: [Int: Int] = [:]

  /// Whether a line says how the hub starts.
  static func isStart(_ line: String) -> Bool {
    ["data ", "rules ", "limit ", "peers "].contains { line.hasPrefix($0) }
  }

  init(_ lines: [String]) throws {
    var (data, rules, limits, peers) = ("null", String?.none, ServerLimits(), 1)
    for line in lines where Self.isStart(line) {
      let (word, rest) = Self.divided(line)
      switch word {
      case "data": data = rest
      case "rules": rules = rest == "none" ? nil : rest
      case "peers": peers = Int(rest) ?? 1
      default:
        let (name, number) = Self.divided(rest)
        guard let limit = Self.limits[name], let number = Int(number) else {
          throw Transcript.UnknownLine(text: line)
        }
        limits[keyPath: limit] = number
      }
    }
    dialogue = try Dialogue(data, rules: rules, limits: limits, peers: peers)
  }

  /// Does what a line says, and returns what comes of it.
  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    if let message = line.firstMatch(of: /^(\d*)(>>?) ?(.*)$/) {
      let peer = Int(message.1) ?? 0
      let outputs = request(String(message.3), from: peer)
      let lines = spoken(outputs + (message.2 == ">" ? dialogue.commit() : []))
      let mark = (peer == 0 ? "" : "\(peer)") + "<= "
      guard let last = lines.last, last.hasPrefix(mark) else { return Self.outcome(lines) }
      return Transcript.Outcome(
        lines: lines.dropLast().map { Self.marked($0) },
        answer: String(last.dropFirst(mark.count))
      )
    }
    let (word, rest) = Self.divided(line)
    switch word {
    case "take":
      guard let batch = dialogue.hub.takeBatch() else {
        return Transcript.Outcome(answer: "nothing")
      }
      taken.append(batch)
      return Transcript.Outcome(lines: Self.texts(batch))
    case "keep":
      guard !taken.isEmpty else { throw Transcript.UnknownLine(text: line) }
      dialogue.store(taken.removeFirst())
    case "stored":
      let count = Int(rest) ?? 1
      for batch in taken.prefix(count) { dialogue.store(batch) }
      taken = Array(taken.dropFirst(count))
      return outcome(dialogue.texts(dialogue.hub.batchCommitted(count)))
    case "lost":
      taken = []
      let error = StoreError(.full, description: "the disk is full")
      return outcome(dialogue.texts(dialogue.hub.batchFailed(error, at: dialogue.clock)))
    case "commit": return outcome(dialogue.commit())
    case "fail": return outcome(dialogue.fail())
    case "owner":
      let outputs = dialogue.hub.setRules(try RuleSet(source: rest), at: dialogue.clock)
      return outcome(dialogue.texts(outputs))
    case "open": open(rest)
    case "close": return outcome(dialogue.close(Int(rest) ?? 0))
    case "leave":
      return outcome(dialogue.texts(dialogue.hub.close(PeerID(Int(rest) ?? 0), at: dialogue.clock)))
    case "away":
      let peer = PeerID(Int(rest) ?? 0)
      return outcome(
        dialogue.texts(dialogue.hub.close(peer, at: dialogue.clock, mayReturn: true))
      )
    case "ended": return outcome(ended { $0.server == rest })
    case "age": return outcome(ended(after: Int(rest)) { _ in false })
    case "shut":
      let uid = Self.divided(rest).rest
      let outputs = dialogue.hub.withdrawScheduled(at: dialogue.clock) { $0["uid"]?.string == uid }
      return outcome(dialogue.texts(outputs))
    case "restart":
      taken = []
      dialogue.restart(peers: Int(rest) ?? 1)
    case "resume": dialogue.hub.resume(at: dialogue.clock)
    case "wait": dialogue.clock += Int64(rest) ?? 0
    case "tick": return outcome(dialogue.tick(Int64(rest) ?? 0))
    default: return Transcript.Outcome(answer: try state(word, rest))
    }
    return Transcript.Outcome()
  }

  private mutating func request(_ text: String, from peer: Int) -> [String] {
    lastRequest += 1
    requests[peer] = lastRequest
    let (action, body) = Self.divided(text)
    if action == "rules" || action == "try" {
      let outputs = dialogue.hub.setRules(
        source: body.replacing("\\n", with: "\n"),
        isRehearsal: action == "try",
        by: PeerID(peer),
        request: Int64(lastRequest),
        at: dialogue.clock
      )
      return dialogue.texts(outputs)
    }
    if !body.isEmpty, !text.hasPrefix("{") {
      return dialogue.askUncommitted(lastRequest, action, body, from: peer)
    }
    return dialogue.sayUncommitted(text, from: peer)
  }

  private mutating func open(_ rest: String) {
    let (number, name) = Self.divided(rest)
    let peer = PeerID(Int(number) ?? 0)
    switch name {
    case "": dialogue.hub.open(peer)
    case "root": dialogue.hub.open(peer, as: .administrator)
    case let place where place.hasPrefix("at "):
      let parts = place.dropFirst(3).split(separator: "/").map { String($0) }
      dialogue.hub.open(peer, in: RemoteSession(server: parts[0], name: parts[1]))
    default: dialogue.hub.open(peer, as: .user(.object(("uid", .string(name)))))
    }
  }

  private mutating func ended(
    after checks: Int? = nil,
    where isOver: (RemoteSession) -> Bool
  ) -> [String] {
    dialogue.texts(
      dialogue.hub.endSuspended(at: dialogue.clock, after: checks, where: isOver)
    )
  }

  /// What the hub or its store says about itself.
  private mutating func state(_ word: String, _ rest: String) throws -> String {
    switch word {
    case "show": dialogue.hub.snapshot[Path(wire: rest)].json(.export).canonicalText
    case "back": dialogue.hub.resumeScheduled(of: PeerID(Int(rest) ?? 0)) ? "yes" : "no"
    case "suspended": dialogue.hub.hasSuspended ? "yes" : "no"
    case "revision": "\(dialogue.hub.revision)"
    case "pending": dialogue.hub.hasPendingCommits ? "yes" : "no"
    case "ordered": "\(dialogue.hub.listens.cache.visited)"
    case "deadline": dialogue.hub.access.nextDeadline.map { "\($0)" } ?? "none"
    case "rules?":
      Self.flat(dialogue.hub.rulesInForce.source) + " stored "
        + Self.flat(dialogue.stored.rules ?? "none")
    case "identity":
      switch dialogue.hub.identity(of: PeerID(Int(rest) ?? 0)) {
      case .anonymous: "nobody"
      case .administrator: "root"
      case .user(let auth): auth?["uid"]?.string ?? "?"
      case nil: "unknown"
      }
    case "sessions":
      dialogue.stored.sessions.isEmpty
        ? "none"
        : dialogue.stored.sessions.map { session in
          let changes = session.changes.map { "\($0.path) \($0.node.json(.export).canonicalText)" }
          return ([session.identity.uid ?? "-"] + changes).joined(separator: " ")
        }.joined(separator: ", ")
    case "ledger": dialogue.stored.ledger.map { Self.text($0) }.joined(separator: ", ")
    default: throw Transcript.UnknownLine(text: word)
    }
  }

  // MARK: Texts

  private static func divided(_ line: String) -> (word: String, rest: String) {
    let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  private static func texts(_ batch: CommitBatch) -> [String] {
    let commits = batch.commits.map { commit in
      let changes = commit.changes.map { "\($0.path) \($0.node.json(.export).canonicalText)" }
      return "= \(commit.revision): " + changes.joined(separator: ", ")
    }
    return commits + batch.ledger.map { "= ledger " + text($0) }
      + batch.sessions.map { "= session of \($0.session.identity.uid ?? "-")" }
      + (batch.rules.map { ["= rules " + flat($0)] } ?? [])
  }

  private static func flat(_ source: String) -> String { source.replacing("\n", with: "\\n") }

  private static func text(_ entry: LedgerEntry) -> String {
    let refused = entry.refused.runs.map { run in
      " \(run.numbers.lowerBound)-\(run.numbers.upperBound) \(run.status)"
    }
    return "\(entry.client) \(entry.upTo)" + refused.joined()
  }

  /// Outputs as a conversation has them.
  private func outcome(_ outputs: [String]) -> Transcript.Outcome {
    Self.outcome(spoken(outputs))
  }

  private static func outcome(_ lines: [String]) -> Transcript.Outcome {
    Transcript.Outcome(lines: lines.map { marked($0) })
  }

  /// A line with the ordinary mark for all that is sent.
  private static func marked(_ line: String) -> String {
    line.replacing(#/^(\d*)<= /#) { "\($0.1)< " }
  }

  /// Outputs as lines; the response to a peer's last request is marked `<=`.
  private func spoken(_ outputs: [String]) -> [String] {
    outputs.map { output in
      let match = output.firstMatch(of: #/^(\d+): /#)
      let peer = match.flatMap { Int($0.1) } ?? 0
      let text = match.map { String(output[$0.range.upperBound...]) } ?? output
      return (match.map { String($0.1) } ?? "") + spoken(text, to: peer)
    }
  }

  private func spoken(_ text: String, to peer: Int) -> String {
    guard let message = try? JSONParser.parse(text)["d"], let body = message["b"] else {
      return "< " + text
    }
    if let action = message["a"]?.string { return "< \(action) \(body.canonicalText)" }
    guard let status = body["s"]?.string, let data = body["d"], let id = message["r"] else {
      return "< " + text
    }
    let isLast = id.text == requests[peer].map { "\($0)" }
    return (isLast ? "<= " : "< #\(id.text) ") + status + " " + data.canonicalText
  }
}
