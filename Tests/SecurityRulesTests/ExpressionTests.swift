import RealtimeCore
import RealtimeServer
import Testing

/// An expression of a rule, and what comes of it.
struct RuleExpression: Sendable, CustomTestStringConvertible {
  let line: RuleLine
  let expected: ProbeResult
  /// What the lines before it say of the rule, the user and the query.
  let settings: [String: String]

  var testDescription: String { "\(line.section): \(line.rest)" }

  static let all: [RuleExpression] = {
    var section = ""
    var settings: [String: String] = [:]
    return RuleLine.all.compactMap { line -> RuleExpression? in
      if line.section != section { (section, settings) = (line.section, [:]) }
      settings[line.word] = line.rest
      return ProbeResult(rawValue: line.word).map {
        RuleExpression(line: line, expected: $0, settings: settings)
      }
    }
  }()

  func result() throws -> ProbeResult {
    var probe = RuleProbe()
    if let kind = settings["in"] { probe.kind = try #require(RuleKind(rawValue: kind)) }
    if let auth = settings["auth"] { probe.auth = auth }
    if let query = settings["query"] { probe.query = try Query(json: JSONParser.parse(query)) }
    return try probe.result(line.rest)
  }
}

@Suite("Expressions of rules")
struct ExpressionTests {
  @Test("have the result they should have", arguments: RuleExpression.all)
  func result(_ expression: RuleExpression) throws {
    #expect(try expression.result() == expression.expected)
  }

  @Test("are all read, and so are requests and errors")
  func all() {
    let counts = Dictionary(grouping: RuleExpression.all, by: \.line.section).mapValues(\.count)
    #expect(counts.count == 22 && counts.values.allSatisfy { $0 > 1 }, "\(counts)")
    #expect(counts.values.count { $0 > 20 } == 13, "\(counts)")
    #expect(RuleRequest.all.count > 60 && DocumentError.all.count > 50)
    #expect(
      RuleLine.kinds("open", "closed", "lasting", "changing", "possible", "impossible").count == 47
    )
  }
}
