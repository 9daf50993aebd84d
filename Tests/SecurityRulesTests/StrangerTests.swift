import RealtimeServer
import TestSupport
import Testing

@Suite("An unauthenticated client")
struct StrangerTests {
  @Test(
    "may be able to write where a rule can hold without sign-in",
    arguments: RuleLine.kinds("open", "closed")
  )
  func rules(line: RuleLine) throws {
    let rules = try RuleSet(source: #"{"rules":{"a":{"$k":{".write":"\#(line.rest)"}}}}"#)
    #expect(rules.mayLetNobodyWrite == (line.word == "open"))
  }

  @Test("cannot write without rules or under the blog's rules")
  func documents() throws {
    #expect(!RuleSet.closed.mayLetNobodyWrite)
    #expect(RuleSet.open.mayLetNobodyWrite)
    let none = try RuleSet(source: #"{"rules":{".read":true}}"#)
    #expect(!none.mayLetNobodyWrite)
    #expect(try !RuleSet.asset("blog.json").mayLetNobodyWrite)
  }
}
