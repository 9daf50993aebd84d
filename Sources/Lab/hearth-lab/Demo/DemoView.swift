import BlogTUI
import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers
import RealtimeCore

/// The live pane: the measurements, the current scene, and whether all is well.
struct DemoView {
  private let figures: DemoFigures
  private let size: Size
  private let glyphs: GlyphSet
  private let harms: [DemoHarm]
  private let hint: SafeText
  private let now = ContinuousClock.now
  private let theme = Theme.dark
  private var screen: Screen
  private var row = 0

  /// Begins a screen.
  init(
    _ figures: DemoFigures,
    size: Size,
    glyphs: GlyphSet,
    harms: [DemoHarm],
    hint: SafeText
  ) {
    self.figures = figures
    self.harms = harms
    self.size = size
    self.glyphs = glyphs
    self.hint = hint
    screen = Screen(size: size)
  }

  /// Draws everything.
  static func screen(
    _ figures: DemoFigures,
    size: Size,
    glyphs: GlyphSet,
    harms: [DemoHarm] = [],
    hint: SafeText
  ) -> Screen {
    var view = DemoView(figures, size: size, glyphs: glyphs, harms: harms, hint: hint)
    view.paint()
    return view.screen
  }

  private mutating func paint() {
    if figures.isOver {
      line("That was hearth. Nothing that was acknowledged is gone.", style: theme[.brand])
      line("Type hearth in two terminals: that is all it takes.", style: theme[.text])
    } else if let scene = figures.scene {
      line(scene.title, style: theme[.brand])
      for part in SafeText(untrusted: scene.sentence).wrapped(width: max(1, size.width - 2)) {
        line(part, style: theme[.text])
      }
    } else {
      line("hearth demo, live", style: theme[.brand])
    }
    if let silence = figures.silence(at: now) {
      let seconds = Int(silence / .seconds(1))
      line(
        "no answer from the server for \(seconds) s: figures are as they were",
        style: theme[.bad]
      )
    }
    if figures.asked != nil {
      line("one moment" + glyphs.ellipsis, style: theme[.waiting])
    } else if let upcoming = figures.upcoming {
      line("next: \(upcoming.title)", style: theme[.dim])
    }
    for outcome in figures.outcomes.suffix(max(1, size.height - 15)) {
      let sign = outcome.isRight ? glyphs.check : glyphs.cross
      line(
        sign + " " + SafeText(untrusted: outcome.text),
        style: theme[outcome.isRight ? .good : .bad]
      )
    }
    paintTrack()
    let harms = harmLines
    paintNumbers(leaving: harms.count)
    for (text, style) in harms { line(text, style: style) }
    let last = Rect(row: size.height - 1, column: 1, width: size.width - 2, height: 1)
    screen.put(hint, in: last, style: theme[.dim], ellipsis: glyphs.ellipsis)
  }

  /// Paints the writes and the delays of the last moments as lines, and the faults below as bands.
  private mutating func paintTrack() {
    let column = 8
    let track = figures.track.suffix(max(0, size.width - 2 - column))
    guard size.height >= 12, track.contains(where: { $0.writes > 0 }) else { return }
    paintBars("writes", track.map { Double($0.writes) }, column: column, role: .good)
    // From a few milliseconds to a minute: equal steps are equal ratios.
    let delays = track.map { log2(1 + Double($0.delay) / 1_000) }
    if size.height >= 14 { paintBars("delay", delays, column: column, role: .notice) }
    let bands = track.map { sample in
      DemoHarm.allCases.first { sample.harms.contains($0) }?.letter ?? (sample.isSilent ? "?" : " ")
    }
    line(
      ("faults" as SafeText).padded(to: column) + SafeText(untrusted: String(bands)),
      style: theme[.bad]
    )
  }

  private mutating func paintBars(
    _ name: SafeText,
    _ values: [Double],
    column: Int,
    role: Theme.Role
  ) {
    let steps = Array(glyphs.repertoire == .ascii ? " .:-=+*#" : " ▁▂▃▄▅▆▇█")
    let most = max(values.max() ?? 0, 0.001)
    let bars = values.map { steps[Int($0 / most * Double(steps.count - 1))] }
    line(name.padded(to: column) + SafeText(untrusted: String(bars)), style: theme[role])
  }

  /// What was done last, and what the speaker can do.
  private var harmLines: [(SafeText, Style)] {
    let keys = harms.map { "Alt-\($0.rawValue) \($0.words)" }.joined(separator: "  ")
    let last = figures.lastHarm.map { [(SafeText(untrusted: $0), theme[.notice])] } ?? []
    return last
      + SafeText(untrusted: keys).wrapped(width: max(1, size.width - 2)).map { ($0, theme[.dim]) }
  }

  /// Paints the figures, as many as leave room for what follows; the most telling come first.
  private mutating func paintNumbers(leaving rows: Int) {
    let latencies = figures.latencies
    let count = figures.violations.count
    let agreement = figures.agreement
    let sign = agreement.isWhole ? glyphs.check : glyphs.ellipsis
    let facts: [(name: SafeText, value: SafeText, role: Theme.Role)] = [
      ("violations", SafeText(count), count == 0 ? .good : .bad),
      (
        "operations",
        SafeText(untrusted: "\(Self.decimal(figures.rate))/s, \(figures.operations) in all"), .text
      ),
      (
        "write to screen",
        latencies.count == 0
          ? "not measured yet"
          : SafeText(
            untrusted: "p50 \(Int(latencies.milliseconds(atPercentile: 50))) ms, "
              + "p99 \(Int(latencies.milliseconds(atPercentile: 99))) ms"
          ), .text
      ),
      (
        "terminals", sign + " " + SafeText(untrusted: agreement.text + sinceAgreement),
        agreement.isWhole ? .good : .text
      ),
      (
        "checked",
        SafeText(
          untrusted: ProgressLine.count(figures.checks, "time") + ": "
            + ProgressLine.count(figures.posts, "post") + ", "
            + ProgressLine.count(figures.stars, "star")
        ), .text
      ),
      (
        "transactions",
        SafeText(
          untrusted: ProgressLine.count(figures.attempts, "attempt") + ", "
            + ProgressLine.count(figures.retries, "retry", plural: "retries")
        ), .text
      ),
      ("pending writes", SafeText(figures.pending), .text),
      (
        "copies",
        figures.copiesBehind == 0
          ? "all equal" : SafeText(figures.copiesBehind) + " following", .text
      ),
      ("connections", SafeText(untrusted: "\(figures.connections)"), .text),
      ("revision", SafeText(untrusted: "\(figures.revision)"), .text),
    ]
    let room = max(1, size.height - 1 - row - rows - min(3, count))
    for fact in facts.prefix(room) {
      line(fact.name.padded(to: 16) + fact.value, style: theme[fact.role])
    }
    for violation in figures.violations.prefix(3) {
      line(SafeText(untrusted: violation), style: theme[.bad])
    }
  }

  /// When all terminals showed the same, if they do not now.
  private var sinceAgreement: String {
    guard figures.agreement.count > 1, !figures.agreement.isWhole, let time = figures.agreedAt
    else { return "" }
    return ", all did \(Int((now - time) / .seconds(1))) s ago"
  }

  /// One digit after the decimal point.
  private static func decimal(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private mutating func line(_ text: String, style: Style) {
    line(SafeText(untrusted: text), style: style)
  }

  private mutating func line(_ text: SafeText, style: Style) {
    guard row < size.height - 1 else { return }
    let rect = Rect(row: row, column: 1, width: size.width - 2, height: 1)
    screen.put(text, in: rect, style: style, ellipsis: glyphs.ellipsis)
    row += 1
  }
}

/// The measurements and the current state of a demonstration.
struct DemoFigures: Sendable {
  /// The outcome of a scene.
  struct Outcome: Hashable, Sendable {
    /// The outcome in one sentence.
    let text: String
    /// Whether the outcome is as expected.
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
  /// The number of connections to the server.
  var connections: Int64 = 0
  /// The revision of the last commit.
  var revision: Int64 = 0
  /// How often the database was checked.
  var checks = 0
  /// The number of posts at the last check.
  var posts = 0
  /// The number of stars at the last check.
  var stars = 0
  /// The number of copies that differed from their posts at the last check.
  var copiesBehind = 0
  /// The violations found.
  var violations: [String] = []
  /// The current scene.
  var scene: DemoScene?
  /// The outcomes of the scenes so far.
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
  /// Whether the demonstration is over.
  var hasEnded = false

  /// For how long the server has not answered, if that is long enough to be said.
  func silence(at time: ContinuousClock.Instant) -> Duration? {
    let silence = time - answeredAt
    return silence >= .seconds(2) ? silence : nil
  }

  /// The figures for programs.
  var json: JSONValue {
    .object(
      ("operations", .integer(operations)),
      (
        "latency",
        .object(
          ("count", .integer(Int64(latencies.count))),
          ("p50", .integer(Int64(latencies.milliseconds(atPercentile: 50)))),
          ("p99", .integer(Int64(latencies.milliseconds(atPercentile: 99))))
        )
      ),
      ("attempts", .integer(Int64(attempts))),
      ("retries", .integer(Int64(retries))),
      ("pending", .integer(Int64(pending))),
      ("connections", .integer(connections)),
      ("revision", .integer(revision)),
      ("checks", .integer(Int64(checks))),
      ("posts", .integer(Int64(posts))),
      ("stars", .integer(Int64(stars))),
      ("violations", .array(violations.map { .string($0) })),
      (
        "scenes",
        .array(
          outcomes.map { .object(("text", .string($0.text)), ("right", .bool($0.isRight))) }
        )
      )
    )
  }

  /// A summary in one line.
  static func summary(_ json: JSONValue) -> String {
    let count = json["violations"]?.elements?.count ?? 0
    func milliseconds(_ name: String) -> Int64 { json["latency"]?[name]?.integer ?? 0 }
    func number(_ name: String) -> Int { Int(json[name]?.integer ?? 0) }
    return [
      ProgressLine.count(number("operations"), "write"),
      "write to screen p50 \(milliseconds("p50")) ms, p99 \(milliseconds("p99")) ms",
      ProgressLine.count(number("checks"), "check"), ProgressLine.count(count, "violation"),
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

  /// Notes what the speaker asks for.
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

  /// The current figures.
  var now: DemoFigures { figures.withLockedValue { $0 } }
}
