import RealtimeServer
import TestSupport
import Testing

@Suite("An unauthenticated client")
struct StrangerTests {
  private func mayWrite(_ rule: String) throws -> Bool {
    try RuleSet(source: #"{"rules":{"a":{"$k":{".write":"\#(rule)"}}}}"#).mayLetNobodyWrite
  }

  @Test(
    "cannot write where every rule requires sign-in",
    arguments: [
      "auth != null", "auth !== null && newData.exists()", "auth.uid === $k", "auth.uid == 'x'",
      "newData.exists() && auth.uid == $k", "false", "auth != null ? newData.exists() : false",
      "(auth.uid == $k && now > 5) || (auth != null && data.exists())", "!(auth == null)",
      "auth.token.admin == true",
    ]
  )
  func closed(rule: String) throws {
    #expect(try !mayWrite(rule))
  }

  @Test(
    "may be able to write where a rule can hold without sign-in",
    arguments: [
      "true", "auth == null", "newData.exists()", "auth != null || !data.exists()", "now > 5",
      "auth.uid == root.child('owner').val()", "auth != null ? false : data.exists()",
      "auth.uid != $k", "!(auth != null && data.exists())", "$k == 'open'",
    ]
  )
  func open(rule: String) throws {
    #expect(try mayWrite(rule))
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
