import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@Suite("The cost of rules", .timeLimit(.minutes(2)))
struct CostTests {
  private func decision(_ rules: String, _ value: Node) throws -> Decision {
    try RuleSet(source: #"{"rules":\#(rules)}"#)
      .canWrite(
        ["a"],
        by: .nobody,
        now: 0,
        from: .empty,
        to: Node.empty.setting("a" as Path, to: value)
      )
  }

  @Test(
    "Patterns that ruin a backtracking matcher run in linear time",
    arguments: [
      "^(a+)+$", "^(a*)*$", "^(a|a)*$", "^(a|aa)+$", "^(a|a?)+$", "(.*)(.*)(.*)(.*)x$",
      "^(([a-z])+.)+[A-Z]([a-z])+$", "^(\\\\w+\\\\s?)*$", "(a?){30}a{30}b",
    ]
  )
  func hostilePatterns(_ pattern: String) throws {
    let text = String(repeating: "a", count: 5_000) + "!"
    let rules = #"{".write":"newData.val().matches(/\#(pattern)/)"}"#
    let allowed = #"{".write":true,"a":{".validate":"newData.val().matches(/\#(pattern)/)"}}"#
    #expect(try !decision(rules, .string(text)).isAllowed)
    #expect(try !decision(allowed, .string(text)).isAllowed)
  }

  @Test("A request that takes too many steps is denied with that reason")
  func budget() throws {
    let text = String(repeating: "ab", count: 500_000)
    let rules = #"{".write":true,"a":{".validate":"newData.val().matches(/(.?){400}x/)"}}"#
    let decision = try decision(rules, .string(text))
    #expect(!decision.isAllowed)
    #expect(decision.explanation.decisive?.outcome == .failed(Self.exhausted, nil))
  }

  @Test("An exhausted request stays denied, whatever later rules say")
  func exhaustedForGood() throws {
    let text = String(repeating: "ab", count: 500_000)
    let rules = #"{"a":{".write":"newData.val().matches(/(.?){400}x/) || true"}}"#
    #expect(try !decision(rules, .string(text)).isAllowed)
  }

  @Test("Repeated replacing cannot blow up a string")
  func replacing() throws {
    let text = String(repeating: "a", count: 1_000_000)
    let grown = "newData.val()" + String(repeating: ".replace('a', newData.val())", count: 5)
    let rules = #"{"a":{".write":"\#(grown).length > 0"}}"#
    let decision = try decision(rules, .string(text))
    #expect(decision.explanation.decisive?.outcome == .failed(Self.exhausted, nil))
  }

  @Test("String search is linear in both strings")
  func searching() throws {
    let text = String(repeating: "a", count: 500_000)
    let needle = String(repeating: "a", count: 250_000) + "b"
    let value = Node(
      sortedChildren: [(key: "n", value: .string(needle)), (key: "t", value: .string(text))]
    )
    let rules = #"{"a":{".write":"!newData.child('t').val().contains(newData.child('n').val())"}}"#
    #expect(try decision(rules, value).isAllowed)
  }

  @Test(
    "Whatever takes time costs steps",
    arguments: [
      // A long path, as a constant and from the data.
      "root.child('\(longPath)').exists() || true", "root.child(\(text)).exists() || true",
      // Text concatenation and text comparison.
      "\(text) + 'x' != ''", "\(text) == newData.parent().child('t').val()",
      "\(text) <= newData.parent().child('t').val()", "\(text).length > 0",
      // A search of a text for one of several characters.
      "!\(text).matches(/[\\u0000-\\u001f]/)",
    ]
  )
  func everythingCosts(_ expression: String) throws {
    let children = (0..<2_600).map { (key: ChildKey("n\($0)"), value: Node.integer(1)) }
    let last = [(key: ChildKey("t"), value: Node.string(longText))]
    let value = Node(sortedChildren: children.sorted { $0.key < $1.key } + last)
    func rules(_ rule: String) -> String {
      #"{".write":true,"a":{"t":{},"$k":{".validate":"\#(rule)"}}}"#
    }
    #expect(try decision(rules("newData.val() == 1"), value).isAllowed)
    let decision = try decision(rules(expression), value)
    #expect(decision.explanation.decisive?.outcome == .failed(Self.exhausted, nil))
  }

  @Test("A large write is traversed only where there are rules")
  func largeWrite() throws {
    let children = (0..<50_000).map { (key: ChildKey(String($0)), value: Node.integer(Int64($0))) }
    let value = Node(sortedChildren: children.sorted { $0.key < $1.key })
    #expect(try decision(#"{".write":true,"a":{"7":{".validate":"true"}}}"#, value).isAllowed)
    #expect(
      try decision(#"{".write":true,"a":{"$k":{".validate":"newData.isNumber()"}}}"#, value)
        .isAllowed
    )
    #expect(
      try !decision(#"{".write":true,"a":{"$k":{".validate":"newData.val() < 49999"}}}"#, value)
        .isAllowed
    )
  }

  private static let exhausted = "the rules take too many steps for this request"

  @Test("No expression traps, and a second evaluation gives the same result", arguments: 0..<10)
  func randomExpressions(_ seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var deployed = 0
    for _ in 0..<120 {
      let expression = Self.expression(&random, depth: 4)
      let probe = RuleProbe()
      let first = try probe.result(expression)
      #expect(try probe.result(expression) == first, "\(expression)")
      // Negation inverts a result, but never an error or a rejection at deployment.
      let negated = try probe.result("!(\(expression))")
      let turned: ProbeResult =
        switch first {
        case .yes: .no
        case .no: .yes
        case .error: .error
        case .rejected: .rejected
        }
      #expect(negated == turned, "\(expression)")
      if first != .rejected { deployed += 1 }
    }
    #expect(deployed > 0)
  }

  @Test("No rule is ruled out early if some new data would satisfy it", arguments: 0..<20)
  func givenUpEarly(_ seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let probe = RuleProbe()
    let subject = RuleSubject(try JSONParser.parse(probe.auth))
    let root = try Node(parsing: probe.data)
    let path = Path([ChildKey("things"), ChildKey(probe.key)])
    for _ in 0..<120 {
      let expression = Self.expression(&random, depth: 4)
      guard let rules = try? probe.rules(expression) else { continue }
      let isPossible = rules.couldWrite([path], by: subject, now: probe.now, from: root)
      if try probe.decision(expression).isAllowed { #expect(isPossible, "\(expression)") }
      if !expression.contains("newData") {
        #expect(try probe.decision(expression).isAllowed == isPossible, "\(expression)")
      }
    }
  }

  @Test(
    "An expression is decided early where the new data cannot matter",
    arguments: RuleLine.kinds("possible", "impossible")
  )
  func knownEarly(line: RuleLine) throws {
    let probe = RuleProbe()
    let path = Path([ChildKey("things"), ChildKey(probe.key)])
    #expect(
      try probe.rules(line.rest).couldWrite(
        [path],
        by: RuleSubject(JSONParser.parse(probe.auth)),
        now: probe.now,
        from: Node(parsing: probe.data)
      ) == (line.word == "possible")
    )
  }

  /// An expression that is syntactically valid, though its types may not match.
  private static func expression(_ random: inout SplitMix64, depth: Int) -> String {
    let leaves = [
      "auth", "auth.uid", "auth.age", "auth.none", "auth.token", "now", "root", "data", "newData",
      "$key", "1", "0", "'a'", "''", "true", "false", "null", "data.val()", "root.child('o').val()",
      "root.child('s').val()", "data.exists()", "newData.child('n').val()",
    ]
    if depth == 0 || random.once(in: 4) { return random.pick(leaves) }
    func inner() -> String { expression(&random, depth: depth - 1) }
    switch random.below(9) {
    case 0: return "(\(inner()) \(random.pick(["&&", "||"])) \(inner()))"
    case 1, 2:
      let operators = ["==", "!=", "<", "<=", ">", ">=", "===", "!=="]
      let (left, right) = (inner(), inner())
      return "(\(left) \(random.pick(operators)) \(right))"
    case 3:
      let (left, right) = (inner(), inner())
      return "(\(left) \(random.pick(["+", "-", "*", "/", "%"])) \(right))"
    case 4: return "(\(inner()) ? \(inner()) : \(inner()))"
    case 5: return "!(\(inner()))"
    case 6:
      let methods = ["contains", "beginsWith", "endsWith", "child", "hasChild"]
      let (receiver, argument) = (inner(), inner())
      return "(\(receiver)).\(random.pick(methods))(\(argument))"
    case 7:
      let methods = ["val", "exists", "parent", "toLowerCase", "isString", "hasChildren"]
      return "(\(inner())).\(random.pick(methods))()"
    default:
      return "(\(inner())).\(random.pick(["length", "uid", "matches(/a/)", "replace('a','b')"]))"
    }
  }
}

/// So long that processing it 2,600 times exceeds the limit.
private let longText = String(repeating: String(repeating: "x", count: 699) + "/", count: 92)
private let longPath = longText.prefix(16_000)
private let text = "newData.parent().child('t').val()"
