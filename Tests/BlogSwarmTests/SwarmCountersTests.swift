import RealtimeCore
import Testing

@testable import HearthLab

@Suite("SwarmCounters")
struct SwarmCountersTests {
  @Test(
    "Counter rules are added to the existing rules, which stay unchanged",
    arguments: [
      #"{"rules": {".read": true, "posts": {".write": false}}}"#, #"{"rules":{}}"#,
      "{\n  // The rules.\n  \"rules\" : {\n    \".read\": \"auth != null\"\n  }\n}",
    ]
  )
  func allowed(rules: String) throws {
    let source = try #require(SwarmCounters.allowed(in: rules))
    let lines = source.split(separator: "\n").filter { !$0.contains("//") }.joined(separator: "\n")
    let document = try JSONParser.parse(lines)
    let counters = try #require(document["rules"]?[SwarmCounters.root])
    #expect(counters["shared"]?["$number"]?[".write"]?.string == "auth != null")
    #expect(counters["own"]?["$uid"]?[".write"]?.string == "auth != null && auth.uid === $uid")
    #expect((document["rules"]?.members?.count ?? 0) >= 1)
    // A transaction on a number reads it, whether or not the rules let everybody read everything.
    #expect(counters[".read"]?.string == "auth != null")
    #expect((document["rules"]?[".read"] != nil) == rules.contains(".read"))
  }

  @Test("A document without rules is left unchanged")
  func none() {
    #expect(SwarmCounters.allowed(in: "{}") == nil)
  }
}
