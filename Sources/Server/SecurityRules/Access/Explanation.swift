package import RealtimeCore

/// Which rule decided a request, and how it came to its result.
///
/// It quotes rules and data, so only people who may see those should be shown it.
package struct Explanation: Hashable, Sendable, CustomStringConvertible {
  /// How a rule came to its result.
  package enum Outcome: Hashable, Sendable {
    /// The rule was true.
    case satisfied
    /// The rule was false.
    case refused
    /// The rule could not be computed, which counts as false: the message, and where in the document.
    case failed(String, SourcePosition?)
  }

  /// One rule at one location, and its result.
  package struct Evaluation: Hashable, Sendable, CustomStringConvertible {
    /// What the rule decides.
    package let kind: RuleKind
    /// The location of the rule in the document, wildcards by name, such as `/posts/$post`.
    package let rulePath: String
    /// The location of the data it was asked about.
    package let location: Path
    /// The expression as it was written.
    package let expression: String
    /// Where the expression stands in the document.
    package let position: SourcePosition
    /// The result.
    package let outcome: Outcome

    package var description: String {
      let result =
        switch outcome {
        case .satisfied: "true"
        case .refused: "false"
        case .failed(let message, let place):
          "error: \(message)" + (place.map { " (at \($0))" } ?? "")
        }
      let words = expression.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return "\(place): \(words) → \(result)"
    }

    /// Which rule this is, and where it was asked, without the expression.
    package var place: String {
      "\(kind.rawValue) of \(rulePath) (line \(position.line)) at \(location)"
    }
  }

  /// A name in the rule and what it stood for, as short text.
  package struct Binding: Hashable, Sendable {
    /// The name, such as `$post`, `auth` or `newData`.
    package let name: String
    /// The value as JSON, or how many children it has.
    package let text: String
  }

  /// The rule that decided, or nil when no rule applied, which denies.
  ///
  /// What allowed a request is told only when an explanation was asked for.
  package let decisive: Evaluation?
  /// What the names in that rule stood for; empty unless an explanation was asked for.
  package let bindings: [Binding]
  /// Every rule that was evaluated, in order; empty unless an explanation was asked for.
  package let evaluations: [Evaluation]

  package var description: String {
    guard let decisive else { return "no rule grants this" }
    let values = bindings.map { "\n  \($0.name) = \($0.text)" }
    return decisive.description + values.joined()
  }
}
