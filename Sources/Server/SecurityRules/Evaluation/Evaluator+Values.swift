internal import RealtimeCore

extension Evaluator {
  // MARK: Data

  /// What a method says that asks for the data of a place.
  func answer(_ method: SnapshotMethod, _ node: NodeView) -> RuleValue {
    switch method {
    case .val: return value(of: node)
    case .getPriority: return node.priority.map { value(of: $0) } ?? .null
    case .exists: return .bool(!node.isEmpty)
    case .isNumber:
      switch node.content {
      case .leaf(.integer), .leaf(.double): return .bool(true)
      case .empty, .text, .leaf, .children: return .bool(false)
      }
    case .isString:
      switch node.content {
      case .text, .leaf(.string): return .bool(true)
      case .empty, .leaf, .children: return .bool(false)
      }
    case .isBoolean:
      if case .leaf(.bool) = node.content { return .bool(true) }
      return .bool(false)
    case .hasChildren: return .bool(node.childCount > 0)
    case .hasChild, .parent, .child: return .null
    }
  }

  private func value(of node: NodeView) -> RuleValue {
    switch node.content {
    case .empty: .null
    case .text(let text): .string(text)
    case .leaf(let value): self.value(of: value)
    case .children: .object
    }
  }

  func value(of leaf: LeafValue) -> RuleValue {
    switch leaf {
    case .bool(let value): .bool(value)
    case .integer(let value): .number(Double(value))
    case .double(let value): .number(value)
    case .string(let text): .string(scratch.keep(text))
    // The server decides these before it asks the rules.
    case .deferred: .object
    }
  }

  // MARK: Members

  mutating func uid(at offset: Int32) throws(EvaluationError) -> RuleValue {
    switch request.subject.auth {
    case .null: return .null
    case .map(let members):
      // It costs as much as any other member.
      try budget.spend(1 + members._withUnsafeGuaranteedRef { $0.count })
      return request.subject.uid
    case .bool, .number, .string, .object:
      let kind = request.subject.auth.kind
      throw EvaluationError("\(kind) has no member 'uid'", at: Int(offset))
    }
  }

  mutating func length(_ text: LeafText) throws(EvaluationError) -> RuleValue {
    try budget.spend(bytes: text.byteCount)
    return .number(Double(text.utf16Count))
  }

  mutating func member(
    _ name: LeafText,
    of value: RuleValue,
    at offset: Int32
  ) throws(EvaluationError) -> RuleValue {
    switch value {
    case .null: return .null
    case .map(let members):
      try budget.spend(members._withUnsafeGuaranteedRef { $0.count })
      return members._withUnsafeGuaranteedRef { $0[name] }
    case .string(let text) where name.utf8.elementsEqual("length".utf8): return try length(text)
    case .bool, .number, .string, .object:
      throw EvaluationError("\(value.kind) has no member '\(name.string)'", at: Int(offset))
    }
  }

  /// A value that must be a string.
  mutating func string(
    _ step: Int32,
    _ what: @autoclosure () -> String,
    at offset: Int32
  ) throws(EvaluationError) -> LeafText {
    let value = try value(step)
    guard case .string(let text) = value else {
      throw EvaluationError("\(what()) needs a string, but this is \(value.kind)", at: Int(offset))
    }
    return text
  }

  func number(
    _ value: RuleValue,
    _ symbol: @autoclosure () -> String,
    _ offset: Int32
  ) throws(EvaluationError) -> Double {
    guard case .number(let number) = value else {
      throw EvaluationError(
        "'\(symbol())' needs numbers, but this is \(value.kind)",
        at: Int(offset)
      )
    }
    return number
  }

  // MARK: Operators

  mutating func binary(
    _ operation: BinaryOperator,
    _ left: RuleValue,
    _ right: RuleValue,
    at offset: Int32
  ) throws(EvaluationError) -> RuleValue {
    switch operation {
    case .add: return try sum(left, right, at: offset)
    case .subtract: return .number(try number(left, "-", offset) - number(right, "-", offset))
    case .multiply: return .number(try number(left, "*", offset) * number(right, "*", offset))
    case .divide, .remainder:
      let dividend = try number(left, operation.rawValue, offset)
      let divisor = try number(right, operation.rawValue, offset)
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
    at offset: Int32
  ) throws(EvaluationError) -> RuleValue {
    switch (left, right) {
    case (.number(let left), .number(let right)): return .number(left + right)
    case (.string(let left), .string(let right)): return try joined(left.string, right.string)
    case (.string(let left), .number(let right)):
      return try joined(left.string, text(of: right))
    case (.number(let left), .string(let right)):
      return try joined(text(of: left), right.string)
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _), (.object, _):
      throw EvaluationError(
        "'+' adds numbers or joins strings, but these are \(left.kind) and \(right.kind)",
        at: Int(offset)
      )
    }
  }

  private mutating func text(of number: Double) throws(EvaluationError) -> String {
    try budget.spend(RulesLimits.stepsPerNumber)
    return NumberText.of(number)
  }

  private mutating func joined(
    _ left: String,
    _ right: String
  ) throws(EvaluationError) -> RuleValue {
    try budget.spend(bytes: left.utf8.count + right.utf8.count)
    return .string(scratch.keep(left + right))
  }

  mutating func areEqual(
    _ left: RuleValue,
    _ right: RuleValue,
    at offset: Int32
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
      throw EvaluationError("objects cannot be compared", at: Int(offset))
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _), (.object, _): return false
    }
  }

  private mutating func compare(
    _ operation: BinaryOperator,
    _ left: RuleValue,
    _ right: RuleValue,
    at offset: Int32
  ) throws(EvaluationError) -> Bool {
    let isLess: Bool
    let isGreater: Bool
    switch (left, right) {
    case (.number(let left), .number(let right)):
      if left.isNaN || right.isNaN { return false }
      (isLess, isGreater) = (left < right, left > right)
    case (.string(let left), .string(let right)):
      try budget.spend(bytes: min(left.byteCount, right.byteCount))
      (isLess, isGreater) = (left < right, right < left)
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _), (.object, _):
      throw EvaluationError(
        "'\(operation.rawValue)' compares two numbers or two strings, but these are"
          + " \(left.kind) and \(right.kind)",
        at: Int(offset)
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
