package import RealtimeCore

/// Whether a request is allowed, and why.
package struct Decision: Hashable, Sendable {
  package let isAllowed: Bool
  /// Whether the request stays allowed regardless of changes to the data and of time.
  package let isLasting: Bool
  /// Whether the request was denied because it took too many steps.
  let isExhausted: Bool
  /// The rule that decided.
  package let explanation: Explanation
}

/// Explains which rule decided a request, and why.
///
/// An explanation quotes rules and data, so show it only to people who may see both.
package struct Explanation: Hashable, Sendable, CustomStringConvertible {
  /// The result of a rule.
  package enum Outcome: Hashable, Sendable {
    case satisfied
    case refused
    /// The evaluation failed, which counts as false: the message, and the position in the document.
    case failed(String, SourcePosition?)
  }

  /// The evaluation of one rule at one location.
  package struct Evaluation: Hashable, Sendable, CustomStringConvertible {
    package let kind: RuleKind
    /// The location of the rule in the document, with wildcards by name, such as `/posts/$post`.
    package let rulePath: String
    package let location: Path
    /// The expression as it was written.
    package let expression: String
    package let position: SourcePosition
    package let outcome: Outcome

    package var description: String {
      let result =
        switch outcome {
        case .satisfied: "true"
        case .refused: "false"
        case .failed(let message, let position):
          "error: \(message)" + (position.map { " (at \($0))" } ?? "")
        }
      let words = expression.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return "\(title): \(words) → \(result)"
    }

    /// The rule and the location, without the expression.
    package var title: String {
      "\(kind.rawValue) of \(rulePath) (line \(position.line)) at \(location)"
    }
  }

  /// The value of a name in a rule, as short text.
  package struct Binding: Hashable, Sendable {
    /// The name, such as `$post`, `auth` or `newData`.
    package let name: String
    /// The value as JSON, or the number of its children.
    package let text: String
  }

  /// The rule that decided, or nil if no rule applied, in which case the request is denied.
  ///
  /// The rule that allowed a request is recorded only if an explanation was requested.
  package let decisive: Evaluation?
  /// The values of the names in that rule; empty unless an explanation was requested.
  package let bindings: [Binding]
  /// All evaluations in order; empty unless an explanation was requested.
  package let evaluations: [Evaluation]

  package var description: String {
    guard let decisive else { return "no rule grants this" }
    let values = bindings.map { "\n  \($0.name) = \($0.text)" }
    return decisive.description + values.joined()
  }
}
