import Foundation
import FoundationXML
import RealtimeCore
import TestSupport
import Testing

@testable import HearthLab

@Suite("Swarm report page and picture")
struct SwarmPageTests {
  private static let begin = Moment(microseconds: 50_000_000)

  private static func at(_ seconds: Double) -> Moment {
    begin.advanced(by: .seconds(seconds))
  }

  private static func header(_ client: String, _ role: HistoryHeader.Role) -> HistoryEvent {
    .started(
      HistoryHeader(
        client: client,
        role: role,
        user: client,
        uid: client,
        pid: 1,
        seed: 1,
        strategy: .increment,
        wallClock: 0
      )
    )
  }

  /// A client that writes ten times a second; every fifth write is refused and the last is not
  /// answered.
  private static func client() throws -> ClientHistory {
    var lines = [HistoryLine(header("c1", .client), at: at(-5))]
    // Before the storm, so it does not count.
    lines.append(HistoryLine(.invoked(1_000, .star(post: "p")), at: at(-1)))
    lines.append(HistoryLine(.answered(1_000, .ok(nil)), at: at(-0.5)))
    for number in 0..<100 {
      let time = Double(number) / 10
      lines.append(HistoryLine(.invoked(Int64(number), .star(post: "p")), at: at(time)))
      if number == 99 { break }
      let outcome: Outcome = number % 5 == 0 ? .refused("no") : .ok(nil)
      let took = number == 42 ? 0.09 : 0.01
      lines.append(HistoryLine(.answered(Int64(number), outcome), at: at(time + took)))
    }
    return try ClientHistory(lines)
  }

  private static func driver() throws -> ClientHistory {
    try ClientHistory([
      HistoryLine(header("driver", .driver), at: at(-6)),
      HistoryLine(.fault(name: "pause", target: "c1", isOver: false), at: at(2)),
      HistoryLine(.fault(name: "pause", target: "c2", isOver: false), at: at(2)),
      HistoryLine(
        .sample(residentBytes: 40 << 20, descriptors: 9, p99Microseconds: 5_000),
        at: at(3)
      ),
      HistoryLine(.fault(name: "pause", target: "c1", isOver: true), at: at(4)),
      HistoryLine(.fault(name: "pause", target: "c2", isOver: true), at: at(4.5)),
      HistoryLine(.server(.killed), at: at(6)),
      HistoryLine(
        .sample(residentBytes: 30 << 20, descriptors: 9, p99Microseconds: 7_000),
        at: at(8)
      ),
    ])
  }

  private static func report() throws -> SwarmReport {
    let history = History([try driver(), try client()])
    var report = SwarmReport(
      settings: SwarmSettings(),
      check: Checker(history, commits: CommitHistory(finalRoot: .empty)).check(),
      directory: "/tmp/x"
    )
    report.timeline = SwarmTimeline(history, from: begin)
    report.timeline.clientMemory = [.init(seconds: 1, value: 41), .init(seconds: 9, value: 42)]
    for number in [1, 1, 1, 2, 2, 3, 12, 11] { report.tally.countAttempt(number: number) }
    report.faults = [.pause: 1]
    return report
  }

  @Test("The timeline records events with their times")
  func timeline() throws {
    let timeline = try Self.report().timeline
    #expect(timeline.bands == [.init(name: "pause", start: 2, end: 4.5)])
    #expect(timeline.serverEnds == [6])
    #expect(timeline.serverMemory == [.init(seconds: 3, value: 40), .init(seconds: 8, value: 30)])
    let slices = timeline.slices
    #expect(slices.reduce(0) { $0 + $1.acknowledged } == 79)
    #expect(slices.reduce(0) { $0 + $1.refused } == 20)
    #expect(slices.reduce(0) { $0 + $1.unknown } == 1)
    #expect(timeline.dots.count == 79)
    #expect(timeline.dots.map(\.milliseconds).max() == 90)
    let ends = zip(slices, slices.dropFirst()).map { abs($0.start + $0.length - $1.start) }
    #expect(ends.allSatisfy { $0 < 0.001 })
  }

  @Test("Attempts are counted per finished transaction and survive transfer between processes")
  func tries() throws {
    let tally = try Self.report().tally
    #expect(tally.tries == [1, 1, 1, 0, 0, 0, 0, 0, 0, 2])
    guard case .tally(var sum)? = CrewReport(CrewReport.tally(tally).line)
    else { throw Unexpected("no tally") }
    #expect(sum.tries == tally.tries && sum.attempts == 8)
    sum.add(tally)
    #expect(sum.tries == [2, 2, 2, 0, 0, 0, 0, 0, 0, 4])
  }

  @Test("The page and the picture are well-formed and self-contained")
  func files() throws {
    var report = try Self.report()
    report.mishaps = ["<script>alert(1)</script> & \"\u{1B}[2J\u{202E}"]
    let (page, picture) = (SwarmPage(report).html, SwarmPicture(report).svg)
    for text in [page, picture] {
      let parser = XMLParser(data: Data(text.utf8))
      #expect(parser.parse(), "line \(parser.lineNumber): \(parser.parserError.debugDescription)")
      #expect(!text.contains("<script") && !text.contains("src=") && !text.contains("@import"))
      #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
      let addresses = text.matches(of: #/https?:\/\/[^"'\s]*/#).map { String($0.output) }
      #expect(Set(addresses).isSubset(of: ["http://www.w3.org/2000/svg"]), "\(addresses)")
      for words in ["half are faster", "the server", "pause", "acknowledged", "10 or more"] {
        #expect(text.contains(words), "\(words)")
      }
    }
    #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
  }

  @Test("A run without operations also has a page")
  func nothing() throws {
    var report = try Self.report()
    report.timeline = SwarmTimeline(History([try Self.driver()]), from: Self.begin)
    report.tally = SwarmTally()
    for text in [SwarmPage(report).html, SwarmPicture(report).svg] {
      #expect(XMLParser(data: Data(text.utf8)).parse())
      #expect(!text.contains("nan") && !text.contains("inf"))
    }
  }

  @Test("Many dots are thinned out, but the slowest are kept")
  func thinning() throws {
    var lines = [HistoryLine(Self.header("c1", .client), at: Self.at(-1))]
    for number in 0..<20_000 {
      let time = Double(number) / 1_000
      lines.append(HistoryLine(.invoked(Int64(number), .star(post: "p")), at: Self.at(time)))
      lines.append(
        HistoryLine(
          .answered(Int64(number), .ok(nil)),
          at: Self.at(time + (number == 12_345 ? 0.0009 : 0.0001))
        )
      )
    }
    let timeline = SwarmTimeline(History([try ClientHistory(lines)]), from: Self.begin)
    #expect(timeline.dots.count <= 4_000)
    #expect(timeline.dots.contains { $0.milliseconds > 0.8 })
    #expect(timeline.slices.reduce(0) { $0 + $1.acknowledged } == 20_000)
  }

  @Test("A waiting run names what it waits for")
  func obstacles() {
    #expect(
      SwarmPhase.obstacle(pending: [0, 3, nil, 4])
        == "7 things under way in 2 processes, an answer of process 2"
    )
    #expect(
      SwarmPhase.obstacle(views: [
        ["recent": ["a"], "top": ["x"]], ["recent": ["b"], "top": ["x"]],
      ])
        == "the same in all clients of recent"
    )
    #expect(SwarmPhase.obstacle(views: [nil, [:]]) == "an answer of process 0")
    let alike = [["recent": ["a"]], ["recent": ["a"], "top": ["b"]]]
    #expect(SwarmPhase.obstacle(views: alike) == nil)
    #expect(SwarmPhase.obstacle(views: [["recent": ["a", "b"]]]) != nil)
  }
}
