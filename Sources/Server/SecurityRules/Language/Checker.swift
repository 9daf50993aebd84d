/// Resolves the names of an expression and checks its types.
struct Checker {
  /// An expression with what is known of its value.
  struct Typed {
    let expression: Expression
    let type: RuleType
  }

  let kind: RuleKind
  /// The names of the wildcards at and above the rule, from the root down, with their dollar signs.
  let wildcards: [String]

  /// The checked form of a whole rule, which must be statically boolean.
  func rule(_ syntax: Syntax) throws(RuleProblem) -> Expression {
    try boolean(syntax, "a rule")
  }

  private func boolean(_ syntax: Syntax, _ what: String) throws(RuleProblem) -> Expression {
    let typed = try check(syntax)
    guard typed.type == .boolean else {
      let advice = typed.type.isOpen ? "; compare it, as in 'x == true'" : ""
      throw RuleProblem(
        "\(what) must be a boolean, but this is \(typed.type.rawValue)\(advice)",
        at: syntax.offset
      )
    }
    return typed.expression
  }

  private func booleans(
    _ operands: [Syntax],
    _ what: String
  ) throws(RuleProblem) -> [Expression] {
    var expressions: [Expression] = []
    for operand in operands { expressions.append(try boolean(operand, what)) }
    return expressions
  }

  func check(_ syntax: Syntax) throws(RuleProblem) -> Typed {
    switch syntax.kind {
    case .number(let value): return Typed(expression: .literal(.number(value)), type: .number)
    case .string(let value): return Typed(expression: .literal(.text(value)), type: .string)
    case .bool(let value): return Typed(expression: .literal(.bool(value)), type: .boolean)
    case .null: return Typed(expression: .literal(.null), type: .null)
    case .regex:
      throw RuleProblem(
        "a regular expression may stand only as the argument of matches()",
        at: syntax.offset
      )
    case .array:
      throw RuleProblem(
        "an array may stand only as the argument of hasChildren()",
        at: syntax.offset
      )
    case .name(let name): return try variable(name, at: syntax.offset)
    case .member(let base, let name): return try member(name, of: base, at: syntax.offset)
    case .index(let base, let index): return try self.index(index, of: base, at: syntax.offset)
    case .call(let callee, let arguments):
      return try call(callee, arguments, at: syntax.offset)
    case .not(let operand):
      return Typed(expression: .not(try boolean(operand, "the operand of '!'")), type: .boolean)
    case .negate(let operand):
      let number = try number(operand, "-")
      return Typed(expression: .negate(number, at: syntax.offset), type: .number)
    case .binary(let operation, let left, let right):
      return try binary(operation, left, right, at: syntax.offset)
    case .all(let operands):
      let checked = try booleans(operands, "each operand of '&&'")
      return Typed(expression: .all(checked), type: .boolean)
    case .any(let operands):
      let checked = try booleans(operands, "each operand of '||'")
      return Typed(expression: .any(checked), type: .boolean)
    case .ternary(let condition, let first, let second):
      return try ternary(condition, first, second, at: syntax.offset)
    }
  }

  private func variable(_ name: String, at offset: Int) throws(RuleProblem) -> Typed {
    if let index = wildcards.firstIndex(of: name) {
      return Typed(expression: .capture(index), type: .string)
    }
    switch name {
    case "auth": return Typed(expression: .auth, type: .any)
    case "now": return Typed(expression: .now, type: .number)
    case "root": return Typed(expression: .root, type: .snapshot)
    case "data": return Typed(expression: .data, type: .snapshot)
    case "newData":
      guard kind != .read else {
        throw RuleProblem("'newData' does not exist in a .read rule", at: offset)
      }
      return Typed(expression: .newData, type: .snapshot)
    case "query":
      guard kind == .read else {
        throw RuleProblem("'query' exists only in a .read rule", at: offset)
      }
      return Typed(expression: .literal(.null), type: .query)
    default:
      let known = (["auth", "now", "root", "data"] + wildcards).joined(separator: ", ")
      let what = name.hasPrefix("$") ? "no wildcard '\(name)' at or above this rule" : nil
      throw RuleProblem(
        (what ?? "unknown name '\(name)'") + "; names that exist here: \(known)"
          + (kind == .read ? ", query" : ", newData"),
        at: offset
      )
    }
  }

  private func number(_ syntax: Syntax, _ symbol: String) throws(RuleProblem) -> Expression {
    let typed = try check(syntax)
    guard typed.type.mayBe(.number) else {
      throw RuleProblem(
        "'\(symbol)' needs numbers, but this is \(typed.type.rawValue)",
        at: syntax.offset
      )
    }
    return typed.expression
  }

  private func ternary(
    _ condition: Syntax,
    _ first: Syntax,
    _ second: Syntax,
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    let checked = try boolean(condition, "the condition of '?:'")
    let left = try check(first)
    let right = try check(second)
    let type: RuleType
    if left.type == right.type, left.type != .query {
      type = left.type
    } else if [left.type, right.type].contains(where: { $0 == .snapshot || $0 == .query })
      || ![left.type, right.type].contains(where: { $0.isOpen || $0 == .null })
    {
      throw RuleProblem(
        "both branches of '?:' must have one type, but these are \(left.type.rawValue)"
          + " and \(right.type.rawValue)",
        at: offset
      )
    } else {
      type = [left.type, right.type].contains(.any) ? .any : .primitive
    }
    return Typed(expression: .ternary(checked, left.expression, right.expression), type: type)
  }

  private func binary(
    _ operation: BinaryOperator,
    _ left: Syntax,
    _ right: Syntax,
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    switch operation {
    case .subtract, .multiply, .divide, .remainder:
      let first = try number(left, operation.rawValue)
      let second = try number(right, operation.rawValue)
      return Typed(expression: .binary(operation, first, second, at: offset), type: .number)
    case .add, .equal, .notEqual, .less, .atMost, .greater, .atLeast: break
    }
    let first = try check(left)
    let second = try check(right)
    let type: RuleType
    switch operation {
    case .add:
      try require([.number, .string], operation, of: (left, first.type), (right, second.type))
      type =
        [first.type, second.type].contains(.string)
        ? .string : first.type == .number && second.type == .number ? .number : .primitive
    case .equal, .notEqual:
      try require(
        [.null, .boolean, .number, .string],
        operation,
        of: (left, first.type),
        (right, second.type)
      )
      type = .boolean
    case .subtract, .multiply, .divide, .remainder, .less, .atMost, .greater, .atLeast:
      try require([.number, .string], operation, of: (left, first.type), (right, second.type))
      guard first.type.mayBe(second.type) || second.type.mayBe(first.type) else {
        throw RuleProblem(
          "'\(operation.rawValue)' compares two numbers or two strings, but these are"
            + " \(first.type.rawValue) and \(second.type.rawValue)",
          at: offset
        )
      }
      type = .boolean
    }
    return Typed(
      expression: .binary(operation, first.expression, second.expression, at: offset),
      type: type
    )
  }

  private func require(
    _ types: [RuleType],
    _ operation: BinaryOperator,
    of operands: (syntax: Syntax, type: RuleType)...
  ) throws(RuleProblem) {
    for operand in operands where !types.contains(operand.type) && !operand.type.isOpen {
      let isComparison = operation == .equal || operation == .notEqual
      let expected = isComparison ? "values" : "numbers or strings"
      let advice = operand.type == .snapshot ? "; take its val() or ask whether it exists()" : ""
      throw RuleProblem(
        "'\(operation.rawValue)' needs \(expected), but this is \(operand.type.rawValue)\(advice)",
        at: operand.syntax.offset
      )
    }
  }
}
