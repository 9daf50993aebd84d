/// What a run reports to whoever watches it.
package enum SwarmNews: Sendable {
  /// The run is doing this; several times a second.
  case phase(SwarmPhase)
  /// A message about its progress.
  case message(String)
  /// How long the operations took that were acknowledged since the last such report of a process.
  case acknowledged(Latencies)
  /// A fault begins, or is reverted.
  case fault(FaultKind, isOver: Bool)
  /// The state of each server of the swarm's own.
  case servers([ServerState])
  /// A promise was checked.
  case judged(CheckReport.Line)
}

/// The state of a server of a swarm.
package enum ServerState: Hashable, Sendable {
  case up
  /// It serves the database for all, or alone.
  case leads
  case frozen
  case down
}
