internal import RealtimeCore

extension Evaluator {
  // MARK: Data

  mutating func value(of node: NodeView) -> RuleValue {
    switch node.scalar {
    case .empty: .null
    case .bool(let value): .bool(value)
    case .number(let value): .number(value)
    case .text(let text): .string(text)
    case .children: .object
    case .other: ownedValue(of: node)
    }
  }

  /// The value of a leaf that cannot be borrowed.
  @inline(never)
  private mutating func ownedValue(of node: NodeView) -> RuleValue {
    if case .leaf(let leaf) = node.content { value(of: leaf) } else { .null }
  }

  mutating func value(of leaf: LeafValue) -> RuleValue {
    switch leaf {
    case .bool(let value): .bool(value)
    case .integer(let value): .number(Double(value))
    case .double(let value): .number(value)
    case .string(let text): .string(scratch.keep(text))
    // The server resolves these before it evaluates the rules.
    case .deferred: .object
    }
  }

  // MARK: Members

  @inline(__always)
  mutating func uid(at offset: Int32) throws(EvaluationError) -> RuleValue {
    if case .map = request.client.auth {
      // This costs as much as any other member.
      try budget.spend(1 + request.client.memberCount)
      return request.client.uid
    }
    return try uidOfOther(at: offset)
  }

  /// The member `uid` of an `auth` without members.
  private func uidOfOther(at offset: Int32) throws(EvaluationError) -> RuleValue {
    if case .null = request.client.auth { return .null }
    throw EvaluationError("\(request.client.auth.kind) has no member 'uid'", at: Int(offset))
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
    for what: @autoclosure () -> String,
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
    for symbol: @autoclosure () -> String,
    at offset: Int32
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

  mutating func result(
    of operation: BinaryOperator,
    left: RuleValue,
    right: RuleValue,
    at offset: Int32
  ) throws(EvaluationError) -> RuleValue {
    switch operation {
    case .add: return try sum(of: left, and: right, at: offset)
    case .subtract:
      return .number(try number(left, for: "-", at: offset) - number(right, for: "-", at: offset))
    case .multiply:
      return .number(try number(left, for: "*", at: offset) * number(right, for: "*", at: offset))
    case .divide, .remainder:
      let dividend = try number(left, for: operation.rawValue, at: offset)
      let divisor = try number(right, for: operation.rawValue, at: offset)
      if divisor == 0 { return .number(.nan) }
      return .number(
        operation == .divide
          ? dividend / divisor : dividend.truncatingRemainder(dividingBy: divisor)
      )
    case .equal, .notEqual, .less, .atMost, .greater, .atLeast:
      return .bool(try compare(operation, left: left, right: right, at: offset))
    }
  }

  private mutating func sum(
    of left: RuleValue,
    and right: RuleValue,
    at offset: Int32
  ) throws(EvaluationError) -> RuleValue {
    switch (left, right) {
    case (.number(let left), .number(let right)): return .number(left + right)
    case (.string(let left), .string(let right)): return try joined(left.string, with: right.string)
    case (.string(let left), .number(let right)):
      return try joined(left.string, with: text(of: right))
    case (.number(let left), .string(let right)):
      return try joined(text(of: left), with: right.string)
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
    with right: String
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
      // Equality of objects is undefined, so neither '==' nor '!=' may hold.
      throw EvaluationError("objects cannot be compared", at: Int(offset))
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.map, _), (.object, _): return false
    }
  }

  mutating func compare(
    _ operation: BinaryOperator,
    left: RuleValue,
    right: RuleValue,
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

extension Evaluator {
  // MARK: Strings

  mutating func stringCall(
    _ method: StringMethod,
    of base: Int32,
    arguments: RuleProgram.Slice,
    at offset: Int32
  ) throws(EvaluationError) -> RuleValue {
    let text = try string(base, for: "\(method.rawValue)()", at: offset)
    var operands: [LeafText] = []
    for slot in arguments.indices {
      operands.append(
        try string(program.pointee.operands[slot], for: "\(method.rawValue)()", at: offset)
      )
    }
    try budget.spend(bytes: text.byteCount + operands.reduce(0) { $0 + $1.byteCount })
    guard let first = operands.first else {
      // Each non-ASCII character is looked up.
      if text.utf8.contains(where: { $0 >= 0x80 }) { try budget.spend(2 * text.byteCount) }
      switch method {
      case .toLowerCase: return .string(scratch.keep(text.string.lowercased()))
      case .toUpperCase: return .string(scratch.keep(text.string.uppercased()))
      case .contains, .beginsWith, .endsWith, .replace, .matches: return .null
      }
    }
    switch method {
    case .contains:
      if first.byteCount == 0 { return .bool(true) }
      let found = TextSearch.occurrences(of: first.utf8, in: text.utf8, limit: 1)
      return .bool(!found.isEmpty)
    case .beginsWith: return .bool(text.utf8.starts(with: first.utf8))
    case .endsWith:
      return .bool(text.utf8.suffix(first.byteCount).elementsEqual(first.utf8))
    case .replace: return try replacing(first, in: text, by: operands[operands.count - 1])
    case .toLowerCase, .toUpperCase, .matches: return .null
    }
  }

  /// Replaces every occurrence; an empty text never occurs.
  private mutating func replacing(
    _ target: LeafText,
    in text: LeafText,
    by replacement: LeafText
  ) throws(EvaluationError) -> RuleValue {
    let bytes = text.utf8
    let starts = TextSearch.occurrences(of: target.utf8, in: bytes)
    // Spent before anything is built, so that a small rule cannot create a huge text.
    let growth = starts.count.multipliedReportingOverflow(by: replacement.byteCount)
    try budget.spend(bytes: growth.overflow ? .max : growth.partialValue)
    var result: [UInt8] = []
    var next = 0
    for start in starts {
      result.append(contentsOf: bytes[next..<start])
      result.append(contentsOf: replacement.utf8)
      next = start + target.byteCount
    }
    result.append(contentsOf: bytes[next...])
    return .string(result.withUnsafeBufferPointer { scratch.keep($0) })
  }

  // MARK: The query

  /// The value of a member of the query.
  ///
  /// On the wire, no order is the same as ordering by priority, and a range of one value is the
  /// same as that value; both readings hold here.
  mutating func value(of member: QueryMember, in query: Query) -> RuleValue {
    switch member {
    case .orderByKey: return .bool(query.index == .key || query.index == .priority)
    case .orderByValue: return .bool(query.index == .value)
    case .orderByPriority: return .bool(query.index == .priority && !query.isDefault)
    case .orderByChild:
      if case .child(let path) = query.index { return .string(scratch.keep(path.wireText)) }
      return .null
    case .startAt: return bound(query.start)
    case .endAt: return bound(query.end)
    case .equalTo:
      guard let start = query.start, let end = query.end, start.isInclusive, end.isInclusive,
        start.value == end.value
      else { return .null }
      return bound(start)
    case .limitToFirst: return limit(of: query, side: .first)
    case .limitToLast: return limit(of: query, side: .last)
    }
  }

  private mutating func bound(_ bound: QueryBound?) -> RuleValue {
    bound?.value.map { value(of: $0) } ?? .null
  }

  private func limit(of query: Query, side: Query.LimitSide) -> RuleValue {
    guard let limit = query.limit, limit.side == side else { return .null }
    return .number(Double(limit.count))
  }
}
