import RealtimeCore

/// A client that has left is removed once for each connection, and a client that is online is
/// listed.
struct PresenceLedger: Invariant {
  static let promises: [Promise] = [.i10, .g8]
  static let statement = "a user who leaves disappears once and in time, nobody else"

  private struct Removal {
    let seen: Moment
    let revision: Int64
  }

  let evidence: Evidence
  var findings: Findings
  private var removals: [String: [Removal]] = [:]
  /// The ends of the server, during which no entry can disappear.
  private var crashes: [Period] = []

  init(evidence: Evidence, findings: Findings) {
    self.evidence = evidence
    self.findings = findings
  }

  mutating func observe(_ step: Step) {
    guard step.changes.contains(where: { $0.path.isRoot || $0.path.first == .presence }) else {
      return
    }
    for (uid, terminals) in step.before[.presence].entries {
      for terminal in terminals.keys
      where step.after[Path([.presence, uid, terminal])].isEmpty {
        removals["\(uid)/\(terminal)", default: []].append(
          Removal(seen: step.seen, revision: step.revision)
        )
      }
    }
  }

  mutating func observeCrash(_ crash: Standstill) { crashes.append(crash.period) }

  mutating func conclude() {
    let clients = evidence.history.clients.filter { $0.header.presence != nil }
    for client in clients {
      guard let key = client.header.presence else { continue }
      checkEnd(of: client, key)
      checkKills(of: client, key)
      let ends = client.lives + client.lines.count { $0.event == .connection(isUp: false) }
      let count = removals[key]?.count ?? 0
      findings.expect(
        // The server removes the entry at each end of a connection, and the client may do so as
        // well.
        count <= ends + crashes.count,
        at: "/presence/\(key)",
        otherwise:
          "it disappeared \(Words.count(count, "time")), though connections ended "
          + Words.count(ends, "time")
      )
    }
    checkStrangers(clients)
  }

  /// Checks that no client is listed under a name that it never had.
  ///
  /// Terminals that watch have no history, and may be listed.
  private mutating func checkStrangers(_ clients: [ClientHistory]) {
    let known = Set(clients.compactMap(\.header.presence))
    let uids = Set(clients.map(\.header.uid))
    for (uid, terminals) in evidence.finalRoot[.presence].entries where uids.contains(uid.text) {
      for terminal in terminals.keys where !known.contains("\(uid)/\(terminal)") {
        let path = Path([.presence, uid, terminal])
        let model = evidence.model
        findings.expect(
          !model.initial[path].isEmpty || model.isAdministered(path),
          at: "\(path)",
          otherwise: "a client is listed that never connected"
        )
      }
    }
  }

  /// Compares the list at the end with whether the client is still present.
  private mutating func checkEnd(of client: ClientHistory, _ key: String) {
    let isListed = !evidence.finalRoot[Path([.presence])][Path(wire: key)].isEmpty
    let last = evidence.history.clients.compactMap(\.lines.last?.time).max()
    let ended = client.hasEnded ? client.lines.last?.time : lastKill(of: client)
    if let ended {
      let isDue = last.map { $0.since(ended) >= evidence.options.absence } ?? false
      findings.expect(
        !isListed || !(isDue || client.hasEnded),
        at: "/presence/\(key)",
        otherwise: "\(client.header.client) has ended, and is still listed"
      )
    } else if client.isConnected {
      findings.expect(
        isListed,
        at: "/presence/\(key)",
        otherwise: "\(client.header.client) is not listed"
      )
    }
  }

  /// When the client was last killed, unless it was started again.
  private func lastKill(of client: ClientHistory) -> Moment? {
    guard let kill = kills(of: client).last else { return nil }
    let isStarted = client.lines.contains { line in
      if case .started = line.event { line.time > kill } else { false }
    }
    return isStarted ? nil : kill
  }

  private func kills(of client: ClientHistory) -> [Moment] {
    let name = client.header.client
    return evidence.history.driver?.lines.filter {
      $0.event == .fault(name: "kill", target: name, isOver: false)
    }.map(\.time) ?? []
  }

  /// Checks that the entry disappeared soon after each kill, unless the client or the server
  /// restarted.
  private mutating func checkKills(of client: ClientHistory, _ key: String) {
    for kill in kills(of: client) {
      guard let removal = removals[key]?.first(where: { $0.seen >= kill }) else { continue }
      let isDisturbed =
        crashes.contains { ($0.end ?? kill) >= kill && ($0.start ?? kill) <= removal.seen }
        || client.lines.contains { line in
          if case .started = line.event {
            line.time > kill && line.time < removal.seen
          } else {
            false
          }
        }
      guard !isDisturbed else { continue }
      findings.expect(
        removal.seen.since(kill) <= evidence.options.absence,
        at: "revision \(removal.revision)",
        otherwise:
          "\(client.header.client) was listed \(removal.seen.since(kill)) after it was killed"
      )
    }
  }
}

extension ClientHistory {
  /// Whether the last connection event of the client's process is that it connected.
  fileprivate var isConnected: Bool {
    for line in lines.reversed() {
      if case .connection(let isUp) = line.event { return isUp }
      if case .started = line.event { return false }
    }
    return false
  }
}
