/// A checked expression: all names and methods are resolved.
indirect enum Expression: Sendable {
  case literal(Literal)
  case auth
  case now
  case root
  case data
  case newData
  /// The key that a wildcard matched; wildcards are numbered from the root.
  case capture(Int)
  case query(QueryMember)
  /// A member of a value of unknown type, or the length of a string.
  case member(Expression, String, at: Int)
  case index(Expression, Expression, at: Int)
  case not(Expression)
  case negate(Expression, at: Int)
  case binary(BinaryOperator, Expression, Expression, at: Int)
  case all([Expression])
  case any([Expression])
  case ternary(Expression, Expression, Expression)
  case snapshotCall(SnapshotMethod, Expression, [PathArgument], at: Int)
  case stringCall(StringMethod, Expression, [Expression], at: Int)
  case matches(Expression, RegexProgram, at: Int)

  /// Whether the value can differ between identical requests of one client.
  var dependsOnDataOrTime: Bool {
    switch self {
    case .now, .root, .data, .newData: true
    case .literal, .auth, .capture, .query, .member, .index, .not, .negate, .binary, .all, .any,
      .ternary, .snapshotCall, .stringCall, .matches:
      parts.contains(where: \.dependsOnDataOrTime)
    }
  }

  var dependsOnNewData: Bool {
    if case .newData = self { true } else { parts.contains(where: \.dependsOnNewData) }
  }

  /// The expressions that it directly consists of.
  private var parts: [Expression] {
    switch self {
    case .literal, .auth, .now, .root, .data, .newData, .capture, .query: []
    case .member(let base, _, _), .not(let base), .negate(let base, _), .matches(let base, _, _):
      [base]
    case .index(let first, let second, _), .binary(_, let first, let second, _): [first, second]
    case .all(let operands), .any(let operands): operands
    case .ternary(let condition, let first, let second): [condition, first, second]
    case .snapshotCall(_, let base, let arguments, _): [base] + arguments.compactMap(\.expression)
    case .stringCall(_, let base, let arguments, _): [base] + arguments
    }
  }
}

/// The path argument of a snapshot method.
enum PathArgument: Sendable {
  case constant(String)
  /// A path computed at run time.
  case computed(Expression)

  init(_ expression: Expression) {
    if case .literal(.text(let text)) = expression {
      self = .constant(text)
    } else {
      self = .computed(expression)
    }
  }

  /// What computes the path; nil for a literal one.
  fileprivate var expression: Expression? {
    if case .computed(let expression) = self { expression } else { nil }
  }
}

enum Literal: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
}

/// A binary operator other than the two logical ones, which short-circuit.
enum BinaryOperator: String, Sendable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case atMost = "<="
  case greater = ">"
  case atLeast = ">="

  /// Whether the result is a number or a string rather than a boolean.
  var isArithmetic: Bool {
    switch self {
    case .add, .subtract, .multiply, .divide, .remainder: true
    case .equal, .notEqual, .less, .atMost, .greater, .atLeast: false
    }
  }
}

enum SnapshotMethod: String, CaseIterable, Sendable {
  case val, child, parent, hasChild, hasChildren, exists, getPriority
  case isNumber, isString, isBoolean

  var type: RuleType {
    switch self {
    case .val, .getPriority: .primitive
    case .child, .parent: .snapshot
    case .hasChild, .hasChildren, .exists, .isNumber, .isString, .isBoolean: .boolean
    }
  }
}

enum StringMethod: String, CaseIterable, Sendable {
  case contains, beginsWith, endsWith, replace, toLowerCase, toUpperCase, matches

  var argumentCount: Int {
    switch self {
    case .contains, .beginsWith, .endsWith, .matches: 1
    case .replace: 2
    case .toLowerCase, .toUpperCase: 0
    }
  }

  var type: RuleType {
    switch self {
    case .contains, .beginsWith, .endsWith, .matches: .boolean
    case .replace, .toLowerCase, .toUpperCase: .string
    }
  }
}

/// A member of the query of a read.
enum QueryMember: String, CaseIterable, Sendable {
  case orderByKey, orderByValue, orderByPriority, orderByChild
  case startAt, endAt, equalTo, limitToFirst, limitToLast

  var type: RuleType {
    switch self {
    case .orderByKey, .orderByValue, .orderByPriority: .boolean
    case .orderByChild, .startAt, .endAt, .equalTo, .limitToFirst, .limitToLast: .any
    }
  }
}

package enum RuleKind: String, Hashable, Sendable {
  case read = ".read"
  case write = ".write"
  case validate = ".validate"
}

/// A value that is certain for clients that have not signed in.
private enum Certainty {
  case null
  case bool(Bool)
  /// Some text or number.
  case other
}

extension Expression {
  /// Whether the expression may be true for clients that have not signed in.
  ///
  /// A wrong yes costs memory, whereas a wrong no would deny what the rules allow. So the result is
  /// true unless the opposite is certain without looking at data.
  var mayHoldForNobody: Bool {
    switch certainty {
    case .bool(false), .null, .other: false
    case .bool(true), nil: true
    }
  }

  private var certainty: Certainty? {
    switch self {
    case .auth, .literal(.null): .null
    case .literal(.bool(let value)): .bool(value)
    case .literal(.number), .literal(.text): .other
    // A member of null is either null or an error, which denies as well.
    case .member(let base, _, _), .index(let base, _, _):
      if case .null? = base.certainty { .null } else { nil }
    case .not(let operand):
      if case .bool(let value) = operand.certainty { .bool(!value) } else { nil }
    case .all(let operands):
      operands.contains { !$0.mayHoldForNobody } ? .bool(false) : nil
    case .any(let operands):
      operands.contains(where: \.mayHoldForNobody) ? nil : .bool(false)
    case .binary(.equal, let left, let right, _):
      Self.areEqual(left, right).map { .bool($0) }
    case .binary(.notEqual, let left, let right, _):
      Self.areEqual(left, right).map { .bool(!$0) }
    case .ternary(let condition, let first, let second):
      if case .bool(let value) = condition.certainty {
        value ? first.certainty : second.certainty
      } else {
        first.mayHoldForNobody || second.mayHoldForNobody ? nil : .bool(false)
      }
    case .now, .root, .data, .newData, .capture, .query, .negate, .binary, .snapshotCall,
      .stringCall, .matches:
      nil
    }
  }

  /// Whether two values are equal, if that is certain; a captured key is never null.
  private static func areEqual(_ left: Expression, _ right: Expression) -> Bool? {
    switch (left.certainty, right.certainty) {
    case (.null, .null): true
    case (.null, .bool), (.bool, .null), (.null, .other), (.other, .null): false
    case (.bool(let left), .bool(let right)): left == right
    case (.null, nil):
      if case .capture = right { false } else { nil }
    case (nil, .null):
      if case .capture = left { false } else { nil }
    case (.bool, .other), (.other, .bool), (.other, .other), (nil, _), (_, nil): nil
    }
  }
}
