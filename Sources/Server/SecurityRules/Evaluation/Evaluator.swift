internal import RealtimeCore

/// Computes expressions for one request.
///
// Safety: that of `NodeView`: what the request lends is used while its closure runs, what a program
// lends while a rule is computed, and what lies in the scratch until it is released after that.
struct Evaluator: ~Copyable {
  /// How deep rules and data lie as a rule, for which room is made at first.
  private static let usualDepth = 6

  let request: RuleRequest
  let scratch = RuleScratch()
  var budget: StepBudget
  /// The locations from the root down to where data are being looked at.
  private(set) var frames: [RuleFrame]
  /// What the wildcards on that way stand for.
  private(set) var captures: [LeafText] = []
  /// Locations that somebody may want to go back to.
  private var steps: [Snapshot] = []
  /// The place among the frames of the rule that is being computed.
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

  // MARK: The way down

  /// Goes one level down.
  mutating func enter(_ frame: RuleFrame, isCaptured: Bool) {
    frames.append(frame)
    if isCaptured { captures.append(frame.key) }
  }

  /// Goes back up.
  mutating func leave(wasCaptured: Bool) {
    frames.removeLast()
    if wasCaptured { captures.removeLast() }
  }

  /// Goes back up to the root.
  mutating func returnToRoot() {
    frames.removeLast(frames.count - 1)
    captures.removeAll()
  }

  // MARK: Rules

  /// Whether a rule holds that stands at one of the frames.
  mutating func holds(
    _ program: RuleProgram,
    at depth: Int
  ) throws(EvaluationError) -> Bool {
    self.depth = depth
    code = program.code
    let mark = scratch.mark
    defer {
      scratch.release(to: mark)
      steps.removeAll(keepingCapacity: true)
    }
    return try holds(code.top)
  }

  /// Whether there may be new data for which a rule holds that stands at one of the frames.
  ///
  /// It is asked before there are any. What an operand says without them decides as far as it can: a
  /// rule that fails in one of several conditions fails whatever the others say.
  mutating func couldHold(
    _ program: RuleProgram,
    at depth: Int
  ) throws(EvaluationError) -> Bool {
    self.depth = depth
    code = program.code
    let mark = scratch.mark
    defer {
      scratch.release(to: mark)
      steps.removeAll(keepingCapacity: true)
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
    // What is a boolean for certain need not become a value first.
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
    case .query(let member): return request.query.map { value(of: member, $0) } ?? .null
    case .length(let base, let name, let offset):
      let receiver = try value(base)
      if case .string(let text) = receiver { return try length(text) }
      return try member(string(name, "length", at: offset), of: receiver, at: offset)
    case .member(let base, let name, let offset):
      let receiver = try value(base)
      let name = try string(name, "the name in brackets", at: offset)
      return try member(name, of: receiver, at: offset)
    case .not, .all, .any: return .bool(try holds(step))
    case .negate(let operand, let offset): return .number(try -number(value(operand), "-", offset))
    case .binary(let operation, let left, let right, let offset):
      let first = try value(left)
      return try binary(operation, first, value(right), at: offset)
    case .ternary(let condition, let first, let second):
      return try value(holds(condition) ? first : second)
    case .ask(let method, let base, _): return answer(method, try place(base).node)
    case .hasChildren(let method, let base, let first, let count, let offset):
      let place = try place(base)
      for slot in Int(first)..<Int(first + count) {
        let child = try child(code.paths[slot], of: place, method, isKept: false, at: offset)
        if child.node.isEmpty { return .bool(false) }
      }
      return .bool(true)
    case .string(let method, let base, let operands, let offset):
      return try stringCall(method, base, operands, at: offset)
    case .matches(let base, let pattern, let offset):
      let text = try string(base, "matches()", at: offset)
      return .bool(try RegexMatcher.matches(code.patterns[Int(pattern)], text, &budget))
    case .contains(let base, let set, let offset):
      let text = try string(base, "matches()", at: offset)
      let search = code.sets[Int(set)].search(text.utf8)
      // It costs what following the states of the pattern would cost.
      try budget.spend(3 * search.passed)
      return .bool(search.isFound)
    case .root, .data, .newData, .parent, .child:
      throw EvaluationError("a snapshot is no value", at: nil)
    }
  }

  // MARK: Places

  /// A location that is only read, so that the way back up need not be kept.
  private mutating func place(_ step: Int32) throws(EvaluationError) -> Snapshot {
    try snapshot(step, isKept: false)
  }

  private mutating func snapshot(
    _ step: Int32,
    isKept: Bool
  ) throws(EvaluationError) -> Snapshot {
    try budget.spend(1)
    switch code.steps[Int(step)] {
    case .root: return Snapshot(node: request.root, depth: 0, origin: .root)
    case .data: return way(depth, isNew: false)
    case .newData: return way(depth, isNew: true)
    case .ternary(let condition, let first, let second):
      return try snapshot(holds(condition) ? first : second, isKept: isKept)
    case .parent(let base, let offset):
      let snapshot = try snapshot(base, isKept: true)
      try budget.spend(snapshot.depth)
      guard let parent = parent(of: snapshot) else {
        throw EvaluationError("the root has no parent()", at: Int(offset))
      }
      return parent
    case .child(let base, let path, let offset):
      let outer = try snapshot(base, isKept: isKept)
      return try child(path, of: outer, .child, isKept: isKept, at: offset)
    case .null, .bool, .number, .text, .auth, .uid, .now, .capture, .query, .member, .length,
      .not, .negate, .binary, .all, .any, .ask, .hasChildren, .string, .matches,
      .contains:
      throw EvaluationError("a value is no snapshot", at: nil)
    }
  }

  private func way(_ depth: Int, isNew: Bool) -> Snapshot {
    let frame = frames[depth]
    let node = isNew ? frame.newNode ?? .empty : frame.node
    return Snapshot(node: node, depth: depth, origin: .way(isNew: isNew))
  }

  private func parent(of snapshot: Snapshot) -> Snapshot? {
    switch snapshot.origin {
    case .root, .apart: nil
    case .way(let isNew): snapshot.depth > 0 ? way(snapshot.depth - 1, isNew: isNew) : nil
    case .step(let index): steps[index]
    }
  }

  private mutating func child(
    _ path: RulePath,
    of place: Snapshot,
    _ method: SnapshotMethod,
    isKept: Bool,
    at offset: Int32
  ) throws(EvaluationError) -> Snapshot {
    var place = place
    switch path {
    case .keys(let first, let count, let bytes):
      try budget.spend(Int(bytes) + place.depth + RulesLimits.stepsPerKey * Int(count))
      for slot in Int(first)..<Int(first + count) {
        place = child(code.keys[slot], of: place, isKept: isKept)
      }
    case .computed(let step):
      let text = try string(step, "\(method.rawValue)()", at: offset)
      // A path is at least cut into its keys, one step for each byte at the most.
      try budget.spend(text.byteCount + place.depth)
      var rest = text.utf8[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        if end > rest.startIndex {
          try budget.spend(RulesLimits.stepsPerKey)
          let key = LeafText(UnsafeBufferPointer(rebasing: rest[..<end]))
          place = child(key, of: place, isKept: isKept)
        }
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
      }
    }
    return place
  }

  private mutating func child(_ key: LeafText, of place: Snapshot, isKept: Bool) -> Snapshot {
    if isKept { steps.append(place) }
    return Snapshot(
      node: place.node.child(key),
      depth: place.depth + 1,
      origin: isKept ? .step(steps.count - 1) : .apart
    )
  }
}
