import Foundation
import RealtimeCore
import RealtimeServer
import Testing

/// A document that is refused, and how.
struct DocumentError: Sendable, CustomTestStringConvertible {
  let source: String
  let place: String
  let message: String

  var testDescription: String { source }

  static let all: [DocumentError] = RuleLine.all.compactMap { line in
    let parts = line.rest.components(separatedBy: " → ")
    guard line.word.wholeMatch(of: /\d+:\d+/) != nil, parts.count == 2 else { return nil }
    return DocumentError(source: parts[0], place: line.word, message: parts[1])
  }
}

@Suite("Rules documents")
struct DocumentTests {
  private func error(_ source: String) -> RulesError? {
    do throws(RulesError) {
      _ = try RuleSet(source: source)
      return nil
    } catch {
      return error
    }
  }

  @Test("Comments and multi-line strings are allowed")
  func comments() throws {
    let rules = try RuleSet(
      source: """
        // one
        { /* two
             lines */ "rules": { // three
          ".read": "true
            && '// no comment'.length == 13"
        /**/}}
        """
    )
    #expect(rules.canRead(.root, by: .nobody, now: 0, root: .empty).isAllowed)
  }

  @Test("Trailing commas are allowed, lone commas are not")
  func trailingCommas() throws {
    _ = try RuleSet(source: #"{"rules":{"a":{".indexOn":["x","y",],".read":true,},},}"#)
    for source in [#"{,}"#, #"{"rules":{,}}"#, #"{"rules":{".indexOn":[,]}}"#] {
      #expect(error(source) != nil, "\(source)")
    }
  }

  @Test("An error is reported with its line and column", arguments: DocumentError.all)
  func places(_ expected: DocumentError) throws {
    let error = try #require(self.error(expected.source))
    #expect("\(error.line):\(error.column)" == expected.place)
    #expect(error.message.contains(expected.message), "\(error.message)")
  }

  @Test("Invalid UTF-8 is reported with its position")
  func encoding() {
    #expect(throws: RulesError.self) { try RuleSet(bytes: Array("{\n ".utf8) + [0xFF]) }
    do throws(RulesError) {
      _ = try RuleSet(bytes: Array("{\n ".utf8) + [0xFF])
    } catch {
      #expect((error.line, error.column) == (2, 2))
    }
  }

  @Test("A deeply nested document is refused")
  func depth() {
    func document(_ depth: Int) -> String {
      #"{"rules":"# + String(repeating: #"{"a":"#, count: depth) + "{}"
        + String(repeating: "}", count: depth + 1)
    }
    #expect(error(document(30)) == nil)
    #expect(error(document(5_000))?.message.contains("nested deeper") == true)
    #expect(error(String(repeating: "[", count: 5_000)) != nil)
  }

  @Test(
    "A deeply nested expression is refused",
    arguments: ["(", "!", "-", "true ? true : ", "root.child(", "auth[", "'x'.contains("]
  )
  func expressionDepth(_ opening: String) {
    let expression = String(repeating: opening, count: 16_384 / opening.count - 10)
    #expect(error(#"{"rules":{".read":"\#(expression)"}}"#)?.message.contains("deeper") == true)
  }

  @Test("Long chains of operators and members are refused, long conditions are not")
  func chains() {
    let sum = "1" + String(repeating: " + 1", count: 4_000) + " == 1"
    let members = "auth" + String(repeating: ".a", count: 4_000) + " == 1"
    let conditions = "true" + String(repeating: " && true", count: 1_500)
    #expect(error(#"{"rules":{".read":"\#(sum)"}}"#)?.message.contains("deeper") == true)
    #expect(error(#"{"rules":{".read":"\#(members)"}}"#)?.message.contains("deeper") == true)
    #expect(error(#"{"rules":{".read":"\#(conditions)"}}"#) == nil)
  }

  @Test("Overlong expressions and documents are refused")
  func sizes() {
    let long = String(repeating: " ", count: RulesLimits.expressionLength) + "true"
    #expect(error(#"{"rules":{".read":"\#(long)"}}"#)?.message.contains("longer than") == true)
    let huge = #"{"rules":{}}"# + String(repeating: " ", count: RulesLimits.sourceBytes)
    #expect(error(huge)?.message.contains("longer than") == true)
  }

  @Test("Indexes are found where they are declared")
  func indexes() throws {
    let rules = try RuleSet(
      source: """
        {"rules":{".indexOn":"top","a":{".indexOn":["x","y/z",".value"],"b":{}},
         "$any":{"$id":{".indexOn":"n"}}}}
        """
    )
    #expect(rules.indexes(at: .root) == [.child("top")])
    #expect(rules.indexes(at: "a") == [.child("x"), .child("y/z"), .value])
    #expect(rules.indexes(at: "a/b") == [])
    #expect(rules.indexes(at: "q/r") == [.child("n")])
    #expect(rules.indexes(at: "a/r") == [])
    #expect(rules.isIndexed("a", by: .child("y/z")))
    #expect(rules.isIndexed("a", by: .value))
    #expect(!rules.isIndexed("a", by: .child("y")))
    #expect(!rules.isIndexed("q", by: .value))
    #expect(rules.isIndexed("q", by: .key))
    #expect(rules.isIndexed("q", by: .priority))
  }

  @Test("Closed rules deny and open rules allow everything")
  func constants() {
    for path in [Path.root, "a/b"] {
      #expect(!RuleSet.closed.canRead(path, by: .nobody, now: 0, root: .empty).isAllowed)
      #expect(
        !RuleSet.closed.canWrite([path], by: .nobody, now: 0, from: .empty, to: .bool(true))
          .isAllowed
      )
      #expect(RuleSet.open.canRead(path, by: .nobody, now: 0, root: .empty).isAllowed)
      #expect(
        RuleSet.open.canWrite([path], by: .nobody, now: 0, from: .empty, to: .bool(true)).isAllowed
      )
    }
  }
}
