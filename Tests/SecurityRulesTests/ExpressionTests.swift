import Foundation
import RealtimeCore
import RealtimeServer
import Testing

/// An expression of a rule, and what comes of it.
struct RuleExpression: Sendable, CustomTestStringConvertible {
  let section: String
  let text: String
  let expected: ProbeResult
  /// What the lines before it say of the rule, the user and the query.
  let settings: [String: String]

  var testDescription: String { "\(section): \(text)" }

  /// The expressions in `Expressions.txt`, which describes itself.
  static let all: [RuleExpression] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Expressions.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    var section = ""
    var settings: [String: String] = [:]
    return text.components(separatedBy: "\n").compactMap { line -> RuleExpression? in
      if line.hasPrefix("## ") { (section, settings) = (String(line.dropFirst(3)), [:]) }
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        .map { String($0).replacing("⏎", with: "\n") }
      guard parts.count == 2 else { return nil }
      if ["in", "auth", "query"].contains(parts[0]) { settings[parts[0]] = parts[1] }
      return ProbeResult(rawValue: parts[0]).map {
        RuleExpression(section: section, text: parts[1], expected: $0, settings: settings)
      }
    }
  }()

  func result() throws -> ProbeResult {
    var probe = RuleProbe()
    if let kind = settings["in"] { probe.kind = try #require(RuleKind(rawValue: kind)) }
    if let auth = settings["auth"] { probe.auth = auth }
    if let query = settings["query"] { probe.query = try Query(json: JSONParser.parse(query)) }
    return try probe.result(text)
  }
}

@Suite("Expressions of rules")
struct ExpressionTests {
  @Test("have the result they should have", arguments: RuleExpression.all)
  func result(_ expression: RuleExpression) throws {
    #expect(try expression.result() == expression.expected)
  }

  @Test("are all read")
  func all() {
    let counts = Dictionary(grouping: RuleExpression.all, by: \.section).mapValues(\.count)
    #expect(counts.count == 20 && counts.values.allSatisfy { $0 > 1 }, "\(counts)")
    #expect(counts.values.count { $0 > 20 } == 13, "\(counts)")
  }
}
