/// Reasons why a client was not told something, or not in time.
struct Disturbances: Sendable {
  /// A time during which a process could do nothing.
  private struct Span: Sendable {
    let start: Moment
    let end: Moment
  }

  /// The faults that the driver injected into the client, as lines of a history.
  let faults: [HistoryLine]
  private var stalls: [Span] = []
  private var coalescing: [Span] = []

  init(of client: ClientHistory, by driver: ClientHistory?) {
    let lines = driver?.lines ?? []
    faults = lines.filter { line in
      if case .fault(_, client.header.client, _) = line.event { true } else { false }
    }
    for line in lines + client.lines {
      switch line.event {
      case .stalled(let microseconds): stalls.append(Self.span(microseconds, until: line.time))
      case .coalesced(let microseconds):
        coalescing.append(Self.span(microseconds, until: line.time))
      default: break
      }
    }
    coalescing += Self.pauses(of: client, during: lines)
  }

  /// How long the servers of a cluster may take to find the next leader after a fault is over.
  private static let succession = Duration.seconds(15)
  /// The shortest pause of a client that is taken for the change of a leader.
  private static let shortestPause = Duration.seconds(1)

  /// The pauses in which servers may have looked for the next leader: a client that stays connected
  /// is then sent the newest data.
  private static func pauses(of client: ClientHistory, during lines: [HistoryLine]) -> [Span] {
    var troubles: [Span] = []
    var starts: [String: Moment] = [:]
    for line in lines {
      guard case .fault(let name, "server", let isOver) = line.event else { continue }
      if !isOver {
        starts[name] = line.time
      } else if let start = starts.removeValue(forKey: name) {
        troubles.append(Span(start: start, end: line.time.advanced(by: succession)))
      }
    }
    troubles += starts.values.map { Span(start: $0, end: .distantFuture) }
    let told = client.lines.filter { line in
      if case .told(let telling) = line.event, case .child(_?, _) = telling.content {
        true
      } else {
        false
      }
    }.map(\.time)
    return zip(told, told.dropFirst()).filter { start, end in
      end.since(start) >= shortestPause
        && troubles.contains { $0.start <= end && start <= $0.end }
    }.map { Span(start: $0, end: $1) }
  }

  private static func span(_ microseconds: Int64, until end: Moment) -> Span {
    Span(start: end.advanced(by: .microseconds(-microseconds)), end: end)
  }

  /// How long the machine stalled the client or the driver within a period.
  func stalled(from start: Moment, to end: Moment) -> Duration {
    stalls.reduce(.zero) { sum, span in
      let (first, last) = (max(start, span.start), min(end, span.end))
      return first < last ? sum + last.since(first) : sum
    }
  }

  /// Whether the server may have omitted a change because a client did not keep up.
  ///
  /// - Parameters:
  ///   - start: When the change was made.
  ///   - end: When the client was told of a later one, which on a busy machine may be long after.
  ///   - tolerance: How much the times may be wrong.
  /// - Returns: Whether it may have done so between these times.
  func mayHaveCoalesced(from start: Moment, to end: Moment, within tolerance: Duration) -> Bool {
    coalescing.contains {
      $0.start.advanced(by: .zero - tolerance) <= end && start <= $0.end.advanced(by: tolerance)
    }
  }
}
