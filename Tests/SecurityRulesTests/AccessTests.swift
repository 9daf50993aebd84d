import RealtimeCore
import RealtimeServer
import Testing

@Suite("Rule lookup")
struct AccessTests {
  private func reads(_ rules: String, _ path: Path, _ data: String = "null") throws -> Bool {
    try RuleSet(source: #"{"rules":\#(rules)}"#)
      .canRead(path, by: .nobody, now: 0, root: try Node(parsing: data)).isAllowed
  }

  /// Whether all changes may be written together.
  private func writes(
    _ rules: String,
    _ changes: [(Path, String)],
    _ data: String = "null"
  ) throws -> Bool {
    let old = try Node(parsing: data)
    var new = old
    for (path, json) in changes { new.update(at: path, to: try Node(parsing: json)) }
    return try RuleSet(source: #"{"rules":\#(rules)}"#)
      .canWrite(changes.map(\.0), by: .nobody, now: 0, from: old, to: new).isAllowed
  }

  @Test("Without rules everything is denied")
  func none() throws {
    #expect(try !reads("{}", "a"))
    #expect(try !writes("{}", [("a", "1")]))
    #expect(try !writes(#"{".validate":true}"#, [("a", "1")]))
    #expect(try !reads(#"{"b":{".read":true}}"#, "a"))
  }

  @Test("A grant above applies below and cannot be revoked there")
  func cascade() throws {
    let rules = #"{"a":{".read":true,".write":true,"b":{".read":false,".write":false}}}"#
    #expect(try reads(rules, "a/b/c"))
    #expect(try writes(rules, [("a/b/c", "1")]))
    #expect(try !reads(rules, .root))
    #expect(try !writes(rules, [(.root, "1")]))
  }

  @Test("A grant below does not apply above")
  func noUpwardGrant() throws {
    let rules = #"{"a":{"b":{".read":true,".write":true}}}"#
    #expect(try !reads(rules, "a"))
    #expect(try !writes(rules, [("a", #"{"b":1}"#)]))
    #expect(try reads(rules, "a/b"))
    #expect(try writes(rules, [("a/b", "1")]))
  }

  @Test("One true rule along the path is enough")
  func anyGrant() throws {
    let rules = #"{".read":false,"a":{".read":"data.val() == 9","b":{".read":true}}}"#
    #expect(try reads(rules, "a/b"))
    #expect(try !reads(rules, "a"))
  }

  @Test("A wildcard matches every key without rules of its own")
  func wildcards() throws {
    let rules = #"{"u":{"$id":{".read":"$id == 'x'","in":{"$k":{".read":"$id + $k == 'ab'"}}}}}"#
    #expect(try reads(rules, "u/x"))
    #expect(try !reads(rules, "u/y"))
    #expect(try reads(rules, "u/a/in/b"))
    #expect(try !reads(rules, "u/b/in/a"))
  }

  @Test("A literal key hides the wildcard, whose rules are not merged in")
  func literalPrecedence() throws {
    let rules = #"{"u":{"me":{"x":{}},"$id":{".read":true,".write":true,".validate":false}}}"#
    #expect(try !reads(rules, "u/me"))
    #expect(try reads(rules, "u/other"))
    #expect(try !writes(rules, [("u/me", "1")]))
    #expect(try !writes(rules, [("u/other", "1")]))
    let validated = #"{".write":true,"u":{"me":{},"$id":{".validate":false}}}"#
    #expect(try writes(validated, [("u", #"{"me":1}"#)]))
    #expect(try !writes(validated, [("u", #"{"me":1,"you":2}"#)]))
  }

  @Test("A key is found among many, and a missing one is not mistaken for its neighbor")
  func manyNames() throws {
    let names = (0..<20).map { "k\(2 * $0)" }
    let literals = names.map { "\"\($0)\":{\".read\":\"data.val() == 1\"}" }
    let other = #""$other":{".read":"data.val() == 2"}"#
    let rules = "{\((literals + [other]).joined(separator: ","))}"
    for name in names {
      #expect(try reads(rules, Path([ChildKey(name)]), "{\"\(name)\":1}"))
      #expect(try !reads(rules, Path([ChildKey(name)]), "{\"\(name)\":2}"))
    }
    for name in (0..<20).map({ "k\(2 * $0 + 1)" }) + ["a", "z", "0"] {
      #expect(try reads(rules, Path([ChildKey(name)]), "{\"\(name)\":2}"))
      #expect(try !reads(rules, Path([ChildKey(name)]), "{\"\(name)\":1}"))
    }
  }

  @Test("Rules see the location where they are declared, not where the request goes")
  func ownLocation() throws {
    let rules = #"{"a":{".read":"data.child('open').val() == true"}}"#
    #expect(try reads(rules, "a/deep/er", #"{"a":{"open":true}}"#))
    #expect(try !reads(rules, "a/deep/er", #"{"a":{"deep":{"er":{"open":true}}}}"#))
    let write = #"{"a":{".write":"newData.hasChildren(['x', 'y']) && !data.hasChild('x')"}}"#
    #expect(try writes(write, [("a/x", "1")], #"{"a":{"y":1}}"#))
    #expect(try !writes(write, [("a/z", "1")], #"{"a":{"y":1}}"#))
  }

  @Test("Every .validate rule on the path and below must hold")
  func validation() throws {
    let rules = """
      {".write":true,"a":{".validate":"newData.hasChild('n')",
       "n":{".validate":"newData.isNumber()"},
       "list":{"$i":{".validate":"newData.isString()","deep":{"x":{".validate":false}}}}}}
      """
    #expect(try writes(rules, [("a", #"{"n":1}"#)]))
    #expect(try !writes(rules, [("a", #"{"m":1}"#)]))
    #expect(try !writes(rules, [("a", #"{"n":"1"}"#)]))
    #expect(try !writes(rules, [("a/m", "1")]))
    #expect(try writes(rules, [("a/m", "1")], #"{"a":{"n":1}}"#))
    #expect(try writes(rules, [("a", #"{"n":1,"list":{"x":"s","y":"t"}}"#)]))
    #expect(try !writes(rules, [("a", #"{"n":1,"list":{"x":"s","y":2}}"#)]))
    #expect(try !writes(rules, [(.root, #"{"a":{"n":1,"list":{"x":2}}}"#)]))
    #expect(try !writes(rules, [("a/list/x/deep/x", "1")], #"{"a":{"n":1}}"#))
    #expect(try writes(rules, [("b", "1")]))
  }

  @Test("A .validate rule is found below locations without one")
  func validationFurtherDown() throws {
    let named = #"{".write":true,"a":{"b":{"c":{".validate":false}}}}"#
    #expect(try !writes(named, [(.root, #"{"a":{"b":{"c":1}}}"#)]))
    #expect(try writes(named, [(.root, #"{"a":{"b":{"d":1}}}"#)]))
    let wildcard = #"{".write":true,"a":{"$k":{"c":{".validate":false}}}}"#
    #expect(try !writes(wildcard, [(.root, #"{"a":{"b":{"c":1}}}"#)]))
    #expect(try writes(wildcard, [(.root, #"{"a":{"b":{"d":1}}}"#)]))
  }

  @Test("Validation covers only the written path, not its siblings")
  func validationBeside() throws {
    let rules = #"{".write":true,"a":{"$k":{".validate":"newData.isString()"}}}"#
    #expect(try writes(rules, [("a/x", #""s""#)], #"{"a":{"old":5}}"#))
    #expect(try !writes(rules, [("a", #"{"x":"s","old":5}"#)], #"{"a":{"old":5}}"#))
  }

  @Test("Deleted data is not validated, but what remains above it is")
  func deletion() throws {
    let rules = """
      {".write":true,"a":{".validate":"newData.hasChildren(['n'])","n":{".validate":false}}}
      """
    #expect(try writes(rules, [("a", "null")], #"{"a":{"n":1,"m":2}}"#))
    #expect(try !writes(rules, [("a/n", "null")], #"{"a":{"n":1,"m":2}}"#))
    #expect(try writes(rules, [("a/n", "null")], #"{"a":{"n":1}}"#))
    #expect(try !writes(#"{"a":{".write":"newData.exists()"}}"#, [("a", "null")], #"{"a":1}"#))
    #expect(try !writes(#"{"a":{".write":"data.exists()"}}"#, [("a", "1")]))
  }

  @Test("A multi-path write is checked as one: every path sees the same new data and must pass")
  func multiPath() throws {
    let rules = """
      {"a":{".write":"newData.parent().child('b').val() == newData.val()"},
       "b":{".write":"root.child('b').val() == null"},
       "c":{".write":true,".validate":"newData.val() != 3"}}
      """
    #expect(try writes(rules, [("a", "1"), ("b", "1")]))
    #expect(try writes(rules, [("b", "1"), ("a", "1")]))
    #expect(try !writes(rules, [("a", "1")]))
    #expect(try !writes(rules, [("a", "1"), ("b", "2")]))
    #expect(try !writes(rules, [("a", "1"), ("b", "1")], #"{"b":1}"#))
    #expect(try !writes(rules, [("a", "1"), ("b", "1"), ("d", "1")]))
    #expect(try writes(rules, [("c", "2")]))
    #expect(try !writes(rules, [("a", "1"), ("b", "1"), ("c", "3")]))
  }

  @Test("A priority is subject to the rules of its node")
  func priority() throws {
    let rules = #"{"a":{".write":"newData.getPriority() == 5",".validate":"newData.val() == 1"}}"#
    #expect(try writes(rules, [("a/.priority", "5")], #"{"a":1}"#))
    #expect(try !writes(rules, [("a/.priority", "6")], #"{"a":1}"#))
    #expect(try !writes(rules, [("a/.priority", "5")], #"{"a":2}"#))
    let below = #"{"a":{".write":true,"$k":{".validate":"newData.isString()"}}}"#
    #expect(try !writes(below, [("a/.priority", "5")], #"{"a":{"k":1}}"#))
  }

  @Test("An error makes a rule false: it grants nothing and fails validation")
  func errors() throws {
    #expect(try !reads(#"{".read":"auth.x.length > 1 ? false : true"}"#, "a"))
    #expect(try !writes(#"{".write":true,".validate":"root.parent().exists()"}"#, [("a", "1")]))
    #expect(try reads(#"{".read":"auth.x.length > 1","a":{".read":true}}"#, "a"))
  }

  @Test("now is the time of the request")
  func now() throws {
    let rules = try RuleSet(source: #"{"rules":{".write":"newData.val() == now"}}"#)
    let time: Int64 = 1_700_000_000_123
    let stamped = Node.leaf(.deferred(.timestamp)).resolvingDeferred(
      existing: .empty,
      timestamp: time
    )
    #expect(rules.canWrite([.root], by: .nobody, now: time, from: .empty, to: stamped).isAllowed)
    #expect(
      !rules.canWrite([.root], by: .nobody, now: time + 1, from: .empty, to: stamped).isAllowed
    )
  }

  @Test("Keys that differ only in Unicode composition are distinct")
  func composition() throws {
    let rules = #"{"\u00e9":{".read":true},"$k":{".read":"$k == 'e\u0301'"}}"#
    #expect(try reads(rules, Path([ChildKey("\u{E9}")])))
    #expect(try reads(rules, Path([ChildKey("e\u{301}")])))
    #expect(try !reads(#"{"\u00e9":{".read":true}}"#, Path([ChildKey("e\u{301}")])))
  }
}
