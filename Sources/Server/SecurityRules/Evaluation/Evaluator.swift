internal import RealtimeCore

/// Evaluates expressions for one request.
///
// Safety: as for `NodeView`. Data borrowed from the request are used while its closure runs, those
// borrowed from a program while a rule is evaluated, and text in the scratch until it is released.
struct Evaluator: ~Copyable {
  /// The initial capacity for frames and captures.
  private static let usualDepth = 6

  let request: RuleRequest
  let scratch = RuleScratch()
  var budget: StepBudget
  /// The locations from the root to the data being visited.
  private(set) var frames: [RuleFrame]
  /// The keys that the wildcards among the frames matched.
  private(set) var captures: [LeafText] = []
  /// The parents of snapshots that were reached by a lookup of a child.
  private var parents: [Snapshot] = []
  /// The index of the frame of the current rule.
  private var depth = 0
  private(set) var code = RuleProgram.Code.none

  init(_ request: RuleRequest, steps: Int) {
    self.request = request
    budget = StepBudget(steps)
    frames = []
    frames.reserveCapacity(Self.usualDepth)
    captures.reserveCapacity(Self.usualDepth)
    frames.append(
      RuleFrame(
        key: LeafText(UnsafeBufferPointer(start: nil, count: 0)),
        node: request.root,
        newNode: request.newRoot
      )
    )
  }

  // MARK: Frames

  /// Descends one level.
  mutating func enter(_ frame: RuleFrame, isCaptured: Bool) {
    frames.append(frame)
    if isCaptured { captures.append(frame.key) }
  }

  /// Ascends one level.
  mutating func leave(wasCaptured: Bool) {
    frames.removeLast()
    if wasCaptured { captures.removeLast() }
  }

  /// Ascends to the root.
  mutating func returnToRoot() {
    frames.removeLast(frames.count - 1)
    captures.removeAll()
  }

  // MARK: Rules

  /// Whether a rule of one of the frames holds.
  mutating func holds(
    _ program: RuleProgram,
    at depth: Int
  ) throws(EvaluationError) -> Bool {
    self.depth = depth
    code = program.code
    let mark = scratch.mark
    defer {
      scratch.release(to: mark)
      parents.removeAll(keepingCapacity: true)
    }
    return try holds(code.top)
  }

  /// Whether there may be new data for which a rule of one of the frames holds.
  ///
  /// Operands that do not depend on new data are evaluated, and decide as far as they can: a
  /// conjunction fails if one of its operands does.
  mutating func couldHold(
    _ program: RuleProgram,
    at depth: Int
  ) throws(EvaluationError) -> Bool {
    self.depth = depth
    code = program.code
    let mark = scratch.mark
    defer {
      scratch.release(to: mark)
      parents.removeAll(keepingCapacity: true)
    }
    return try couldHold(code.top)
  }

  private mutating func couldHold(_ step: Int32) throws(EvaluationError) -> Bool {
    guard code.asksForNewData[Int(step)] else { return try holds(step) }
    switch code.steps[Int(step)] {
    case .all(let operands):
      for slot in operands.range where try !couldHold(code.operands[slot]) { return false }
      return true
    case .any(let operands):
      for slot in operands.range where try couldHold(code.operands[slot]) { return true }
      return false
    case .ternary(let condition, let first, let second):
      if code.asksForNewData[Int(condition)] {
        if try couldHold(first) { return true }
        return try couldHold(second)
      }
      return try couldHold(holds(condition) ? first : second)
    case .null, .bool, .number, .text, .auth, .uid, .now, .capture, .query, .member, .length, .not,
      .negate, .binary, .root, .data, .newData, .parent, .child, .ask, .hasChildren, .string,
      .matches, .contains:
      return true
    }
  }

  mutating func holds(_ step: Int32) throws(EvaluationError) -> Bool {
    // Steps that are certainly boolean are evaluated without wrapping the result in a value.
    switch code.steps[Int(step)] {
    case .not(let operand):
      try budget.spend(1)
      return try !holds(operand)
    case .all(let operands):
      try budget.spend(1)
      for slot in operands.range where try !holds(code.operands[slot]) { return false }
      return true
    case .any(let operands):
      try budget.spend(1)
      for slot in operands.range where try holds(code.operands[slot]) { return true }
      return false
    case .ternary(let condition, let first, let second):
      try budget.spend(1)
      return try holds(holds(condition) ? first : second)
    case .binary(.equal, let left, let right, let offset):
      try budget.spend(1)
      let first = try value(left)
      return try areEqual(first, value(right), at: offset)
    case .null, .bool, .number, .text, .auth, .uid, .now, .capture, .query, .member, .length,
      .negate, .binary, .root, .data, .newData, .parent, .child, .ask, .hasChildren, .string,
      .matches,
      .contains:
      guard case .bool(let value) = try value(step) else {
        throw EvaluationError("expected a boolean", at: nil)
      }
      return value
    }
  }

  mutating func value(_ step: Int32) throws(EvaluationError) -> RuleValue {
    try budget.spend(1)
    switch code.steps[Int(step)] {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let value): return .number(value)
    case .text(let text): return .string(text)
    case .auth: return request.subject.auth
    case .uid(let offset): return try uid(at: offset)
    case .now: return .number(request.now)
    case .capture(let index):
      return captures.indices.contains(Int(index)) ? .string(captures[Int(index)]) : .null
    case .query(let member): return request.query.map { value(of: member, in: $0) } ?? .null
    case .length(let base, let name, let offset):
      let receiver = try value(base)
      if case .string(let text) = receiver { return try length(text) }
      return try member(string(name, for: "length", at: offset), of: receiver, at: offset)
    case .member(let base, let name, let offset):
      let receiver = try value(base)
      let name = try string(name, for: "the name in brackets", at: offset)
      return try member(name, of: receiver, at: offset)
    case .not, .all, .any: return .bool(try holds(step))
    case .negate(let operand, let offset):
      return .number(try -number(value(operand), for: "-", at: offset))
    case .binary(let operation, let left, let right, let offset):
      let first = try value(left)
      return try binary(operation, left: first, right: value(right), at: offset)
    case .ternary(let condition, let first, let second):
      return try value(holds(condition) ? first : second)
    case .ask(let method, let base, _): return value(of: method, on: try location(base).node)
    case .hasChildren(let method, let base, let first, let count, let offset):
      let location = try location(base)
      for slot in Int(first)..<Int(first + count) {
        let child = try child(
          code.paths[slot],
          of: location,
          method: method,
          keepsParent: false,
          at: offset
        )
        if child.node.isEmpty { return .bool(false) }
      }
      return .bool(true)
    case .string(let method, let base, let operands, let offset):
      return try stringCall(method, of: base, arguments: operands, at: offset)
    case .matches(let base, let pattern, let offset):
      let text = try string(base, for: "matches()", at: offset)
      return .bool(try RegexMatcher.matches(code.patterns[Int(pattern)], in: text, budget: &budget))
    case .contains(let base, let set, let offset):
      let text = try string(base, for: "matches()", at: offset)
      let search = code.sets[Int(set)].search(text.utf8)
      // Costs the same as running the automaton of the pattern.
      try budget.spend(3 * search.passed)
      return .bool(search.isFound)
    case .root, .data, .newData, .parent, .child:
      throw EvaluationError("a snapshot is no value", at: nil)
    }
  }

  // MARK: Locations

  /// A location whose parent is not needed.
  private mutating func location(_ step: Int32) throws(EvaluationError) -> Snapshot {
    try snapshot(step, keepsParent: false)
  }

  private mutating func snapshot(
    _ step: Int32,
    keepsParent: Bool
  ) throws(EvaluationError) -> Snapshot {
    try budget.spend(1)
    switch code.steps[Int(step)] {
    case .root: return Snapshot(node: request.root, depth: 0, origin: .root)
    case .data: return frame(depth, isNew: false)
    case .newData: return frame(depth, isNew: true)
    case .ternary(let condition, let first, let second):
      return try snapshot(holds(condition) ? first : second, keepsParent: keepsParent)
    case .parent(let base, let offset):
      let snapshot = try snapshot(base, keepsParent: true)
      try budget.spend(snapshot.depth)
      guard let parent = parent(of: snapshot) else {
        throw EvaluationError("the root has no parent()", at: Int(offset))
      }
      return parent
    case .child(let base, let path, let offset):
      let outer = try snapshot(base, keepsParent: keepsParent)
      return try child(path, of: outer, method: .child, keepsParent: keepsParent, at: offset)
    case .null, .bool, .number, .text, .auth, .uid, .now, .capture, .query, .member, .length,
      .not, .negate, .binary, .all, .any, .ask, .hasChildren, .string, .matches,
      .contains:
      throw EvaluationError("a value is no snapshot", at: nil)
    }
  }

  private func frame(_ depth: Int, isNew: Bool) -> Snapshot {
    let frame = frames[depth]
    let node = isNew ? frame.newNode ?? .empty : frame.node
    return Snapshot(node: node, depth: depth, origin: .frame(isNew: isNew))
  }

  private func parent(of snapshot: Snapshot) -> Snapshot? {
    switch snapshot.origin {
    case .root, .orphan: nil
    case .frame(let isNew): snapshot.depth > 0 ? frame(snapshot.depth - 1, isNew: isNew) : nil
    case .child(let index): parents[index]
    }
  }

  private mutating func child(
    _ path: RulePath,
    of parent: Snapshot,
    method: SnapshotMethod,
    keepsParent: Bool,
    at offset: Int32
  ) throws(EvaluationError) -> Snapshot {
    var location = parent
    switch path {
    case .keys(let first, let count, let bytes):
      try budget.spend(Int(bytes) + location.depth + RulesLimits.stepsPerKey * Int(count))
      for slot in Int(first)..<Int(first + count) {
        location = child(code.keys[slot], of: location, keepsParent: keepsParent)
      }
    case .computed(let step):
      let text = try string(step, for: "\(method.rawValue)()", at: offset)
      // Pays for splitting the path into keys.
      try budget.spend(text.byteCount + location.depth)
      var rest = text.utf8[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        if end > rest.startIndex {
          try budget.spend(RulesLimits.stepsPerKey)
          let key = LeafText(UnsafeBufferPointer(rebasing: rest[..<end]))
          location = child(key, of: location, keepsParent: keepsParent)
        }
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
      }
    }
    return location
  }

  private mutating func child(_ key: LeafText, of parent: Snapshot, keepsParent: Bool) -> Snapshot {
    if keepsParent { parents.append(parent) }
    return Snapshot(
      node: parent.node.child(key),
      depth: parent.depth + 1,
      origin: keepsParent ? .child(parent: parents.count - 1) : .orphan
    )
  }
}
