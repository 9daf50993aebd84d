/// What excuses a client for not having been told something, or not in time.
struct Disturbances: Sendable {
  /// A time during which somebody could do nothing.
  private struct Span: Sendable {
    let start: Moment
    let end: Moment
  }

  /// What was done to the client by the driver, as lines among its own.
  let faults: [HistoryLine]
  private var stalls: [Span] = []
  private var coalescing: [Span] = []

  init(_ client: ClientHistory, _ driver: ClientHistory?) {
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
  }

  private static func span(_ microseconds: Int64, until end: Moment) -> Span {
    Span(start: end.advanced(by: .microseconds(-microseconds)), end: end)
  }

  /// For how long, within a time, the machine let the client or the driver do nothing.
  func stalled(from start: Moment, to end: Moment) -> Duration {
    stalls.reduce(.zero) { sum, span in
      let (first, last) = (max(start, span.start), min(end, span.end))
      return first < last ? sum + last.since(first) : sum
    }
  }

  /// Whether the server may have left something out then, since a client did not keep up with it.
  func mayHaveCoalesced(at time: Moment, within tolerance: Duration) -> Bool {
    coalescing.contains {
      $0.start.advanced(by: .zero - tolerance) <= time && time <= $0.end.advanced(by: tolerance)
    }
  }
}
