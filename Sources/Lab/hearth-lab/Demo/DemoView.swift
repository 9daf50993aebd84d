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
  private let hint: SafeText
  private let theme = Theme.dark
  private var screen: Screen
  private var row = 0

  /// Begins a screen.
  init(_ figures: DemoFigures, size: Size, glyphs: GlyphSet, hint: SafeText) {
    self.figures = figures
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
    hint: SafeText
  ) -> Screen {
    var view = DemoView(figures, size: size, glyphs: glyphs, hint: hint)
    view.paint()
    return view.screen
  }

  private mutating func paint() {
    if let scene = figures.scene {
      line(scene.title, style: theme[.brand])
      for part in SafeText(untrusted: scene.sentence).wrapped(width: max(1, size.width - 2)) {
        line(part, style: theme[.text])
      }
    } else {
      line("hearth demo, live", style: theme[.brand])
    }
    for outcome in figures.outcomes.suffix(max(1, size.height - 15)) {
      let sign = outcome.isRight ? glyphs.check : glyphs.cross
      line(
        sign + " " + SafeText(untrusted: outcome.text),
        style: theme[outcome.isRight ? .good : .bad]
      )
    }
    paintNumbers()
    let last = Rect(row: size.height - 1, column: 1, width: size.width - 2, height: 1)
    screen.put(hint, in: last, style: theme[.dim], ellipsis: glyphs.ellipsis)
  }

  private mutating func paintNumbers() {
    let latencies = figures.latencies
    let count = figures.violations.count
    fact("violations", "\(count)", style: theme[count == 0 ? .good : .bad])
    fact("operations", Self.decimal(figures.rate) + "/s, \(figures.operations) in all")
    fact(
      "write to screen",
      latencies.count == 0
        ? "not measured yet"
        : "p50 \(Int(latencies.milliseconds(atPercentile: 50))) ms, "
          + "p99 \(Int(latencies.milliseconds(atPercentile: 99))) ms"
    )
    fact(
      "transactions",
      ProgressLine.count(figures.attempts, "attempt") + ", "
        + ProgressLine.count(figures.retries, "retry", plural: "retries")
    )
    fact("pending writes", "\(figures.pending)")
    let agreement = figures.agreement
    let sign = agreement.isWhole ? glyphs.check : glyphs.ellipsis
    fact(
      "terminals",
      sign + " " + SafeText(untrusted: agreement.text),
      style: agreement.isWhole ? theme[.good] : nil
    )
    fact("connections", "\(figures.connections)")
    fact("revision", "\(figures.revision)")
    fact(
      "checked",
      ProgressLine.count(figures.checks, "time") + ": " + ProgressLine.count(figures.posts, "post")
        + ", " + ProgressLine.count(figures.stars, "star")
    )
    fact("copies", figures.copiesBehind == 0 ? "all equal" : "\(figures.copiesBehind) following")
    for violation in figures.violations.prefix(3) {
      line(SafeText(untrusted: violation), style: theme[.bad])
    }
  }

  /// One digit after the decimal point.
  private static func decimal(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private mutating func fact(_ name: SafeText, _ value: String, style: Style? = nil) {
    fact(name, SafeText(untrusted: value), style: style)
  }

  private mutating func fact(_ name: SafeText, _ value: SafeText, style: Style? = nil) {
    line(name.padded(to: 16) + value, style: style ?? theme[.text])
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
  /// Whether the terminals show the same list.
  var agreement = DemoAgreement([])
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
  /// Whether the user asks for the next scene.
  var isAskedToGoOn = false
  /// Whether the demonstration is over.
  var hasEnded = false

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

/// The figures of a demonstration, written by several threads and shown by one.
final class DemoBoard: Sendable {
  private let figures = NIOLockedValueBox(DemoFigures())

  /// Reads or changes the figures.
  @discardableResult
  func with<Result>(_ body: (inout DemoFigures) -> Result) -> Result {
    figures.withLockedValue { body(&$0) }
  }

  /// The current figures.
  var now: DemoFigures { figures.withLockedValue { $0 } }
}
