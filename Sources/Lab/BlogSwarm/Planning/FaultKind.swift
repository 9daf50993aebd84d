import RealtimeTransport

/// A fault that is injected into a swarm from outside.
package enum FaultKind: String, CaseIterable, Codable, Sendable {
  /// What the server sends is lost for a while, acknowledgements with it; then the connection ends.
  case drop
  /// Everything arrives late.
  case delay
  /// Connections end, and no new one is let in for a while.
  case partition
  /// A client is killed and started again.
  case kill
  /// A client is stopped in its tracks and goes on later.
  case pause
  /// All that a client has sent on a connection is sent again on another one.
  case duplicate
  /// The server is killed and started again.
  case serverKill = "server-kill"
  /// A client takes what it is sent only slowly.
  case slow
  /// The clock of a client jumps.
  case clock
  /// The server cannot write to its disk.
  case diskFull = "disk-full"
  /// Comments are forbidden for a while by other rules.
  case rules
  /// Posts and comments arrive whose text is made to break screens.
  case hostile
  /// One of several servers is stopped in its tracks for longer than its lease, and goes on then.
  case freeze
  /// The PostgreSQL of several servers is restarted.
  case postgres

  /// A list of faults that cannot be read.
  package struct Problem: Error, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    package let description: String
  }

  /// Whether the fault needs a server that belongs to the swarm.
  package var needsOwnServer: Bool {
    switch self {
    case .serverKill, .diskFull, .rules, .hostile, .freeze, .postgres: true
    case .drop, .delay, .partition, .kill, .pause, .duplicate, .slow, .clock: false
    }
  }

  /// Whether the fault needs a network between the clients and the server.
  package var needsNetwork: Bool {
    switch self {
    case .drop, .delay, .partition, .duplicate, .slow: true
    case .kill, .pause, .serverKill, .clock, .diskFull, .rules, .hostile, .freeze, .postgres: false
    }
  }

  /// Whether the fault is one of several servers, where there are some, and not one of clients.
  package var concernsSeveralServers: Bool {
    switch self {
    case .kill, .partition, .freeze, .postgres: true
    case .drop, .delay, .pause, .duplicate, .serverKill, .slow, .clock, .diskFull, .rules,
      .hostile:
      false
    }
  }

  /// Why the fault cannot be done to so many servers of the swarm's own; nil where it can.
  package func obstacle(atServers count: Int) -> String? {
    switch self {
    case .freeze, .postgres: count > 1 ? nil : "needs several servers (--servers)"
    case .drop, .delay, .duplicate, .slow, .serverKill, .diskFull:
      count > 1 ? "is done to one server only" : nil
    case .partition, .kill, .pause, .clock, .rules, .hostile: nil
    }
  }

  /// Why the fault cannot be done at a database that is there already; nil where it can.
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

  /// Reads a list such as `drop,delay`; `all` and `none` are lists too.
  ///
  /// - Parameter text: Names of faults.
  /// - Returns: Each of them once, in the order of the kinds.
  /// - Throws: ``Problem`` that names the unknown fault.
  package static func list(_ text: String) throws(Problem) -> [FaultKind] {
    if text == "all" { return allCases }
    if text == "none" || text.isEmpty { return [] }
    var kinds: Set<FaultKind> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let kind = FaultKind(rawValue: String(name)) else {
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(description: "\"\(name)\" is no fault: there are \(names), all and none")
      }
      kinds.insert(kind)
    }
    return allCases.filter(kinds.contains)
  }
}

/// A mistake that is put into a run on purpose, to see that it is found.
package enum InjectedBug: String, CaseIterable, Codable, Sendable {
  /// A comment that was acknowledged disappears.
  case lostWrite = "lost-write"
  /// A comment is applied twice.
  case doubleApply = "double-apply"
  /// Of an update of two paths only one is written.
  case halfUpdate = "half-update"
  /// Two comments of one author are exchanged.
  case reorderedComments = "reordered-comments"
  /// Something that was added to a number is gone from it.
  case lostIncrement = "lost-increment"
  /// A count is not the number of its stars.
  case countDrift = "count-drift"
  /// There is a comment that nobody wrote.
  case phantomComment = "phantom-comment"
  /// A client shows an older state after a newer one.
  case staleRead = "stale-read"
  /// A client no longer shows a comment of its own.
  case forgottenComment = "forgotten-comment"
  /// A client no longer follows what happens.
  case divergingView = "diverging-view"
  /// Someone who has left is still shown as present.
  case stuckPresence = "stuck-presence"
  /// A refused write takes effect all the same.
  case deniedWrite = "denied-write"
  /// The server takes more and more memory.
  case unboundedMemory = "unbounded-memory"
}
