import RealtimeCore
import RealtimeServer
import Testing

@Suite("Lasting decisions")
struct LastingTests {
  private func isLasting(_ outer: String, _ inner: String = "false") throws -> Bool {
    let rules = try RuleSet(
      source: #"{"rules":{".read":"\#(outer)","$a":{".read":"\#(inner)"}}}"#
    )
    let decision = rules.canRead(
      "a",
      by: RuleSubject(.object(("uid", .string("ann")))),
      now: 5,
      root: try Node(parsing: #"{"a":{"ann":true,"n":1}}"#)
    )
    #expect(decision.isAllowed)
    return decision.isLasting
  }

  @Test(
    "A decision that depends only on the user and the request lasts, another may change",
    arguments: RuleLine.kinds("lasting", "changing")
  )
  func rules(line: RuleLine) throws {
    let inner = line.rest.replacing("data.child('a/n')", with: "data.child('n')")
    #expect(try isLasting(line.rest) == (line.word == "lasting"))
    #expect(try isLasting("false", inner) == (line.word == "lasting"))
    if line.word == "lasting" { #expect(try isLasting("false", inner + " && $a == 'a'")) }
  }

  @Test("Only the granting rule matters, not those evaluated before it or declared below it")
  func granting() throws {
    #expect(try isLasting("now > 10", "true"))
    #expect(try isLasting("true", "now < 10"))
  }

  @Test("A refusal never lasts")
  func refusal() {
    #expect(!RuleSet.closed.canRead("a", by: .nobody, now: 0, root: .empty).isLasting)
  }

  @Test("A document is kept as written and is JSON without its comments")
  func source() throws {
    let source =
      "{ // who\n \"rules\": { /* all */ \".read\": \"auth != null\n || true\", "
      + "\".write\": false, \"a\": {\".indexOn\": [\"x\", \".value\"]}}}"
    let rules = try RuleSet(source: source)
    #expect(rules.source == source)
    #expect(rules.isDocument)
    #expect(
      rules.json.text
        == #"{"rules":{".read":"auth != null\n || true",".write":false,"#
        + #""a":{".indexOn":["x",".value"]}}}"#
    )
    #expect(try RuleSet(source: rules.json.text).json == rules.json)
  }

  @Test("The built-in open and closed rules have an equivalent source")
  func builtIn() throws {
    for rules in [RuleSet.open, .closed] {
      #expect(!rules.isDocument)
      let written = try RuleSet(source: rules.source)
      let isOpen = written.canRead("a", by: .nobody, now: 0, root: .empty).isAllowed
      #expect(isOpen == rules.canRead("a", by: .nobody, now: 0, root: .empty).isAllowed)
    }
  }
}
