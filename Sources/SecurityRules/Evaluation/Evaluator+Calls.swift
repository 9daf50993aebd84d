internal import RealtimeTree

extension Evaluator {
  // MARK: Snapshots

  mutating func snapshotCall(
    _ method: SnapshotMethod,
    _ base: Expression,
    _ arguments: [PathArgument],
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    switch method {
    case .parent:
      let snapshot = try snapshot(base, method, at: offset)
      try budget.spend(snapshot.depth)
      guard let parent = snapshot.parent else {
        throw EvaluationError("the root has no parent()", at: offset)
      }
      return .snapshot(parent)
    case .child:
      let snapshot = try snapshot(base, method, at: offset)
      guard let argument = arguments.first else { return .snapshot(snapshot) }
      let keys = try keys(argument, method, from: snapshot.depth, at: offset)
      return .snapshot(keys.reduce(snapshot) { $0.child($1) })
    case .val, .getPriority, .exists, .isNumber, .isString, .isBoolean, .hasChild, .hasChildren:
      let place = try place(base, method, at: offset)
      return try answer(method, place, arguments, at: offset)
    }
  }

  /// What a method says that asks for the data of a place.
  private mutating func answer(
    _ method: SnapshotMethod,
    _ place: Place,
    _ arguments: [PathArgument],
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    switch method {
    case .val: return RuleValue(place.node)
    case .getPriority: return place.node.priority.map { RuleValue($0) } ?? .null
    case .exists: return .bool(!place.node.isEmpty)
    case .isNumber:
      switch place.node.content {
      case .leaf(.integer), .leaf(.double): return .bool(true)
      case .empty, .text, .leaf, .children: return .bool(false)
      }
    case .isString:
      if case .text = place.node.content { return .bool(true) }
      return .bool(false)
    case .isBoolean:
      if case .leaf(.bool) = place.node.content { return .bool(true) }
      return .bool(false)
    case .hasChild, .hasChildren:
      if arguments.isEmpty { return .bool(place.node.childCount > 0) }
      for argument in arguments
      where try child(argument, of: place, method, at: offset).node.isEmpty {
        return .bool(false)
      }
      return .bool(true)
    case .parent, .child: return .null
    }
  }

  private mutating func snapshot(
    _ expression: Expression,
    _ method: SnapshotMethod,
    at offset: Int
  ) throws(EvaluationError) -> Snapshot {
    guard case .snapshot(let snapshot) = try value(expression) else {
      throw EvaluationError("\(method.rawValue)() needs a snapshot", at: offset)
    }
    return snapshot
  }

  /// A location that is only read, so that the way back up need not be kept.
  private struct Place {
    let node: NodeView
    let depth: Int
  }

  private mutating func place(
    _ expression: Expression,
    _ method: SnapshotMethod,
    at offset: Int
  ) throws(EvaluationError) -> Place {
    // Most rules start at one of these.
    if case .newData = expression, let node = scope.newNode {
      try budget.spend(1)
      return Place(node: node, depth: scope.depth)
    }
    if case .data = expression {
      try budget.spend(1)
      return Place(node: scope.node, depth: scope.depth)
    }
    if case .snapshotCall(.child, let base, let arguments, let offset) = expression,
      let argument = arguments.first
    {
      try budget.spend(1)
      let outer = try place(base, .child, at: offset)
      return try child(argument, of: outer, .child, at: offset)
    }
    let snapshot = try snapshot(expression, method, at: offset)
    return Place(node: snapshot.node, depth: snapshot.depth)
  }

  private mutating func child(
    _ argument: PathArgument,
    of place: Place,
    _ method: SnapshotMethod,
    at offset: Int
  ) throws(EvaluationError) -> Place {
    let keys = try keys(argument, method, from: place.depth, at: offset)
    return Place(
      node: keys.reduce(place.node) { $0.child($1) },
      depth: place.depth + keys.count
    )
  }

  /// The keys of a way down; what is no legal key exists nowhere.
  private mutating func keys(
    _ argument: PathArgument,
    _ method: SnapshotMethod,
    from depth: Int,
    at offset: Int
  ) throws(EvaluationError) -> [ChildKey] {
    let path: PathText
    switch argument {
    case .constant(let constant):
      try budget.spend(1)
      path = constant
    case .computed(let expression):
      path = PathText(try string(expression, "\(method.rawValue)()", at: offset))
    }
    // A path is at least cut into its keys, one step for each byte at the most.
    try budget.spend(path.bytes + depth)
    return path.keys
  }

  // MARK: Strings

  mutating func stringCall(
    _ method: StringMethod,
    _ base: Expression,
    _ arguments: [Expression],
    at offset: Int
  ) throws(EvaluationError) -> RuleValue {
    let name = "\(method.rawValue)()"
    let text = try string(base, name, at: offset).string
    var operands: [String] = []
    for argument in arguments { operands.append(try string(argument, name, at: offset).string) }
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
    case .toLowerCase: return .text(text.lowercased())
    case .toUpperCase: return .text(text.uppercased())
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
    return .text(String(decoding: result, as: UTF8.self))
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
      if case .child(let path) = query.index { return .text(path.wireText) }
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
