internal import RealtimeCore

extension Evaluator {
  // MARK: Strings

  mutating func stringCall(
    _ method: StringMethod,
    _ base: Int32,
    _ arguments: RuleStep.Operands,
    at offset: Int32
  ) throws(EvaluationError) -> RuleValue {
    let text = try string(base, "\(method.rawValue)()", at: offset)
    var operands: [LeafText] = []
    for slot in arguments.range {
      operands.append(try string(code.operands[slot], "\(method.rawValue)()", at: offset))
    }
    try budget.spend(bytes: text.byteCount + operands.reduce(0) { $0 + $1.byteCount })
    guard let first = operands.first else {
      // Of other characters than those of ASCII each is looked up.
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
    case .replace: return try replaced(text, first, operands[operands.count - 1])
    case .toLowerCase, .toUpperCase, .matches: return .null
    }
  }

  /// Replaces every occurrence; nothing occurs nowhere, so an empty text is never replaced.
  private mutating func replaced(
    _ text: LeafText,
    _ target: LeafText,
    _ replacement: LeafText
  ) throws(EvaluationError) -> RuleValue {
    let bytes = text.utf8
    let starts = TextSearch.occurrences(of: target.utf8, in: bytes)
    // Counted before anything is built, so that a small rule cannot ask for a huge text.
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

  /// What a rule sees of a query.
  ///
  /// On the wire no order is the same as order by priority, and a range of one value the same as
  /// that value; both readings hold here.
  func value(of member: QueryMember, _ query: Query) -> RuleValue {
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
    case .limitToFirst: return limit(query, .first)
    case .limitToLast: return limit(query, .last)
    }
  }

  private func bound(_ bound: QueryBound?) -> RuleValue {
    bound?.value.map { value(of: $0) } ?? .null
  }

  private func limit(_ query: Query, _ side: Query.LimitSide) -> RuleValue {
    guard let limit = query.limit, limit.side == side else { return .null }
    return .number(Double(limit.count))
  }
}
