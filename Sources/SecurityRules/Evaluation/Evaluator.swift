internal import RealtimeTree

/// Computes expressions for one request.
struct Evaluator {
  let scope: RuleScope
  var budget: StepBudget

  /// Whether a rule holds.
  mutating func holds(_ expression: Expression) throws(EvaluationError) -> Bool {
    // What is a boolean for certain need not become a value first.
    switch expression {
    case .not(let operand):
      try budget.spend(1)
      return try !holds(operand)
    case .all(let operands):
      try budget.spend(1)
      for operand in operands where try !holds(operand) { return false }
      return true
    case .any(let operands):
      try budget.spend(1)
      for operand in operands where try holds(operand) { return true }
      return false
    case .ternary(let condition, let first, let second):
      try budget.spend(1)
      return try holds(holds(condition) ? first : second)
    case .binary(.equal, let left, let right, let offset):
      try budget.spend(1)
      let first = try value(left)
      return try areEqual(first, value(right), at: offset)
    case .literal, .auth, .now, .root, .data, .newData, .capture, .query, .member, .index,
      .negate, .binary, .snapshotCall, .stringCall, .matches:
      return try boolean(expression)
    }
  }

  private mutating func boolean(_ expression: Expression) throws(EvaluationError) -> Bool {
    guard case .bool(let value) = try value(expression) else {
      throw EvaluationError("expected a boolean", at: nil)
    }
    return value
  }

  mutating func value(_ expression: Expression) throws(EvaluationError) -> RuleValue {
    try budget.spend(1)
    switch expression {
    case .literal(let value): return value
    case .auth: return scope.request.auth
    case .now: return .number(scope.request.now)
    case .root: return .snapshot(Snapshot(root: scope.request.root))
    case .data: return .snapshot(scope.data)
    case .newData: return scope.newData.map { .snapshot($0) } ?? .null
    case .capture(let index):
      let captures = scope.captures
      return captures.indices.contains(index) ? .string(LeafText(captures[index])) : .null
    case .query(let member): return scope.request.query.map { Self.value(of: member, $0) } ?? .null
    case .member(let base, let name, let offset):
      // The one that nearly every rule asks for is at hand; it costs as much as any other.
      if case .auth = base, name == "uid", case .map(let json) = scope.request.auth {
        try budget.spend(1 + (json.members?.count ?? 0))
        return scope.request.uid
      }
      return try member(name, of: value(base), at: offset)
    case .index(let base, let index, let offset):
      let receiver = try value(base)
      let name = try string(index, "the name in brackets", at: offset)
      return try member(name.string, of: receiver, at: offset)
    case .not, .all, .any: return .bool(try holds(expression))
    case .negate(let operand, let offset): return .number(try -number(value(operand), "-", offset))
    case .binary(let operation, let left, let right, let offset):
      let first = try value(left)
      return try binary(operation, first, value(right), at: offset)
    case .ternary(let condition, let first, let second):
      return try value(holds(condition) ? first : second)
    case .snapshotCall(let method, let base, let arguments, let offset):
      return try snapshotCall(method, base, arguments, at: offset)
    case .stringCall(let method, let base, let arguments, let offset):
      return try stringCall(method, base, arguments, at: offset)
    case .matches(let base, let program, let offset):
      let text = try string(base, "matches()", at: offset)
      return .bool(try RegexMatcher.matches(program, text, &budget))
    }
  }

  /// A value that must be a string.
  mutating func string(
    _ expression: Expression,
    _ what: String,
    at offset: Int
  ) throws(EvaluationError) -> LeafText {
    let value = try value(expression)
    guard case .string(let text) = value else {
      throw EvaluationError("\(what) needs a string, but this is \(value.kind)", at: offset)
    }
    return text
  }

  private func number(
    _ value: RuleValue,
    _ symbol: String,
    _ offset: Int
  ) throws(EvaluationError) -> Double {
    guard case .number(let number) = value else {
      throw EvaluationError("'\(symbol)' needs numbers, but this is \(value.kind)", at: offset)
    }
    return number
  }

  private mutating func member(
    _ name: String,
    of value: RuleValue,
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    switch value {
    case .null: return .null
    case .map(let json):
      try budget.spend(json.members?.count ?? 0)
      return RuleValue(json[name])
    case .string(let text) where name == "length":
      try budget.spend(bytes: text.byteCount)
      return .number(Double(text.utf16Count))
    case .bool, .number, .string, .object, .snapshot:
      throw EvaluationError("\(value.kind) has no member '\(name)'", at: offset)
    }
  }

  // MARK: Operators

  private mutating func binary(
    _ operation: BinaryOperator,
    _ left: RuleValue,
    _ right: RuleValue,
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    let symbol = operation.rawValue
    switch operation {
    case .add: return try sum(left, right, at: offset)
    case .subtract:
      return .number(try number(left, symbol, offset) - number(right, symbol, offset))
    case .multiply:
      return .number(try number(left, symbol, offset) * number(right, symbol, offset))
    case .divide, .remainder:
      let dividend = try number(left, symbol, offset)
      let divisor = try number(right, symbol, offset)
      if divisor == 0 { return .number(.nan) }
      return .number(
        operation == .divide
          ? dividend / divisor : dividend.truncatingRemainder(dividingBy: divisor)
      )
    case .equal: return .bool(try areEqual(left, right, at: offset))
    case .notEqual: return .bool(try !areEqual(left, right, at: offset))
    case .less, .atMost, .greater, .atLeast:
      return .bool(try compare(operation, left, right, at: offset))
    }
  }

  private mutating func sum(
    _ left: RuleValue,
    _ right: RuleValue,
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    switch (left, right) {
    case (.number(let left), .number(let right)): return .number(left + right)
    case (.string(let left), .string(let right)): return try joined(left.string, right.string)
    case (.string(let left), .number(let right)):
      return try joined(left.string, NumberText.of(right))
    case (.number(let left), .string(let right)):
      return try joined(NumberText.of(left), right.string)
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _), (.object, _),
      (.snapshot, _):
      throw EvaluationError(
        "'+' adds numbers or joins strings, but these are \(left.kind) and \(right.kind)",
        at: offset
      )
    }
  }

  private mutating func joined(
    _ left: String,
    _ right: String
  ) throws(EvaluationError) -> RuleValue {
    try budget.spend(bytes: left.utf8.count + right.utf8.count)
    return .text(left + right)
  }

  private mutating func areEqual(
    _ left: RuleValue,
    _ right: RuleValue,
    at offset: Int
  ) throws(EvaluationError) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.number(let left), .number(let right)): return left == right
    case (.string(let left), .string(let right)):
      try budget.spend(bytes: min(left.byteCount, right.byteCount))
      return left == right
    case (.map, .map), (.object, .object), (.map, .object), (.object, .map):
      // Whether two objects are the same cannot be told, so neither '==' nor '!=' may allow anything.
      throw EvaluationError("objects cannot be compared", at: offset)
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _), (.object, _),
      (.snapshot, _):
      return false
    }
  }

  private mutating func compare(
    _ operation: BinaryOperator,
    _ left: RuleValue,
    _ right: RuleValue,
    at offset: Int
  ) throws(EvaluationError) -> Bool {
    let isLess: Bool
    let isGreater: Bool
    switch (left, right) {
    case (.number(let left), .number(let right)):
      if left.isNaN || right.isNaN { return false }
      (isLess, isGreater) = (left < right, left > right)
    case (.string(let left), .string(let right)):
      try budget.spend(bytes: min(left.byteCount, right.byteCount))
      let (left, right) = (left.string, right.string)
      (isLess, isGreater) = (CodeUnits.precedes(left, right), CodeUnits.precedes(right, left))
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _), (.object, _),
      (.snapshot, _):
      throw EvaluationError(
        "'\(operation.rawValue)' compares two numbers or two strings, but these are"
          + " \(left.kind) and \(right.kind)",
        at: offset
      )
    }
    switch operation {
    case .less: return isLess
    case .atMost: return !isGreater
    case .greater: return isGreater
    case .atLeast: return !isLess
    case .add, .subtract, .multiply, .divide, .remainder, .equal, .notEqual: return false
    }
  }
}
