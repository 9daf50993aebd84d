import RealtimeCore
import RealtimeServer
import Testing

/// Unchanged leaves are not checked where their rule certainly holds.
///
/// An explained request checks everything, and must have the same outcome.
@Suite("Rules for unchanged data")
struct UnchangedDataTests {
  private static let conditions = [
    "newData.val() === data.val()", "newData.isString()", "newData.isNumber()",
    "newData.isBoolean()", "newData.exists()", "newData.hasChildren()", "newData.val() != null",
    "newData.getPriority() === null", "newData.getPriority() === data.getPriority()",
    "data.parent().child('b').isString()", "newData.parent().val() === data.parent().val()", "true",
    "false", "auth.uid === 'ann'", "root.child('p/a').val() === newData.val()",
    "newData.val() === newData.parent().child('b').val()",
    "newData.val() === (data.exists() ? data.val() : auth.uid)",
    "(newData.isString() ? newData.val() : 1) === data.val()",
    "newData.val() === (data.isNumber() || auth.uid === 'ann' ? data.val() : 'x')",
  ]

  private static let values = [
    "null", "1", "2", "0.5", "true", "false", #""x""#, #""y""#, #"{"c":1}"#,
  ]

  @Test("give the same result whether or not they are evaluated", arguments: ["&&", "||"])
  func explained(connection: String) throws {
    var outcomes: [Bool: Int] = [:]
    for (index, first) in Self.conditions.enumerated() {
      for second in Self.conditions[index...] {
        for expression in [
          "\(first) \(connection) \(second)", "!(\(first)) \(connection) \(second)",
        ] {
          let rules = try RuleSet(
            source: """
              {"rules": {"p": {".write": true, "a": {".validate": "\(expression)"}}}}
              """
          )
          for (old, new) in Self.values.flatMap({ old in Self.values.map { (old, $0) } }) {
            let before = try Node(parsing: #"{"p":{"a":\#(old),"b":"x"}}"#)
            let after = try Node(parsing: #"{"p":{"a":\#(new),"b":"z"}}"#)
            let isAllowed = [false, true].map {
              rules.canWrite(["p"], by: .nobody, now: 0, from: before, to: after, explaining: $0)
                .isAllowed
            }
            #expect(isAllowed[0] == isAllowed[1], "\(expression): \(old) becomes \(new)")
            outcomes[isAllowed[0], default: 0] += 1
          }
        }
      }
    }
    #expect(outcomes[true, default: 0] > 1_000)
    #expect(outcomes[false, default: 0] > 1_000)
  }
}
