/// What happened when in a run; all times are in seconds since the storm began.
struct SwarmTimeline: Sendable {
  /// Operations that ended in one interval of time.
  struct Slice: Hashable, Sendable {
    var start: Double
    /// How long it lasts.
    var length: Double
    var acknowledged = 0
    var refused = 0
    /// The number of operations that began in the interval and ended without an answer.
    var unknown = 0
    /// The median latency of the acknowledged operations in milliseconds; nil if there are none.
    var median: Double?
  }

  /// One acknowledged operation.
  struct Dot: Hashable, Sendable {
    var at: Double
    /// How long it took, in milliseconds.
    var milliseconds: Double
  }

  /// A time during which a fault was in effect.
  struct Band: Hashable, Sendable {
    /// The name of the fault, as in the options.
    var name: String
    var start: Double
    var end: Double
  }

  private static let slices = 120
  /// The maximum number of dots; beyond it, each slice keeps its share, the longest first.
  private static let dots = 4_000

  /// How long the run lasted, including the time until everything became quiet.
  private(set) var length = 0.0
  /// The operations in consecutive slices of time.
  private(set) var slices: [Slice] = []
  /// Single operations, in chronological order.
  private(set) var dots: [Dot] = []
  /// The faults, in chronological order.
  private(set) var bands: [Band] = []
  /// When the server was killed or ended.
  private(set) var serverEnds: [Double] = []
  /// The memory of the server, in MB.
  private(set) var serverMemory: [ResourceTrend.Sample] = []
  /// The mean memory of a client process, in MB.
  var clientMemory: [ResourceTrend.Sample] = []

  init() {}

  /// Assembles the timeline from what everybody has recorded.
  init(_ history: History, from start: Moment) {
    func seconds(_ moment: Moment) -> Double { moment.since(start) / .seconds(1) }
    let operations = history.operations.filter { operation in
      if case .administer = operation.intent { return false }
      return !operation.intent.isRead && operation.invoked >= start
    }
    let ends = operations.map { seconds($0.answered ?? $0.invoked) }
    readDriver(history.driver?.lines ?? [], seconds: seconds)
    length = max(ends.max() ?? 0, bands.map(\.end).max() ?? 0, serverMemory.last?.seconds ?? 0, 1)
    slices = Self.slices(of: operations, length: length, seconds: seconds)
    let all = operations.compactMap { operation in
      operation.acknowledged.map { end in
        Dot(
          at: seconds(operation.invoked),
          milliseconds: end.since(operation.invoked) / .milliseconds(1)
        )
      }
    }
    dots = Self.thinned(all, length: length)
  }

  private mutating func readDriver(_ lines: [HistoryLine], seconds: (Moment) -> Double) {
    var begun: [String: (start: Double, count: Int)] = [:]
    for line in lines {
      let at = seconds(line.time)
      switch line.event {
      case .fault(let name, _, isOver: false):
        // A fault is recorded for each client that it affects.
        begun[name, default: (at, 0)].count += 1
      case .fault(let name, _, isOver: true):
        guard let fault = begun[name] else { continue }
        if fault.count > 1 {
          begun[name] = (fault.start, fault.count - 1)
        } else {
          begun[name] = nil
          bands.append(Band(name: name, start: fault.start, end: at))
        }
      case .server(.killed), .server(.died): if at >= 0 { serverEnds.append(at) }
      case .sample(let bytes, _, _):
        guard at >= 0 else { continue }
        serverMemory.append(ResourceTrend.Sample(seconds: at, value: Double(bytes) / 1_048_576))
      case .started, .invoked, .answered, .shown, .told, .connection, .finalView, .screen,
        .server(.up), .rules, .stalled, .coalesced, .ended:
        continue
      }
    }
    bands.sort { ($0.start, $0.name) < ($1.start, $1.name) }
  }

  private static func slices(
    of operations: [ClientOperation],
    length: Double,
    seconds: (Moment) -> Double
  ) -> [Slice] {
    let count = max(10, min(slices, Int(length * 4)))
    let width = length / Double(count)
    var slices = (0..<count).map { Slice(start: Double($0) * width, length: width) }
    var latencies = [[Double]](repeating: [], count: count)
    for operation in operations {
      let end = seconds(operation.answered ?? operation.invoked)
      let index = min(max(Int(end / width), 0), count - 1)
      if let end = operation.acknowledged {
        slices[index].acknowledged += 1
        latencies[index].append(end.since(operation.invoked) / .milliseconds(1))
      } else if operation.isRefused {
        slices[index].refused += 1
      } else {
        slices[index].unknown += 1
      }
    }
    for index in slices.indices where !latencies[index].isEmpty {
      slices[index].median = latencies[index].sorted()[latencies[index].count / 2]
    }
    return slices
  }

  private static func thinned(_ all: [Dot], length: Double) -> [Dot] {
    guard all.count > dots else { return all }
    let width = length / Double(slices)
    let parts = Dictionary(grouping: all) { Int($0.at / width) }
    let share = dots / slices
    return parts.values.flatMap { part in
      part.sorted { $0.milliseconds > $1.milliseconds }.prefix(share)
    }
    .sorted { $0.at < $1.at }
  }
}
