import RealtimeCore
import RealtimeServer
import Testing

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

  @Test("An expression may contain comments; strings and patterns are not mistaken for them")
  func commentsInExpressions() throws {
    let expressions = [
      "true // why", "// first\n true", "/* a */true/* b */", "true /* && false */ && true",
      "true\n// && false\n && true", "'//'.length == 2", "'/*'.length == 2", "8 / 2 /* / 0 */ == 4",
      "'a/b' .matches(/a\\/b/) // yes", "'*/'.length /**/ == 2", "true //",
    ]
    for expression in expressions {
      let text = JSONValue.string(expression).text
      let rules = try RuleSet(source: #"{"rules":{".read":\#(text)}}"#)
      let access = rules.canRead(.root, by: .nobody, now: 0, root: .empty)
      #expect(access.isAllowed, "\(expression)")
    }
    #expect(error(#"{"rules":{".read":"true /* x"}}"#) != nil)
    #expect(error(#"{"rules":{".read":"// nothing"}}"#) != nil)
  }

  @Test(
    "An error is reported with its line and column",
    arguments: [
      ("", 1, 1, "expected a value"),
      ("{", 1, 2, "expected a member name"),
      ("[]", 1, 1, "expected an object"),
      ("{}", 1, 1, "\"rules\" is missing"),
      (#"{"rule":{}}"#, 1, 2, "unknown member \"rule\""),
      (#"{"rules":{},"x":1}"#, 1, 13, "unknown member \"x\""),
      (#"{"rules":{},"rules":{}}"#, 1, 13, "appears twice"),
      (#"{"rules":[]}"#, 1, 10, "found an array"),
      (#"{"rules":{".reads":true}}"#, 1, 11, "unknown member \".reads\""),
      (#"{"rules":{".read":1}}"#, 1, 19, "not a number"),
      (#"{"rules":{".read":null}}"#, 1, 19, "not null"),
      (#"{"rules":{".write":{}}}"#, 1, 20, "not an object"),
      (#"{"rules":{"a":true}}"#, 1, 15, "found a boolean"),
      (#"{"rules":{"a#b":{}}}"#, 1, 11, "cannot contain '#'"),
      (#"{"rules":{"a/b":{}}}"#, 1, 11, "cannot contain '/'"),
      (#"{"rules":{"":{}}}"#, 1, 11, "cannot be empty"),
      (#"{"rules":{"$a":{},"$b":{}}}"#, 1, 19, "one wildcard at the most"),
      (#"{"rules":{"$a":{"x":{"$a":{}}}}}"#, 1, 22, "already further up"),
      (#"{"rules":{"$":{}}}"#, 1, 11, "a wildcard is"),
      (#"{"rules":{"$a b":{}}}"#, 1, 11, "a wildcard is"),
      (#"{"rules":{".indexOn":1}}"#, 1, 22, "string or an array"),
      (#"{"rules":{".indexOn":["a",1]}}"#, 1, 27, "must be a string"),
      (#"{"rules":{".indexOn":".foo"}}"#, 1, 22, "cannot contain '.'"),
      (#"{"rules":{".indexOn":""}}"#, 1, 22, "path of a child"),
      (#"{"rules":{}} x"#, 1, 14, "expected the end"),
      (#"{"rules":{},,}"#, 1, 13, "expected a member name"),
      (#"{"rules" {}}"#, 1, 10, "expected ':'"),
      (#"{"rules":{} "x":1}"#, 1, 13, "expected ',' or '}'"),
      ("{\n  /* x\n", 2, 3, "not closed"),
      ("{\"rules\":{\".read\":\"true", 1, 19, "not closed"),
      (#"{"rules":{".read":"\q"}}"#, 1, 20, "not a JSON escape"),
      (#"{"rules":{".read":"\u12"}}"#, 1, 20, "four hexadecimal digits"),
      (#"{"rules":{".read":"\ud800x"}}"#, 1, 20, "surrogate"),
      ("{\"rules\":{\n  \".read\": \"auth.admin\"\n}}", 2, 18, "must be a boolean"),
      ("{\"rules\":{\n  \".read\": \"auth != null &&\n    foo\"\n}}", 3, 5, "unknown name 'foo'"),
      ("{\"rules\":{\n \".write\": \"true\n\n   && 1\"\n}}", 4, 7, "operand of '&&'"),
      (#"{"rules":{".read":"a = 1"}}"#, 1, 22, "assignment"),
      (#"{"rules":{".read":"\u0061uth = 1"}}"#, 1, 30, "assignment"),
      (#"{"rules":{".read":"true tru"}}"#, 1, 25, "found 'tru'"),
      (#"{"rules":{".read":"(true"}}"#, 1, 25, "expected ')'"),
      (#"{"rules":{".read":"root.foo()"}}"#, 1, 25, "no member 'foo'"),
      (#"{"rules":{".read":"root.val"}}"#, 1, 25, "call it"),
      (#"{"rules":{".read":"newData.exists()"}}"#, 1, 20, "'newData'"),
      (#"{"rules":{".write":"query.orderByKey"}}"#, 1, 21, "only in a .read"),
      (#"{"rules":{".read":"$x == 'a'"}}"#, 1, 20, "no wildcard '$x'"),
      (#"{"rules":{"$x":{},"b":{".read":"$x == 'a'"}}}"#, 1, 33, "no wildcard '$x'"),
      (#"{"rules":{".read":"'a'.matches(/a(^b)/)"}}"#, 1, 35, "'^' is allowed only"),
      (#"{"rules":{".read":"'a'.matches(/\\d**/)"}}"#, 1, 37, "doubled repetitions"),
      (#"{"rules":{".read":"'é🐵' == 1 + true"}}"#, 1, 32, "'+' needs"),
      (#"{"rules":{".read":"root != null"}}"#, 1, 20, "exists()"),
      (#"{"rules":{".read":""}}"#, 1, 20, "found the end of the expression"),
    ] as [(String, Int, Int, String)]
  )
  func places(_ source: String, _ line: Int, _ column: Int, _ message: String) throws {
    let error = try #require(self.error(source))
    #expect(error.line == line)
    #expect(error.column == column)
    #expect(error.message.contains(message), "\(error.message)")
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
