import RealtimeCore
import Testing

@testable import RealtimeServer

@Suite("Explanations of decisions")
struct ExplanationTests {
  private let rules: RuleSet
  private let root: Node

  init() throws {
    rules = try RuleSet(
      source: """
        {"rules":{
          ".read": false,
          "posts": {
            "$post": {
              ".read": "data.child('open').val() == true",
              ".write": "auth.uid == 'alice'",
              "title": {".validate": "newData.isString()"},
              "n": {".validate": "newData.val() > data.val()"}
            }
          }
        }}
        """
    )
    root = try Node(parsing: #"{"posts":{"p":{"open":true},"q":{"title":"x"}}}"#)
  }

  private func write(_ path: Path, _ node: Node, as uid: String) -> Decision {
    rules.canWrite(
      [path],
      by: RuleSubject(.object(("uid", .string(uid)))),
      now: 0,
      from: root,
      to: root.setting(path, to: node),
      explaining: true
    )
  }

  @Test("An allowed request names the rule that granted it")
  func granted() throws {
    let decision = rules.canRead("posts/p/title", by: .nobody, now: 0, root: root, explaining: true)
    let rule = try #require(decision.explanation.decisive)
    #expect(decision.isAllowed)
    #expect(rule.kind == .read)
    #expect(rule.rulePath == "/posts/$post")
    #expect(rule.location == "posts/p")
    #expect(rule.expression == "data.child('open').val() == true")
    #expect(rule.position.line == 5)
    #expect(rule.outcome == .satisfied)
    #expect(decision.explanation.evaluations.map(\.rulePath) == ["/", "/posts/$post"])
    #expect(decision.explanation.evaluations.map(\.outcome) == [.refused, .satisfied])
  }

  @Test("A refused request names the refusing rule and the values it saw")
  func refused() throws {
    let decision = write("posts/q/title", .integer(5), as: "alice")
    let rule = try #require(decision.explanation.decisive)
    #expect(!decision.isAllowed)
    #expect(rule.kind == .validate)
    #expect(rule.rulePath == "/posts/$post/title")
    #expect(rule.outcome == .refused)
    let names = decision.explanation.bindings.map { "\($0.name)=\($0.text)" }
    #expect(names == ["$post=\"q\"", #"auth={"uid":"alice"}"#, #"data="x""#, "newData=5"])
    #expect(decision.explanation.description.contains("newData.isString() → false"))
  }

  @Test("A write without a grant names the last rule that could have granted it")
  func notGranted() {
    let decision = write("posts/q/title", .string("y"), as: "bob")
    #expect(decision.explanation.decisive?.kind == .write)
    #expect(decision.explanation.decisive?.outcome == .refused)
  }

  @Test("A runtime error is reported with its position")
  func failed() {
    let decision = write("posts/q/n", .integer(5), as: "alice")
    let message = "'>' compares two numbers or two strings, but these are a number and null"
    #expect(
      decision.explanation.decisive?.outcome
        == .failed(message, SourcePosition(line: 8, column: 41))
    )
  }

  @Test("A plain refusal does not mention an error in a rule above it")
  func refusedAfterError() throws {
    let rules = try RuleSet(
      source: #"{"rules":{".read":"auth.x.length > 1","a":{".read":"data.val() == 1"}}}"#
    )
    let decision = rules.canRead("a", by: .nobody, now: 0, root: root)
    #expect(decision.explanation.decisive?.rulePath == "/a")
    #expect(decision.explanation.decisive?.outcome == .refused)
  }

  @Test("No rule is named where none applies")
  func noRule() {
    let decision = write("nowhere", .integer(5), as: "alice")
    #expect(!decision.isAllowed)
    #expect(decision.explanation.decisive == nil)
    #expect(decision.explanation.description == "no rule grants this")
  }

  @Test("A multi-line expression is shown on one line")
  func lines() throws {
    let rules = try RuleSet(source: "{\"rules\":{\".read\":\"true\n  &&\r\n\tfalse\"}}")
    let explanation = rules.canRead(.root, by: .nobody, now: 0, root: root).explanation
    #expect(explanation.description == ".read of / (line 1) at /: true && false → false")
  }

  @Test("Each wildcard is shown with the key it matched")
  func wildcards() throws {
    let rules = try RuleSet(source: #"{"rules":{"$a":{"$b":{".read":"$a == $b"}}}}"#)
    let decision = rules.canRead("x/y", by: .nobody, now: 0, root: root, explaining: true)
    let names = decision.explanation.bindings.map { "\($0.name)=\($0.text)" }
    #expect(names.prefix(2) == [#"$a="x""#, #"$b="y""#])
  }

  @Test("Values and evaluations are collected only on request")
  func cheap() {
    let decision = rules.canRead("posts/p", by: .nobody, now: 0, root: root)
    #expect(decision.isAllowed)
    #expect(decision.explanation.decisive == nil)
    #expect(decision.explanation.bindings.isEmpty)
    #expect(decision.explanation.evaluations.isEmpty)
  }
}
