import RealtimeTransport

/// A fault that is injected into a swarm from outside.
package enum FaultKind: String, CaseIterable, Codable, Sendable {
  case drop
  /// Of several servers, only one is late, on every other connection.
  case delay
  case partition
  case kill
  case pause
  case duplicate
  case serverKill = "server-kill"
  case slow
  case clock
  case diskFull = "disk-full"
  case rules
  case hostile
  case freeze
  case postgres

  /// The effect of the fault, in a sentence.
  var meaning: String {
    switch self {
    case .drop: "What the server sends is lost for a while, then the connection ends."
    case .delay: "Everything arrives late."
    case .partition: "Connections end, and no new one is let in for a while."
    case .kill: "A client is killed and started again."
    case .pause: "A client is stopped in its tracks and goes on later."
    case .duplicate: "All that a client has sent is sent again on another connection."
    case .serverKill: "The server is killed and started again."
    case .slow: "A client takes what it is sent only slowly."
    case .clock: "The clock of a client jumps."
    case .diskFull: "The server cannot write to its disk."
    case .rules: "Comments are forbidden for a while."
    case .hostile: "Texts arrive that are made to break screens."
    case .freeze: "One of several servers is stopped for longer than its lease."
    case .postgres: "The PostgreSQL of the servers is restarted."
    }
  }

  /// Whether the fault needs a server that belongs to the swarm.
  var needsOwnServer: Bool {
    switch self {
    case .serverKill, .diskFull, .rules, .hostile, .freeze, .postgres: true
    case .drop, .delay, .partition, .kill, .pause, .duplicate, .slow, .clock: false
    }
  }

  /// Whether the fault needs a network between the clients and the server.
  var needsNetwork: Bool {
    switch self {
    case .drop, .delay, .partition, .duplicate, .slow: true
    case .kill, .pause, .serverKill, .clock, .diskFull, .rules, .hostile, .freeze, .postgres: false
    }
  }

  /// Whether the fault affects a server, rather than a client, where there are several servers.
  var concernsSeveralServers: Bool {
    switch self {
    case .kill, .partition, .delay, .freeze, .postgres: true
    case .drop, .pause, .duplicate, .serverKill, .slow, .clock, .diskFull, .rules, .hostile: false
    }
  }

  /// Why the fault cannot be injected into this many servers of the swarm; nil if it can.
  package func obstacle(atServers count: Int) -> String? {
    switch self {
    case .freeze, .postgres: count > 1 ? nil : "needs several servers (--servers)"
    case .drop, .duplicate, .slow, .serverKill, .diskFull:
      count > 1 ? "is done to one server only" : nil
    case .partition, .delay, .kill, .pause, .clock, .rules, .hostile: nil
    }
  }

  /// Why the fault cannot be injected at an existing database; nil if it can.
  package func obstacle(at database: SwarmDatabase) -> String? {
    if needsOwnServer { return "needs a server of the swarm's own" }
    if needsNetwork, database.isHosted {
      return "needs a server that does not send its clients to other hosts"
    }
    if self == .duplicate, database.target.isSecure {
      return "needs connections without encryption, since no other can be repeated"
    }
    return nil
  }

  /// Parses a list such as `drop,delay`; `all` and `none` are valid lists as well.
  ///
  /// - Returns: Each kind once, in the order of declaration.
  /// - Throws: ``SwarmProblem`` that names the unknown fault.
  package static func list(_ text: String) throws(SwarmProblem) -> [FaultKind] {
    if text == "all" { return allCases }
    if text == "none" || text.isEmpty { return [] }
    var kinds: Set<FaultKind> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let kind = FaultKind(rawValue: String(name)) else {
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        throw SwarmProblem("\"\(name)\" is not a fault: there are \(names), all and none")
      }
      kinds.insert(kind)
    }
    return allCases.filter(kinds.contains)
  }
}

/// A mistake that is made in a run on purpose, to check that it is detected.
package enum InjectedBug: String, CaseIterable, Codable, Sendable {
  /// An acknowledged comment disappears.
  case lostWrite = "lost-write"
  /// A comment is applied twice.
  case doubleApply = "double-apply"
  /// Only one path of a two-path update is written.
  case halfUpdate = "half-update"
  /// Two comments by one author are swapped.
  case reorderedComments = "reordered-comments"
  /// An amount that was added to a number is missing from it.
  case lostIncrement = "lost-increment"
  /// A star count differs from the number of stars.
  case countDrift = "count-drift"
  /// A comment exists that nobody wrote.
  case phantomComment = "phantom-comment"
  /// A client shows an older state after a newer one.
  case staleRead = "stale-read"
  /// A read at one of several servers returns what was there before the reader's own write.
  case oldRead = "old-read"
  /// A client no longer shows one of its own comments.
  case forgottenComment = "forgotten-comment"
  /// A client no longer follows changes.
  case divergingView = "diverging-view"
  /// A user who has left is still shown as present.
  case stuckPresence = "stuck-presence"
  /// A refused write takes effect anyway.
  case deniedWrite = "denied-write"
  /// The server's memory keeps growing.
  case unboundedMemory = "unbounded-memory"
}
