/// An expression that was checked: every name is resolved, every method known.
indirect enum Expression: Sendable {
  case literal(Literal)
  case auth
  case now
  case root
  case data
  case newData
  /// The key that the wildcard of this number, counted from the root, stands for.
  case capture(Int)
  case query(QueryMember)
  /// A member of a value whose type is known only at run time, or the length of a string.
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

  /// Whether the value can change while who asks for what stays the same.
  var dependsOnDataOrTime: Bool {
    switch self {
    case .now, .root, .data, .newData: true
    case .literal, .auth, .capture, .query: false
    case .member(let base, _, _), .not(let base), .negate(let base, _), .matches(let base, _, _):
      base.dependsOnDataOrTime
    case .index(let base, let index, _): base.dependsOnDataOrTime || index.dependsOnDataOrTime
    case .binary(_, let left, let right, _):
      left.dependsOnDataOrTime || right.dependsOnDataOrTime
    case .all(let operands), .any(let operands): operands.contains(where: \.dependsOnDataOrTime)
    case .ternary(let condition, let first, let second):
      [condition, first, second].contains(where: \.dependsOnDataOrTime)
    case .snapshotCall(_, let base, let arguments, _):
      base.dependsOnDataOrTime || arguments.contains(where: \.dependsOnDataOrTime)
    case .stringCall(_, let base, let arguments, _):
      ([base] + arguments).contains(where: \.dependsOnDataOrTime)
    }
  }
}
