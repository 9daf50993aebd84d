import RealtimeCore
import RealtimeDatabase
import TestSupport
import Testing

@testable import HearthLab

@Suite("Crew protocol")
struct CrewTests {
  @Test(
    "Orders round-trip through their lines",
    arguments: [
      CrewOrder.begin(123_456), .watch, .finish, .count, .view, .conclude, .misbehave(.staleRead),
    ]
  )
  func orders(order: CrewOrder) {
    #expect(CrewOrder(order.line) == order)
  }

  @Test(
    "Invalid orders are not parsed",
    arguments: [
      "", "begin", #"{"begin":{}}"#, #"{"begin":{"_0":"soon"}}"#, #"{"dance":{}}"#,
      #"{"misbehave":{"_0":"x"}}"#,
    ]
  )
  func noOrder(line: String) {
    #expect(CrewOrder(line) == nil)
  }

  @Test("A tally round-trips between processes, including histograms")
  func tally() throws {
    var tally = SwarmTally()
    tally.begun = 3
    for number in [1, 1, 2, 2, 3] { tally.countAttempt(number: number) }
    tally.transactions = 2
    for milliseconds in 1...1_000 { tally.seen.record(microseconds: Int64(milliseconds) * 1_000) }
    guard case .tally(let read)? = CrewReport(CrewReport.tally(tally).line)
    else { throw Unexpected("no tally") }
    #expect(read.begun == 3)
    #expect(read.attempts == 5)
    #expect(read.seen.count == 1_000)
    #expect(abs(read.seen.milliseconds(atPercentile: 50) - 500) < 2)
    #expect(abs(read.seen.milliseconds(atPercentile: 99) - 990) < 2)
  }

  @Test("What was acknowledged round-trips between processes")
  func acknowledged() throws {
    var latencies = Latencies()
    latencies.record(microseconds: 7_000)
    guard case .acknowledged(let read)? = CrewReport(CrewReport.acknowledged(latencies).line)
    else { throw Unexpected("no latencies") }
    #expect(read.brief == "p50 7 ms, p99 7 ms")
  }

  @Test("Views round-trip with all their digests")
  func views() throws {
    let views = ["recent": ["a", "b"], "top": ["c"]]
    guard case .views(let read)? = CrewReport(CrewReport.views(views).line)
    else { throw Unexpected("no views") }
    #expect(read == views)
  }

  @Test("A token names its user and is unsigned")
  func tokens() async throws {
    let token = try #require(try await EmulatorTokens(uid: "swarm7").token(forcingRefresh: false))
    #expect(token.userID == "swarm7")
    let parts = token.text.split(separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3)
    #expect(parts[2].isEmpty)
    #expect(!token.text.contains("=") && !token.text.contains("+"))
  }

  @Test("Adding tallies adds every field")
  func sums() {
    var one = SwarmTally()
    one.begun = 1
    one.acknowledged.record(microseconds: 1_000)
    var sum = one
    sum.add(one)
    #expect(sum.begun == 2)
    #expect(sum.acknowledged.count == 2)
  }
}
