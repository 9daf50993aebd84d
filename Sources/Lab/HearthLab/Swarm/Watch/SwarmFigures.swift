private import BlogTUI

/// What is known about a run while it goes on, for the live pane.
package struct SwarmFigures: Sendable {
  /// Half a second of a run.
  private struct Sample {
    let latencies: Latencies
    let faults: Set<FaultKind>
  }

  /// How long a sample lasts, as the client processes report.
  package static let interval = Duration.milliseconds(500)
  /// The number of samples that are kept, which no terminal has columns for.
  private static let mostSamples = 1_000

  private let settings: SwarmSettings
  private var phase = SwarmPhase.gathering("")
  private var all = Latencies()
  private var samples: [Sample] = []
  /// What was acknowledged, and which faults were done, since the last sample.
  private var latest = Latencies()
  private var done: Set<FaultKind> = []
  /// The faults that are not reverted yet.
  private var lasting: [FaultKind: Int] = [:]
  private var servers: [ServerState] = []
  /// The lines of the report that are final, in its order.
  private var lines: [CheckReport.Line] = []
  private var message = ""
  /// Whether the user has asked for the end of the storm.
  package var isStopped = false

  /// Whether there is a storm that can be ended.
  package var canStop: Bool {
    if case .storm = phase { !isStopped } else { false }
  }

  package init(_ settings: SwarmSettings) {
    self.settings = settings
  }

  package mutating func take(_ news: SwarmNews) {
    switch news {
    case .phase(let phase): self.phase = phase
    case .message(let message): self.message = message
    case .acknowledged(let latencies):
      latest.add(latencies)
      all.add(latencies)
    case .fault(let kind, isOver: false):
      done.insert(kind)
      lasting[kind, default: 0] += 1
    case .fault(let kind, isOver: true):
      lasting[kind, default: 1] -= 1
      if lasting[kind] == 0 { lasting[kind] = nil }
    case .servers(let servers): self.servers = servers
    case .judged(let line): lines.append(line)
    }
  }

  /// Ends a sample, once every ``interval``; before and after the storm there are none.
  package mutating func sample() {
    defer { (latest, done) = (Latencies(), []) }
    switch phase {
    case .storm, .healing: break
    case .gathering, .checking: return
    }
    samples.append(Sample(latencies: latest, faults: done.union(lasting.keys)))
    if samples.count > Self.mostSamples { samples.removeFirst() }
  }

  package var pane: LivePane {
    var pane = LivePane()
    pane.heading = [LivePane.Phrase(title, .brand)]
    if !message.isEmpty { pane.log = [LivePane.Phrase(message, .dim)] }
    if !samples.isEmpty { (pane.tracks, pane.bands) = (tracks, bands) }
    pane.lights = [LivePane.Lights(name: "promises", lights: promises)]
    if !servers.isEmpty {
      pane.lights.append(LivePane.Lights(name: "servers", lights: serverLights))
    }
    pane.facts = [
      LivePane.Fact("operations", "\(all.count) acknowledged"),
      LivePane.Fact("latency", all.brief),
      LivePane.Fact("users", "\(settings.users) in \(settings.processes) processes"),
      LivePane.Fact("seed", "\(settings.seed)"),
    ]
    pane.footer = lines.filter { $0.violationCount > 0 }.map {
      LivePane.Phrase("\($0.name) is broken: \($0.statement)", .bad)
    }
    pane.hint =
      canStop ? "q ends the storm and judges what was done" : "q ends the run without a report"
    return pane
  }

  private var title: String {
    switch phase {
    case .gathering(let obstacle):
      "hearth swarm: starting" + (obstacle.isEmpty ? "" : ", waiting for \(obstacle)")
    case .storm where isStopped: "hearth swarm: the storm ends"
    case .storm(let elapsed, let length):
      "hearth swarm: the storm, \(Int(max(0, length - elapsed).rounded(.up))) s left"
    case .healing(let obstacle): "hearth swarm: healing, waiting for \(obstacle)"
    case .checking: "hearth swarm: checking what everybody has noted"
    }
  }

  private var tracks: [LivePane.Track] {
    let rates = samples.map { Double($0.latencies.count) * (.seconds(1) / Self.interval) }
    let delays = [50.0, 99].map { percentile in
      samples.map { sample in
        sample.latencies.count == 0 ? 0 : sample.latencies.milliseconds(atPercentile: percentile)
      }
    }
    // Both on one scale, so that they can be compared.
    let most = LivePane.Track.height(ofMilliseconds: delays[1].max() ?? 0)
    let roles: [Theme.Role] = [.note, .notice]
    return [
      LivePane.Track("ops/s", rates, note: "\(Int(rates.last ?? 0))", .good)
    ]
      + zip(["p50", "p99"] as [SafeText], zip(delays, roles)).map { name, track in
        LivePane.Track(
          name,
          track.0.map(LivePane.Track.height),
          most: most,
          note: track.0.last.map { $0 > 0 ? "\(Int($0.rounded(.up))) ms" : "" } ?? "",
          track.1
        )
      }
  }

  /// A band for each kind of fault, those that are going on or were last first.
  private var bands: [LivePane.Band] {
    var last: [FaultKind: Int] = [:]
    for (index, sample) in samples.enumerated() {
      for kind in sample.faults { last[kind] = index }
    }
    return FaultKind.allCases.compactMap { kind in last[kind].map { (kind, $0) } }
      .sorted { ($1.1, $0.0.rawValue) < ($0.1, $1.0.rawValue) }
      .map { kind, _ in
        LivePane.Band(
          kind.rawValue,
          samples.map { $0.faults.contains(kind) ? LivePane.Band.block : " " }
        )
      }
  }

  private var promises: [(name: String, light: LivePane.Light)] {
    Checker.lineNames.enumerated().map { index, name in
      guard lines.indices.contains(index), lines[index].checked > 0 else {
        return (name, .waiting)
      }
      return (name, lines[index].violationCount == 0 ? .good : .bad)
    }
  }

  private var serverLights: [(name: String, light: LivePane.Light)] {
    servers.enumerated().map { number, state in
      let name = servers.count == 1 ? "" : "\(number) "
      return switch state {
      case .up: (name + "up", .good)
      case .leads: (name + (servers.count == 1 ? "up" : "leads"), .good)
      case .frozen: (name + "frozen", .bad)
      case .down: (name + "down", .bad)
      }
    }
  }
}
