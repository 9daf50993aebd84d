/// What an expression is as far as that is certain for who has not signed in.
private enum Certainty {
  case null
  case bool(Bool)
  /// Some text or number.
  case other
  case unknown
}

extension Expression {
  /// Whether the expression can be true for who has not signed in, as far as it shows without data.
  ///
  /// A wrong yes costs memory, a wrong no would refuse what the rules allow: in doubt it is yes.
  var mayHoldForNobody: Bool {
    switch certainty {
    case .bool(false), .null, .other: false
    case .bool(true), .unknown: true
    }
  }

  private var certainty: Certainty {
    switch self {
    case .auth: .null
    case .literal(.null): .null
    case .literal(.bool(let value)): .bool(value)
    case .literal(.number), .literal(.text): .other
    // A member of nothing is nothing, or an error, which denies as well.
    case .member(let base, _, _): base.isNothing ? .null : .unknown
    case .index(let base, _, _): base.isNothing ? .null : .unknown
    case .not(let operand):
      if case .bool(let value) = operand.certainty { .bool(!value) } else { .unknown }
    case .all(let operands):
      operands.contains { !$0.mayHoldForNobody } ? .bool(false) : .unknown
    case .any(let operands):
      operands.contains(where: \.mayHoldForNobody) ? .unknown : .bool(false)
    case .binary(.equal, let left, let right, _): Self.equality(left, right) ?? .unknown
    case .binary(.notEqual, let left, let right, _):
      switch Self.equality(left, right) {
      case .bool(let value)?: .bool(!value)
      case .null?, .other?, .unknown?, nil: .unknown
      }
    case .ternary(let condition, let first, let second):
      if case .bool(let value) = condition.certainty {
        value ? first.certainty : second.certainty
      } else {
        first.mayHoldForNobody || second.mayHoldForNobody ? .unknown : .bool(false)
      }
    case .now, .root, .data, .newData, .capture, .query, .negate, .binary, .snapshotCall,
      .stringCall, .matches:
      .unknown
    }
  }

  private var isNothing: Bool {
    if case .null = certainty { true } else { false }
  }

  /// Whether two values are the same, where at least one is nothing and the other certain; a key of
  /// the path is never nothing.
  private static func equality(_ left: Expression, _ right: Expression) -> Certainty? {
    switch (left.certainty, right.certainty) {
    case (.null, .null): .bool(true)
    case (.null, .bool), (.bool, .null), (.null, .other), (.other, .null): .bool(false)
    case (.bool(let left), .bool(let right)): .bool(left == right)
    case (.null, .unknown):
      if case .capture = right { .bool(false) } else { nil }
    case (.unknown, .null):
      if case .capture = left { .bool(false) } else { nil }
    case (.bool, .other), (.other, .bool), (.other, .other), (.unknown, _), (_, .unknown): nil
    }
  }
}
