import BlogSwarm
import Foundation
import RealtimeCore

/// What a demonstration has measured, and what it shows at the moment.
struct DemoFigures: Sendable {
  /// What a scene has shown.
  struct Outcome: Hashable, Sendable {
    /// One sentence.
    let text: String
    /// Whether it is as it must be.
    let isRight: Bool
  }

  /// Writes that were acknowledged, by the server's count.
  var operations: Int64 = 0
  /// How many there were a second, lately.
  var rate = 0.0
  /// From the key that sends something until it is on the screen of another terminal.
  var latencies = Latencies()
  /// How often the blocks of transactions ran.
  var attempts = 0
  /// How often again.
  var retries = 0
  /// Writes that some terminal shows as not acknowledged.
  var pending = 0
  /// Whether the terminals show the same.
  var agreement = DemoAgreement([])
  /// Connections of the server.
  var connections: Int64 = 0
  /// The last commit.
  var revision: Int64 = 0
  /// How often the database was looked through.
  var checks = 0
  /// How many posts there were last.
  var posts = 0
  /// How many stars there were last.
  var stars = 0
  /// Copies that were not equal to their posts at the last look.
  var copiesBehind = 0
  /// What was found wrong.
  var violations: [String] = []
  /// What the user is told about.
  var scene: DemoScene?
  /// What the scenes have shown.
  var outcomes: [Outcome] = []
  /// Whether the user wants the next scene now.
  var isAskedToGoOn = false
  /// Whether it is over.
  var hasEnded = false

  /// The numbers for programs.
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

  /// One line about it all.
  static func summary(_ json: JSONValue) -> String {
    let count = json["violations"]?.elements?.count ?? 0
    func milliseconds(_ name: String) -> Int64 { json["latency"]?[name]?.integer ?? 0 }
    return "\(json["operations"]?.integer ?? 0) writes, "
      + "write to screen p50 \(milliseconds("p50")) ms, p99 \(milliseconds("p99")) ms, \(json["checks"]?.integer ?? 0) checks, \(count) violations"
  }
}
