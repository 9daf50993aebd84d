/// What a run reports to whoever watches it.
package enum SwarmNews: Sendable {
  /// The run is doing this; several times a second.
  case phase(SwarmPhase)
  case message(String)
  /// How long the operations took that were acknowledged since the last such report of a process.
  case acknowledged(Latencies)
  /// A fault begins, or is reverted.
  case fault(FaultKind, isOver: Bool)
  case servers([ServerState])
  case judged(CheckReport.Line)
}

package enum ServerState: Hashable, Sendable {
  case up
  /// It serves the database for all, or alone.
  case leads
  case frozen
  case down
}

/// What a run is doing, and what it waits for.
package enum SwarmPhase: Hashable, Sendable {
  /// Not all clients are ready; the text says which are missing.
  case gathering(String)
  /// The storm has lasted this many seconds.
  case storm(elapsed: Double, of: Double)
  /// The faults are reverted; the text says what the run waits for.
  case healing(String)
  /// The checker reads what everybody has recorded.
  case checking

  /// Describes what keeps processes from becoming quiet.
  ///
  /// - Parameter pending: How much is under way in each process; nil for one that does not answer.
  /// - Returns: What the run waits for.
  static func obstacle(pending: [Int?]) -> String {
    let busy = pending.compactMap(\.self).filter { $0 > 0 }
    let silent = pending.indices.filter { pending[$0] == nil }
    var parts: [String] = []
    if !busy.isEmpty {
      parts.append(
        "\(Words.count(busy.reduce(0, +), "thing")) under way in "
          + Words.count(busy.count, "process", plural: "processes")
      )
    }
    if !silent.isEmpty { parts.append("an answer of \(names(silent))") }
    return parts.joined(separator: ", ")
  }

  /// Describes what keeps processes from showing the same content.
  ///
  /// - Parameter views: What each process shows; nil for one that does not answer.
  /// - Returns: What the run waits for; nil if each view has the same content in every process.
  static func obstacle(views: [[String: [String]]?]) -> String? {
    let silent = views.indices.filter { views[$0] == nil }
    guard silent.isEmpty else { return "an answer of \(names(silent))" }
    var seen: [String: Set<String>] = [:]
    for view in views.compactMap(\.self) {
      for (name, digests) in view { seen[name, default: []].formUnion(digests) }
    }
    let different = seen.filter { $0.value.count != 1 }.keys.sorted()
    if different.isEmpty { return nil }
    let shown = different.prefix(3).joined(separator: ", ")
    let rest = different.count > 3 ? " and \(different.count - 3) more" : ""
    return "the same in all clients of \(shown)\(rest)"
  }

  private static func names(_ processes: [Int]) -> String {
    let shown = processes.prefix(3).map { "process \($0)" }.joined(separator: ", ")
    return processes.count > 3 ? "\(shown) and \(processes.count - 3) more" : shown
  }
}

/// Reports from time to time what a run waits for, when no line on a terminal shows it.
struct WaitSpeaker {
  private static let first = Duration.seconds(5)
  private static let interval = Duration.seconds(10)

  private let tell: @Sendable (String) -> Void
  private let start = Moment.now
  private var last: Moment?

  init(tell: @escaping @Sendable (String) -> Void) {
    self.tell = tell
  }

  /// Reports the obstacle, unless something was reported a short time ago.
  mutating func wait(for obstacle: String) {
    let now = Moment.now
    guard now.since(start) >= Self.first, last.map({ now.since($0) >= Self.interval }) ?? true
    else {
      return
    }
    last = now
    tell("waiting for \(obstacle)")
  }
}
