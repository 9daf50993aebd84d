import RealtimeCore
import TestSupport
import Testing

@testable import HearthLab

@Suite("Checker", .serialized)
struct CheckerPropertyTests {
  @Test("reports no violation in correct histories")
  func right() throws {
    var activity = (operations: 0, unknown: 0, crashes: 0)
    let seeds = Thoroughness.seeds(1_000)
    for seed in seeds {
      let report = try RandomRun(seed: seed).scenario.check()
      #expect(report.violationCount == 0, "seed \(seed): \(report.lines.flatMap(\.violations))")
      activity.operations += report.activity.operations
      activity.unknown += report.activity.unknown
      activity.crashes += report.activity.crashes
    }
    // Histories without events would prove nothing.
    #expect(activity.operations > 5 * seeds.count)
    #expect(activity.unknown > seeds.count / 2)
    #expect(activity.crashes > seeds.count / 2)
  }

  @Test("detects a single wrong commit in any history")
  func wrong() throws {
    for seed in Thoroughness.seeds(100) {
      var random = SplitMix64(seed: seed)
      var run = RandomRun(seed: seed).scenario
      let posts = run.root[ChildKey("posts")].children.map { $0.map.map { $0.key.text } } ?? []
      if posts.isEmpty { continue }
      let post = random.pick(posts)
      let wrong: [(String, JSONValue)] = [
        ("posts/\(post)/starCount", .integer(77)), ("posts/\(post)/title", .string("wrong")),
        ("posts/\(post)/stars/stranger", .bool(true)),
        ("post-comments/\(post)/-zz", Scenario.comment("ann", "of nobody")),
        ("posts/\(post)", .null),
      ]
      run.commit([random.pick(wrong)])
      #expect(try run.check().verdict == .violated, "seed \(seed)")
    }
  }
}
