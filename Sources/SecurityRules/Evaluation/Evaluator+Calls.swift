internal import RealtimeTree

extension Evaluator {
  // MARK: Snapshots

  mutating func snapshotCall(
    _ method: SnapshotMethod,
    _ base: Expression,
    _ arguments: [Expression],
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    let receiver = try value(base)
    guard case .snapshot(let snapshot) = receiver else {
      throw EvaluationError("\(method.rawValue)() needs a snapshot", at: offset)
    }
    switch method {
    case .val: return RuleValue(snapshot.node)
    case .getPriority: return snapshot.node.priority.map { RuleValue($0) } ?? .null
    case .exists: return .bool(!snapshot.node.isEmpty)
    case .isNumber:
      if case .number = RuleValue(snapshot.node) { return .bool(true) }
      return .bool(false)
    case .isString:
      if case .string = RuleValue(snapshot.node) { return .bool(true) }
      return .bool(false)
    case .isBoolean:
      if case .bool = RuleValue(snapshot.node) { return .bool(true) }
      return .bool(false)
    case .parent:
      try budget.spend(snapshot.depth)
      guard let parent = snapshot.parent else {
        throw EvaluationError("the root has no parent()", at: offset)
      }
      return .snapshot(parent)
    case .child:
      return .snapshot(try child(arguments, of: snapshot, method, at: offset))
    case .hasChild:
      return .bool(try !child(arguments, of: snapshot, method, at: offset).node.isEmpty)
    case .hasChildren:
      if arguments.isEmpty { return .bool(snapshot.node.childCount > 0) }
      for argument in arguments
      where try child([argument], of: snapshot, method, at: offset).node.isEmpty {
        return .bool(false)
      }
      return .bool(true)
    }
  }

  private mutating func child(
    _ arguments: [Expression],
    of snapshot: Snapshot,
    _ method: SnapshotMethod,
    at offset: Int
  ) throws(EvaluationError) -> Snapshot {
    guard let argument = arguments.first else { return snapshot }
    let path = try string(argument, "\(method.rawValue)()", at: offset)
    // A path is at least cut into its keys, one step for each byte at the most.
    try budget.spend(path.utf8.count + snapshot.depth)
    return snapshot.child(path: path)
  }

  // MARK: Strings

  mutating func stringCall(
    _ method: StringMethod,
    _ base: Expression,
    _ arguments: [Expression],
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    let name = "\(method.rawValue)()"
    let text = try string(base, name, at: offset)
    var operands: [String] = []
    for argument in arguments { operands.append(try string(argument, name, at: offset)) }
    try budget.spend(bytes: text.utf8.count + operands.reduce(0) { $0 + $1.utf8.count })
    let first = operands.first ?? ""
    switch method {
    case .contains:
      if first.utf8.isEmpty { return .bool(true) }
      let found = TextSearch.occurrences(of: Array(first.utf8), in: Array(text.utf8), limit: 1)
      return .bool(!found.isEmpty)
    case .beginsWith: return .bool(text.utf8.starts(with: first.utf8))
    case .endsWith: return .bool(text.utf8.reversed().starts(with: first.utf8.reversed()))
    case .replace: return try replaced(text, first, operands.last ?? "")
    case .toLowerCase: return .string(text.lowercased())
    case .toUpperCase: return .string(text.uppercased())
    case .matches: return .bool(false)
    }
  }

  /// Replaces every occurrence; nothing occurs nowhere, so an empty text is never replaced.
  private mutating func replaced(
    _ text: String,
    _ target: String,
    _ replacement: String
  ) throws(EvaluationError) -> RuleValue {
    let bytes = Array(text.utf8)
    let starts = TextSearch.occurrences(of: Array(target.utf8), in: bytes)
    // Counted before anything is built, so that a small rule cannot ask for a huge text.
    let growth = starts.count.multipliedReportingOverflow(by: replacement.utf8.count)
    try budget.spend(bytes: growth.overflow ? .max : growth.partialValue)
    var result: [UInt8] = []
    var next = 0
    for start in starts {
      result.append(contentsOf: bytes[next..<start])
      result.append(contentsOf: replacement.utf8)
      next = start + target.utf8.count
    }
    result.append(contentsOf: bytes[next...])
    return .string(String(decoding: result, as: UTF8.self))
  }

  // MARK: The query

  /// What a rule sees of a query.
  ///
  /// On the wire no order is the same as order by priority, and a range of one value the same as
  /// that value; both readings hold here.
  static func value(of member: QueryMember, _ query: Query) -> RuleValue {
    switch member {
    case .orderByKey: return .bool(query.index == .key || query.index == .priority)
    case .orderByValue: return .bool(query.index == .value)
    case .orderByPriority: return .bool(query.index == .priority && !query.isDefault)
    case .orderByChild:
      if case .child(let path) = query.index { return .string(path.wireText) }
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

  private static func bound(_ bound: QueryBound?) -> RuleValue {
    bound?.value.map { RuleValue($0) } ?? .null
  }

  private static func limit(_ query: Query, _ side: Query.LimitSide) -> RuleValue {
    guard let limit = query.limit, limit.side == side else { return .null }
    return .number(Double(limit.count))
  }
}
