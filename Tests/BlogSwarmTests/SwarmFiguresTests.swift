import BlogTUI
import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import HearthLab

@Suite("The pane of a swarm")
struct SwarmFiguresTests {
  /// A run with faults that overlap, drawn after so many half seconds.
  private static func figures(samples: Int, servers: [ServerState] = [.leads]) -> SwarmFigures {
    var settings = SwarmSettings()
    settings.users = 12
    var figures = SwarmFigures(settings)
    figures.take(.message("the storm lasts 10 s"))
    figures.take(.servers(servers))
    let faults: [(kind: FaultKind, lasting: Range<Int>)] = [
      (.drop, 2..<5), (.serverKill, 4..<7), (.diskFull, 9..<14), (.pause, 10..<12),
    ]
    for number in 0..<samples {
      figures.take(.phase(.storm(elapsed: Double(number) / 2, of: 10)))
      for fault in faults where fault.lasting.lowerBound == number {
        figures.take(.fault(fault.kind, isOver: false))
      }
      for fault in faults where fault.lasting.upperBound == number {
        figures.take(.fault(fault.kind, isOver: true))
      }
      var latencies = Latencies()
      for operation in 0..<(number % 5 * 3) {
        latencies.record(microseconds: Int64(2_000 + operation * operation * number * 700))
      }
      figures.take(.acknowledged(latencies))
      figures.sample()
    }
    return figures
  }

  private static func text(
    _ figures: SwarmFigures,
    _ width: Int,
    _ height: Int,
    _ glyphs: GlyphSet = .unicode
  ) -> String {
    figures.pane.screen(size: Size(width: width, height: height), glyphs: glyphs).text() + "\n"
  }

  private static func check(_ actual: String, _ name: String) {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Goldens/\(name).txt")
    #expect(actual == GoldenFile.text(at: file.path, orWrite: actual), "\(name)")
  }

  @Test(
    "Lines, bands, lights and numbers have a place at every size",
    arguments: [(80, 24), (40, 12), (120, 40)]
  )
  func sizes(width: Int, height: Int) {
    Self.check(Self.text(Self.figures(samples: 16), width, height), "storm-\(width)x\(height)")
  }

  @Test("Several servers have a light each, and a terminal with ASCII alone shows the same")
  func servers() {
    let figures = Self.figures(samples: 12, servers: [.up, .frozen, .leads, .down])
    Self.check(Self.text(figures, 80, 24), "servers-80x24")
    Self.check(Self.text(figures, 80, 24, .ascii), "servers-ascii-80x24")
  }

  @Test("What is judged has a light that says whether it holds, and what is broken is named")
  func judged() throws {
    var figures = Self.figures(samples: 4)
    let post = JSONValue.object(("starCount", .integer(5)), ("title", .string("drifted")))
    let root = try Node(json: .object(("posts", .object(("p", post)))))
    let commits = CommitHistory(
      entries: [.jump(root, revision: 1, seen: Moment(microseconds: 1))],
      finalRoot: root
    )
    let checker = Checker(History([]), commits: commits)
    _ = checker.check { figures.take(.judged($0)) }
    let text = Self.text(figures, 80, 24)
    #expect(text.contains("✗I1"))
    #expect(text.contains("◌I8"))
    #expect(text.contains("I1 is broken: every starCount equals the number of stars"))
  }

  @Test("Before the storm there are lights and no lines")
  func gathering() {
    var figures = SwarmFigures(SwarmSettings())
    figures.take(.phase(.gathering("an answer of process 3")))
    figures.sample()
    let text = Self.text(figures, 80, 24)
    #expect(text.contains("starting, waiting for an answer of process 3"))
    #expect(text.contains("◌I1  ◌I2"))
    #expect(!text.contains("ops/s"))
  }

  @Test("A fault that begins and ends between two samples is drawn")
  func shortFault() {
    var figures = Self.figures(samples: 1)
    figures.take(.fault(.duplicate, isOver: false))
    figures.take(.fault(.duplicate, isOver: true))
    figures.sample()
    figures.sample()
    #expect(Self.text(figures, 80, 24).contains("duplicate  █\n"))
  }

  @Test("q ends the storm once, and nothing but the storm")
  func stopping() {
    var figures = SwarmFigures(SwarmSettings())
    #expect(!figures.canStop)
    figures.take(.phase(.storm(elapsed: 1, of: 10)))
    #expect(figures.canStop)
    #expect(Self.text(figures, 80, 24).contains("q ends the storm"))
    figures.isStopped = true
    #expect(!figures.canStop)
    #expect(Self.text(figures, 80, 24).contains("q ends the run without a report"))
  }
}
