import RealtimeCore
import RealtimeServer
import Testing

/// A client whose requests make rules run must not delay others for long.
@Suite("The cost of rules: attacks", .timeLimit(.minutes(2)))
struct CostAttackTests {
  /// An ASCII text of 80,000 bytes, and one with other letters.
  private static let plain = String(repeating: "abcdefgh", count: 10_000)
  private static let other = String(repeating: "äöüé", count: 10_000)

  private func outcome(
    _ rule: String,
    _ value: Node,
    steps: Int
  ) throws -> Explanation.Outcome? {
    let rule = JSONValue.string(rule).text
    let rules = try RuleSet(source: #"{"rules":{"a":{".write":\#(rule)}}}"#)
    let decision = rules.canWrite(
      ["a"],
      by: .nobody,
      now: 0,
      from: .empty,
      to: Node.empty.setting("a" as Path, to: value),
      steps: steps
    )
    return decision.isAllowed ? .satisfied : decision.explanation.decisive?.outcome
  }

  private static let exhausted = Explanation.Outcome.failed(
    "the rules take too many steps for this request",
    nil
  )

  @Test(
    "String operations cost steps in proportion to their work",
    arguments: [
      // The text is examined once, byte by byte.
      ("!newData.val().contains('zz')", plain, 10_000),
      ("newData.val().endsWith(newData.val())", plain, 20_000),
      ("newData.val().beginsWith(newData.val())", plain, 20_000),
      ("newData.val().replace('zz', '') != ''", plain, 10_000),
      ("newData.val() + 'x' != ''", plain, 10_000), ("newData.val().length > 1", plain, 10_000),
      ("newData.val().toLowerCase() != ''", plain, 10_000),
      // Each letter is looked up.
      ("newData.val().toLowerCase() != ''", other, 160_000),
      ("newData.val().toUpperCase() != ''", other, 160_000),
      ("!newData.val().matches(/z!/i)", plain, 480_000),
      ("!newData.val().matches(/z!/i)", other, 1_280_000),
      ("!newData.val().matches(/z!/)", plain, 160_000),
    ]
  )
  func texts(_ rule: String, _ text: String, _ steps: Int) throws {
    #expect(try outcome(rule, .string(text), steps: steps - 1) == Self.exhausted)
    #expect(try outcome(rule, .string(text), steps: 2 * steps) == .satisfied)
  }

  @Test("Resolving a path or formatting a number costs more than one step")
  func places() throws {
    let place = "!newData.child('a/b/c').exists()"
    #expect(try outcome(place, .integer(1), steps: 24) == Self.exhausted)
    #expect(try outcome(place, .integer(1), steps: 100) == .satisfied)
    let number = "now + '' != ''"
    #expect(try outcome(number, .integer(1), steps: 64) == Self.exhausted)
    #expect(try outcome(number, .integer(1), steps: 150) == .satisfied)
  }

  @Test("Descending to each of many paths costs steps, and so does each visited value")
  func manyPlaces() throws {
    let rules = try RuleSet(
      source: #"{"rules":{"a":{".write":true,"$k":{".validate":"newData.isNumber()"}}}}"#
    )
    let keys = (0..<1_000).map { ChildKey("k\($0)") }
    let paths = keys.map { Path([ChildKey("a"), $0]) }
    let root = paths.reduce(into: Node.empty) { $0.update(at: $1, to: .integer(1)) }
    for paths in [paths, ["a"]] {
      func isAllowed(_ steps: Int) -> Bool {
        rules.canWrite(
          paths,
          by: .nobody,
          now: 0,
          from: .empty,
          to: root,
          steps: steps
        ).isAllowed
      }
      #expect(!isAllowed(8_000))
      #expect(isAllowed(40_000))
    }
  }

  @Test("A request is limited to two million steps")
  func defaultSteps() {
    #expect(RulesLimits.steps <= 2_000_000)
  }
}
