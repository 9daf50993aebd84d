import Foundation
import Testing

/// An expression of a rule, and what comes of it.
struct RuleExpression: Sendable, CustomTestStringConvertible {
  let section: String
  let text: String
  let expected: ProbeResult

  var testDescription: String { "\(section): \(text)" }

  /// The expressions in `Expressions.txt`, which describes itself.
  static let all: [RuleExpression] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Expressions.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    var section = ""
    return text.components(separatedBy: "\n").compactMap { line in
      if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let expected = ProbeResult(rawValue: String(parts[0])) else {
        return nil
      }
      let text = parts[1].replacing("⏎", with: "\n")
      return RuleExpression(section: section, text: String(text), expected: expected)
    }
  }()
}

@Suite("Expressions of rules")
struct ExpressionTests {
  @Test("have the result they should have", arguments: RuleExpression.all)
  func result(_ expression: RuleExpression) throws {
    #expect(try RuleProbe().result(expression.text) == expression.expected)
  }

  @Test("are all read")
  func all() {
    let counts = Dictionary(grouping: RuleExpression.all, by: \.section).mapValues(\.count)
    #expect(counts.count == 11 && counts.values.allSatisfy { $0 > 20 }, "\(counts)")
  }
}
