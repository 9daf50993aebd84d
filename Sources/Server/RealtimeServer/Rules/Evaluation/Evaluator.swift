internal import RealtimeCore

/// Evaluates compiled expressions for one request.
///
// Safety: as for `NodeView`. Data borrowed from the request is used only while its closure runs,
// data borrowed from a program only while the rules are retained, and text in the scratch only
// until it is released.
struct Evaluator: ~Copyable {
  /// How many frames, and how many children of frames, there is initially space for.
  private static let usualDepth = 6
  private static let usualChildren = 14
  /// The size of the memory that an evaluator borrows; larger blocks would not fit on the stack.
  static let usualBytes = 1_024
  /// The size of the spare block.
  static let spareBytes = 64

  private static let none = RuleProgram(.literal(.bool(false)), at: [])

  let request: RuleRequest
  var budget: StepBudget
  /// A pointer-aligned block of the borrowed memory for the owner.
  let spare: UnsafeMutableRawPointer
  var scratch: RuleScratch
  /// The locations from the root to the data being visited.
  private(set) var frames: RuleStack<RuleFrame>
  /// The children of frames under the names that their rules use: first the current data, then the
  /// new.
  private var tables: RuleStack<NodeView>
  /// The program of the current rule; a placeholder before the first one.
  private(set) var program: UnsafePointer<RuleProgram.Code>

  /// Starts at the root, in pointer-aligned memory of ``usualBytes`` that outlives the evaluator.
  ///
  /// The stacks and the scratch use it until they outgrow it.
  init(_ request: RuleRequest, steps: Int, in memory: UnsafeMutableRawPointer) {
    self.request = request
    budget = StepBudget(steps)
    program = Self.none.borrowed
    frames = RuleStack(in: memory, capacity: Self.usualDepth)
    let below = MemoryLayout<RuleFrame>.stride * Self.usualDepth
    tables = RuleStack(in: memory + below, capacity: Self.usualChildren)
    let rest = below + MemoryLayout<NodeView>.stride * Self.usualChildren
    spare = memory + rest
    let text = rest + Self.spareBytes
    scratch = RuleScratch(
      in: UnsafeMutableRawBufferPointer(start: memory + text, count: Self.usualBytes - text)
        .bindMemory(to: UInt8.self)
    )
    frames.push(
      RuleFrame(
        key: LeafText(UnsafeBufferPointer(start: nil, count: 0)),
        node: request.root,
        newNode: request.newRoot ?? .empty
      )
    )
  }

  // MARK: Frames

  /// Descends one level.
  mutating func enter(_ frame: RuleFrame) {
    frames.push(frame)
  }

  @inline(__always)
  mutating func ascend(to depth: Int) {
    if frames.count == depth + 2, frames.pointer(to: depth + 1).pointee.table < 0 {
      frames.truncate(to: depth + 1)
    } else {
      ascendWithTables(to: depth)
    }
  }

  private mutating func ascendWithTables(to depth: Int) {
    var tableCount = Int32(tables.count)
    for index in (depth + 1)..<max(frames.count, depth + 1) {
      let table = frames.pointer(to: index).pointee.table
      if table >= 0 { tableCount = min(tableCount, table) }
    }
    frames.truncate(to: depth + 1)
    guard tableCount < tables.count else { return }
    tables.truncate(to: Int(tableCount))
    // A frame further up may have got its table after one of the frames that are gone.
    for index in 0...depth where frames[index].table >= tableCount {
      frames[index].table = RuleFrame.noTableYet
    }
  }

  // MARK: Tables

  /// The children of a frame that rules name, first the current data, then the new; nil if they are
  /// not packed.
  ///
  /// Valid until another table is requested.
  ///
  /// - Complexity: O(size of the children) the first time, then O(1)
  mutating func table(
    of frame: Int,
    _ names: UnsafeBufferPointer<LeafText>
  ) -> UnsafePointer<NodeView>? {
    let start = frames.pointer(to: frame).pointee.table
    if start >= 0 { return tables.pointer(to: Int(start)) }
    return start == RuleFrame.noTableYet && !names.isEmpty ? makeTable(of: frame, names) : nil
  }

  @inline(never)
  private mutating func makeTable(
    of frame: Int,
    _ names: UnsafeBufferPointer<LeafText>
  ) -> UnsafePointer<NodeView>? {
    let start = tables.count
    let table = tables.extend(by: 2 * names.count)
    let above = frames[frame]
    guard let present = above.node.findChildren(named: names, into: table),
      let newPresent = above.newNode.findChildren(named: names, into: table + names.count)
    else {
      frames[frame].table = RuleFrame.hasNoTable
      tables.truncate(to: start)
      return nil
    }
    frames[frame].table = Int32(start)
    frames[frame].present = present
    frames[frame].newPresent = newPresent
    return UnsafePointer(table)
  }

  /// Whether the table of the current rule's frame exists and has all of some names.
  @inline(__always)
  private mutating func hasNames(_ wanted: RuleNames.Mask, isNew: Bool) -> Bool {
    let index = program.pointee.frame
    guard table(of: index, program.pointee.names) != nil else { return false }
    let frame = frames.pointer(to: index)
    let present = isNew ? frame.pointee.newPresent : frame.pointee.present
    return present & wanted == wanted
  }

  /// A child of the current rule's frame.
  @inline(__always)
  private mutating func child(isNew: Bool, at nameIndex: RuleNames.Index) -> NodeView {
    let start = frames.pointer(to: program.pointee.frame).pointee.table
    // Fast path: the table exists already.
    if start >= 0 {
      let offset = nameIndex + (isNew ? Int32(program.pointee.names.count) : 0)
      return tables[Int(start + offset)]
    }
    return soughtChild(isNew: isNew, at: nameIndex)
  }

  @inline(never)
  private mutating func soughtChild(isNew: Bool, at nameIndex: RuleNames.Index) -> NodeView {
    let frame = program.pointee.frame
    let names = program.pointee.names
    if let table = table(of: frame, names) {
      return table[Int(nameIndex) + (isNew ? names.count : 0)]
    }
    let name = names[Int(nameIndex)]
    return isNew ? frames[frame].newNode.child(name) : frames[frame].node.child(name)
  }

  // MARK: Conditions

  /// Whether a rule holds at its frame.
  mutating func holds(
    _ program: UnsafePointer<RuleProgram.Code>
  ) throws(EvaluationError) -> Bool {
    self.program = program
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    return try holds(from: program.pointee.entry)
  }

  /// Evaluates conditions, starting at an index, until they accept or reject.
  private mutating func holds(from entry: Int32) throws(EvaluationError) -> Bool {
    let tests = program.pointee.tests
    var next = entry
    while next >= 0 {
      let test = tests[Int(next)]
      next = try isTrue(test) ? test.onTrue : test.onFalse
    }
    return next == RuleTest.accept
  }

  /// Whether a rule could hold at its frame for any new data.
  ///
  /// A condition that depends on new data may be true or false; all others are evaluated. Nothing
  /// after a condition whose evaluation fails can hold.
  mutating func couldHold(
    _ program: UnsafePointer<RuleProgram.Code>
  ) throws(EvaluationError) -> Bool {
    self.program = program
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let tests = program.pointee.tests
    var isVisited = [Bool](repeating: false, count: tests.count)
    var pending = [program.pointee.entry]
    while let next = pending.popLast() {
      if next == RuleTest.accept { return true }
      guard next >= 0, !isVisited[Int(next)] else { continue }
      isVisited[Int(next)] = true
      let test = tests[Int(next)]
      if test.asksForNewData {
        pending.append(test.onFalse)
        pending.append(test.onTrue)
        continue
      }
      do throws(EvaluationError) {
        pending.append(try isTrue(test) ? test.onTrue : test.onFalse)
      } catch {
        if budget.isExhausted { throw error }
      }
    }
    return false
  }

  @inline(__always)
  private mutating func isTrue(_ test: RuleTest) throws(EvaluationError) -> Bool {
    try budget.spend(Int(test.cost))
    switch test.kind {
    case .constant(let value): return value
    case .isNull(let step):
      if case .null = try value(step) { return true }
      return false
    case .isSignedOut:
      if case .null = request.client.auth { return true }
      return false
    case .hasNoPriority(let location): return try !node(at: location).hasPriority
    case .equal(let left, let right, let offset):
      let first = try value(left)
      return try areEqual(first, operand(right), at: offset)
    case .same(let left, let right, let offset):
      let first = value(of: try node(at: left))
      let second = value(of: try node(at: right))
      return try areEqual(first, second, at: offset)
    case .compare(let operation, let left, let right, let offset):
      let first = try value(left)
      return try compare(operation, left: first, right: operand(right), at: offset)
    case .ask(let method, let location):
      return Self.answer(method, on: try node(at: location))
    case .hasNames(let isNew, let wanted, let children, let cost):
      if hasNames(wanted, isNew: isNew) {
        try budget.spend(Int(cost))
        return true
      }
      for slot in children.indices {
        let path = program.pointee.paths[slot]
        try budget.spend(Int(path.cost))
        if let nameIndex = path.nameIndex, child(isNew: isNew, at: nameIndex).isEmpty {
          return false
        }
      }
      return true
    case .hasChildren(let location, let children):
      let node = try node(at: location)
      for slot in children.indices {
        let path = program.pointee.paths[slot]
        try budget.spend(Int(path.cost))
        if path.keys.count == 1, let key = try plainKey(at: Int(path.keys.first)) {
          if node.child(key).isEmpty { return false }
        } else if try descend(from: node, path.keys).isEmpty {
          return false
        }
      }
      return true
    case .matches(let step, let pattern, let offset):
      let text = try string(step, for: "matches()", at: offset)
      let program = self.program.pointee.patterns[Int(pattern)]
      return try RegexMatcher.matches(program, in: text, budget: &budget)
    case .contains(let step, let set, let offset):
      let text = try string(step, for: "matches()", at: offset)
      let search = program.pointee.sets[Int(set)].search(text.utf8)
      // This costs the same as running the automaton of the pattern.
      try budget.spend(3 * search.passed)
      return search.isFound
    case .value(let step):
      guard case .bool(let value) = try value(step) else {
        throw EvaluationError("expected a boolean", at: nil)
      }
      return value
    }
  }

  /// The result of a boolean method without arguments at a location.
  private static func answer(_ method: SnapshotMethod, on node: NodeView) -> Bool {
    // Matched rather than compared, since a comparison would call into another module.
    switch (method, node.kind) {
    case (.exists, .empty): false
    case (.exists, .bool), (.exists, .number), (.exists, .string), (.exists, .deferred),
      (.exists, .children):
      true
    case (.isNumber, .number), (.isString, .string), (.isBoolean, .bool),
      (.hasChildren, .children):
      true
    case (.isNumber, _), (.isString, _), (.isBoolean, _), (.hasChildren, _), (.val, _),
      (.getPriority, _), (.hasChild, _), (.parent, _), (.child, _):
      false
    }
  }

  // MARK: Values

  /// The value of a step that is often a constant, for which no function is called.
  @inline(__always)
  private mutating func operand(_ step: Int32) throws(EvaluationError) -> RuleValue {
    let code = program.pointee.steps[Int(step)]
    if case .number(let value) = code { return .number(value) }
    if case .bool(let value) = code { return .bool(value) }
    return try value(step)
  }

  mutating func value(_ step: Int32) throws(EvaluationError) -> RuleValue {
    switch program.pointee.steps[Int(step)] {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let value): return .number(value)
    case .text(let text): return .string(text)
    case .auth: return request.client.auth
    case .uid(let offset): return try uid(at: offset)
    case .now: return .number(request.now)
    case .capture(let frame): return .string(frames[Int(frame)].key)
    case .query(let member): return request.query.map { value(of: member, in: $0.pointee) } ?? .null
    case .length(let base, let name, let offset):
      let receiver = try value(base)
      if case .string(let text) = receiver { return try length(text) }
      return try member(string(name, for: "length", at: offset), of: receiver, at: offset)
    case .member(let base, let name, let offset):
      let receiver = try value(base)
      let name = try string(name, for: "the name in brackets", at: offset)
      return try member(name, of: receiver, at: offset)
    case .negate(let operand, let offset):
      return .number(try -number(value(operand), for: "-", at: offset))
    case .arithmetic(let operation, let left, let right, let offset):
      let (first, second) = (try value(left), try value(right))
      // Fast path: counting up and down.
      if case .number(let left) = first, case .number(let right) = second {
        if case .add = operation { return .number(left + right) }
        if case .subtract = operation { return .number(left - right) }
      }
      return try result(of: operation, left: first, right: second, at: offset)
    case .condition(let entry): return .bool(try holds(from: entry))
    case .ternary(let condition, let branches):
      let isFirst = try holds(from: condition)
      try budget.spend(Int(isFirst ? branches.firstCost : branches.secondCost))
      return try operand(isFirst ? branches.first : branches.second)
    case .data(let location): return value(of: try node(at: location))
    case .ask(let method, let location):
      let node = try node(at: location)
      switch method {
      case .getPriority: return node.priority.map { value(of: $0) } ?? .null
      case .val, .exists, .isNumber, .isString, .isBoolean, .hasChildren, .hasChild, .parent,
        .child:
        return .bool(Self.answer(method, on: node))
      }
    case .string(let method, let base, let operands, let offset):
      return try stringCall(method, of: base, arguments: operands, at: offset)
    }
  }

  // MARK: Locations

  @inline(__always)
  private mutating func node(at location: Int32) throws(EvaluationError) -> NodeView {
    switch program.pointee.locations[Int(location)] {
    case .frame(let isNew, let frame):
      let frame = frames.pointer(to: Int(frame))
      return isNew ? frame.pointee.newNode : frame.pointee.node
    case .named(let isNew, let nameIndex): return child(isNew: isNew, at: nameIndex)
    case .child, .path, .choice, .detour, .aboveRoot: return try distantNode(at: location)
    }
  }

  /// The data at a location that must be looked up by its keys.
  private mutating func distantNode(at location: Int32) throws(EvaluationError) -> NodeView {
    switch program.pointee.locations[Int(location)] {
    case .frame, .named: return try node(at: location)
    case .child(let isNew, let frame, let key):
      return isNew ? frames[Int(frame)].newNode.child(key) : frames[Int(frame)].node.child(key)
    case .path(let isNew, let frame, let keys):
      let node = isNew ? frames[Int(frame)].newNode : frames[Int(frame)].node
      return keys.count == 0 ? node : try descend(from: node, keys)
    case .choice(let condition, let branches):
      let isFirst = try holds(from: condition)
      try budget.spend(Int(isFirst ? branches.firstCost : branches.secondCost))
      return try node(at: isFirst ? branches.first : branches.second)
    case .detour(let isNew, let frame, let keys):
      return try detour(isNew: isNew, frame: Int(frame), keys)
    case .aboveRoot(let offset): throw Self.aboveRoot(at: offset)
    }
  }

  private static func aboveRoot(at offset: Int32) -> EvaluationError {
    EvaluationError("the root has no parent()", at: Int(offset))
  }

  private mutating func descend(
    from start: NodeView,
    _ keys: RuleProgram.Slice
  ) throws(EvaluationError) -> NodeView {
    var node = start
    for slot in keys.indices {
      if let key = try plainKey(at: slot) {
        node = node.child(key)
      } else if case .computed(let step, let method, let offset) = program.pointee.keys[slot] {
        try forEachKey(of: step, for: method, at: offset) { node = node.child($0) }
      } else if case .parent(let offset) = program.pointee.keys[slot] {
        throw Self.aboveRoot(at: offset)
      }
    }
    return node
  }

  /// A part of a path that is one key without being split: a literal, or the user's ID.
  @inline(__always)
  private mutating func plainKey(at slot: Int) throws(EvaluationError) -> LeafText? {
    switch program.pointee.keys[slot] {
    case .literal(let key): return key
    case .computed(let step, _, _):
      guard let key = request.client.uidKey, case .uid = program.pointee.steps[Int(step)] else {
        return nil
      }
      // This costs as much as any other path.
      try budget.spend(1 + request.client.memberCount + key.byteCount + RulesLimits.stepsPerKey)
      return key
    case .parent: return nil
    }
  }

  /// Follows a path that may ascend over keys that are known only at run time.
  private mutating func detour(
    isNew: Bool,
    frame: Int,
    _ keys: RuleProgram.Slice
  ) throws(EvaluationError) -> NodeView {
    var frame = frame
    var node = isNew ? frames[frame].newNode : frames[frame].node
    var above: [NodeView] = []
    for slot in keys.indices {
      switch program.pointee.keys[slot] {
      case .literal(let key):
        above.append(node)
        node = node.child(key)
      case .computed(let step, let method, let offset):
        try forEachKey(of: step, for: method, at: offset) { key in
          above.append(node)
          node = node.child(key)
        }
      case .parent(let offset):
        if let last = above.popLast() {
          node = last
        } else if frame > 0 {
          frame -= 1
          node = isNew ? frames[frame].newNode : frames[frame].node
        } else {
          throw Self.aboveRoot(at: offset)
        }
      }
    }
    return node
  }

  /// Splits the path that is the value of a step.
  private mutating func forEachKey(
    of step: Int32,
    for method: SnapshotMethod,
    at offset: Int32,
    _ body: (LeafText) -> Void
  ) throws(EvaluationError) {
    let text = try string(step, for: "\(method.rawValue)()", at: offset)
    // This pays for splitting the path into keys.
    try budget.spend(text.byteCount)
    let bytes = text.utf8
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
      if end > start {
        try budget.spend(RulesLimits.stepsPerKey)
        body(LeafText(UnsafeBufferPointer(rebasing: bytes[start..<end])))
      }
      start = end + 1
    }
  }
}
