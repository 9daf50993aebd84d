import BlogTUI
import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers

extension DemoFigures {
  /// The live pane: the measurements, the current scene, and whether all is well.
  func pane(harms: [DemoHarm], hint: SafeText, glyphs: GlyphSet) -> LivePane {
    let now = ContinuousClock.now
    var pane = LivePane()
    pane.heading = heading(at: now, ellipsis: glyphs.ellipsis)
    pane.log = outcomes.map { outcome in
      LivePane.Phrase(
        (outcome.isRight ? glyphs.check : glyphs.cross).string + " " + outcome.text,
        outcome.isRight ? .good : .bad
      )
    }
    if track.contains(where: { $0.writes > 0 }) {
      let delays = track.map { sample in
        LivePane.Track.height(ofMilliseconds: Double(sample.delay) / 1_000)
      }
      pane.tracks = [
        LivePane.Track("writes", track.map { Double($0.writes) }, .good),
        LivePane.Track("delay", delays, .notice),
      ]
      pane.bands = [LivePane.Band("faults", track.map(\.mark))]
    }
    pane.facts = facts(at: now, glyphs: glyphs)
    pane.footer = violations.prefix(3).map { LivePane.Phrase($0, .bad) }
    if let lastHarm { pane.footer.append(LivePane.Phrase(lastHarm, .notice)) }
    let keys = harms.map { "Alt-\($0.rawValue) \($0.signs.words)" }.joined(separator: "  ")
    if !keys.isEmpty { pane.footer.append(LivePane.Phrase(keys, .dim)) }
    pane.hint = hint
    return pane
  }

  private func heading(
    at now: ContinuousClock.Instant,
    ellipsis: SafeText
  ) -> [LivePane.Phrase] {
    var heading =
      if isOver {
        [
          LivePane.Phrase("That was hearth. Nothing that was acknowledged is gone.", .brand),
          LivePane.Phrase("Type hearth in two terminals: that is all it takes.", .text),
        ]
      } else if let scene {
        [LivePane.Phrase(scene.title, .brand), LivePane.Phrase(sentence, .text)]
      } else {
        [LivePane.Phrase("hearth demo, live", .brand)]
      }
    if let silence = silence(at: now) {
      let seconds = Int(silence / .seconds(1))
      let words = "no answer from the server for \(seconds) s: figures are as they were"
      heading.append(LivePane.Phrase(words, .bad))
    }
    if asked != nil {
      heading.append(LivePane.Phrase("one moment\(ellipsis.string)", .waiting))
    } else if let upcoming {
      heading.append(LivePane.Phrase("next: \(upcoming.title)", .dim))
    }
    return heading
  }

  /// The figures; the most telling come first.
  private func facts(at now: ContinuousClock.Instant, glyphs: GlyphSet) -> [LivePane.Fact] {
    let sign = agreement.isWhole ? glyphs.check : glyphs.ellipsis
    return [
      LivePane.Fact("violations", "\(violations.count)", violations.isEmpty ? .good : .bad),
      LivePane.Fact("operations", String(format: "%.1f/s, %d in all", rate, operations)),
      LivePane.Fact("write to screen", latencies.brief),
      LivePane.Fact(
        "terminals",
        "\(sign.string) \(agreement.text)\(sinceAgreement(at: now))",
        agreement.isWhole ? .good : .text
      ),
      LivePane.Fact(
        "checked",
        ProgressLine.count(checks, "time") + ": " + ProgressLine.count(posts, "post") + ", "
          + ProgressLine.count(stars, "star")
      ),
      LivePane.Fact(
        "transactions",
        ProgressLine.count(attempts, "attempt") + ", "
          + ProgressLine.count(retries, "retry", plural: "retries")
      ),
      LivePane.Fact("pending writes", "\(pending)"),
      LivePane.Fact("copies", copiesBehind == 0 ? "all equal" : "\(copiesBehind) following"),
      LivePane.Fact("connections", "\(connections)"),
      LivePane.Fact("revision", "\(revision)"),
    ]
  }

  /// When all terminals showed the same, if they do not now.
  private func sinceAgreement(at now: ContinuousClock.Instant) -> String {
    guard agreement.count > 1, !agreement.isWhole, let agreedAt else { return "" }
    return ", all did \(Int((now - agreedAt) / .seconds(1))) s ago"
  }
}

/// The measurements and the current state of a demonstration.
struct DemoFigures: Sendable {
  struct Outcome: Codable, Hashable, Sendable {
    let text: String
    let isRight: Bool
  }

  /// The acknowledged writes, by the server's count.
  var operations: Int64 = 0
  /// The recent number of writes per second.
  var rate = 0.0
  /// The time from the key that sends a post until it is on the screen of another terminal.
  var latencies = Latencies()
  /// How often transaction blocks were run.
  var attempts = 0
  /// How many of those runs were retries.
  var retries = 0
  /// The number of writes that terminals show as unacknowledged.
  var pending = 0
  /// The time from such a key to such a screen, the last one measured, in microseconds.
  var delay: Int64 = 0
  /// Since when a post is on its way.
  var sentAt: ContinuousClock.Instant?
  /// Whether the terminals show the same, and when all last did.
  var agreement = DemoAgreement([]) {
    didSet { if agreement.isWhole { agreedAt = .now } }
  }
  private(set) var agreedAt: ContinuousClock.Instant?
  /// When the server last answered.
  var answeredAt = ContinuousClock.now
  var connections: Int64 = 0
  var revision: Int64 = 0
  /// How often the database was checked.
  var checks = 0
  /// The number of posts at the last check.
  var posts = 0
  /// The number of stars at the last check.
  var stars = 0
  /// The number of copies that differed from their posts at the last check.
  var copiesBehind = 0
  var violations: [String] = []
  var scene: DemoScene?
  /// What to watch for in it.
  var sentence = ""
  var outcomes: [Outcome] = []
  /// The scene that comes next, if the speaker says when.
  var upcoming: DemoScene?
  /// What the speaker asks for.
  var asked: DemoStep?
  /// Whether the last scene is over.
  var isOver = false
  /// The writes of each half second, and the harm done in it; the latest last.
  var track: [DemoSample] = []
  /// The harm that was done since the last sample, and that which lasts.
  var harmed: Set<DemoHarm> = []
  var lastingHarm: Set<DemoHarm> = []
  /// What was done last, in words.
  var lastHarm: String?
  var hasEnded = false

  /// For how long the server has not answered, if that is long enough to be said.
  func silence(at time: ContinuousClock.Instant) -> Duration? {
    let silence = time - answeredAt
    return silence >= .seconds(2) ? silence : nil
  }

  var result: DemoResult {
    DemoResult(
      operations: operations,
      median: Int(latencies.milliseconds(atPercentile: 50)),
      p99: Int(latencies.milliseconds(atPercentile: 99)),
      checks: checks,
      violations: violations,
      outcomes: outcomes
    )
  }
}

/// The result of a demonstration, in a file for the process that reports it.
struct DemoResult: Codable, Sendable {
  let operations: Int64
  /// How long a post took to another screen, in milliseconds.
  let median: Int
  let p99: Int
  let checks: Int
  let violations: [String]
  let outcomes: [DemoFigures.Outcome]

  var summary: String {
    [
      ProgressLine.count(Int(operations), "write"),
      "write to screen p50 \(median) ms, p99 \(p99) ms",
      ProgressLine.count(checks, "check"), ProgressLine.count(violations.count, "violation"),
    ].joined(separator: ", ")
  }
}

/// What a speaker can ask for.
enum DemoStep: Sendable {
  case next
  case back
}

/// Half a second of a demonstration.
struct DemoSample: Hashable, Sendable {
  let writes: Int64
  /// How long a post takes to a screen, or has been on its way, in microseconds.
  let delay: Int64
  let isSilent: Bool
  let harms: Set<DemoHarm>

  /// The letter of the harm, for its band.
  var mark: Character {
    DemoHarm.allCases.first { harms.contains($0) }?.signs.letter ?? (isSilent ? "?" : " ")
  }
}

/// The figures of a demonstration, written by several threads and shown by one.
final class DemoBoard: Sendable {
  private static let interval = Duration.milliseconds(500)
  /// The number of samples that are kept, which no terminal has columns for.
  private static let mostSamples = 1_000

  private let figures = NIOLockedValueBox(DemoFigures())
  private let last = NIOLockedValueBox((time: ContinuousClock.now, operations: Int64(0)))

  /// Reads or changes the figures.
  @discardableResult
  func with<Result>(_ body: (inout DemoFigures) -> Result) -> Result {
    figures.withLockedValue { body(&$0) }
  }

  func ask(_ step: DemoStep) {
    with { $0.asked = step }
  }

  /// Takes what the speaker has asked for.
  func takeStep() -> DemoStep? {
    with { figures in
      defer { figures.asked = nil }
      return figures.asked
    }
  }

  /// Adds a sample to the track, twice a second.
  func sample() {
    let time = ContinuousClock.now
    last.withLockedValue { last in
      guard time - last.time >= Self.interval else { return }
      with { figures in
        let writes = max(0, figures.operations - last.operations)
        let harms = figures.harmed.union(figures.lastingHarm)
        let waiting = figures.sentAt.map { Int64((time - $0) / .microseconds(1)) } ?? 0
        figures.track.append(
          DemoSample(
            writes: writes,
            delay: max(figures.delay, waiting),
            isSilent: figures.silence(at: time) != nil,
            harms: harms
          )
        )
        figures.harmed = []
        if figures.track.count > Self.mostSamples { figures.track.removeFirst() }
        last = (time, figures.operations)
      }
    }
  }

  var now: DemoFigures { figures.withLockedValue { $0 } }
}
