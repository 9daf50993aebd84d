internal import RealtimeCore

/// Compiles an expression into the lists of a program.
struct ExpressionCompiler {
  private(set) var tests: [RuleTest] = []
  private(set) var steps: [RuleStep] = []
  private(set) var locations: [RuleLocation] = []
  private(set) var keys: [RuleKey] = []
  private(set) var operands: [Int32] = []
  private(set) var paths: [RuleProgram.ChildPath] = []
  private(set) var patterns: [RegexProgram] = []
  private(set) var sets: [ScalarSet] = []
  private(set) var texts: [Lent<UInt8>] = []
  /// The children of the rule's frame that the expression names.
  private(set) var asked: Set<String> = []
  /// The index of the frame of the rule: the number of keys in its path.
  private let depth: Int
  /// The frames whose keys wildcards match, starting at the root.
  private let captures: [Int]
  private let names: RuleNames

  init(at path: [String], names: RuleNames) {
    self.names = names
    depth = path.count
    captures = path.indices.filter { path[$0].utf8.first == UInt8(ascii: "$") }.map { $0 + 1 }
  }

  /// The children of the location of a rule that an expression names.
  static func names(in expression: Expression, at path: [String]) -> Set<String> {
    var compiler = ExpressionCompiler(at: path, names: .none)
    _ = compiler.compile(expression)
    return compiler.asked
  }

  /// Compiles a boolean expression, and returns the index of the first condition.
  mutating func compile(_ expression: Expression) -> Int32 {
    addTests(expression, onTrue: RuleTest.accept, onFalse: RuleTest.reject, cost: 0)
  }

  // MARK: Conditions

  /// Adds the conditions of a boolean expression, and returns the index of the first one.
  ///
  /// Evaluation continues at `onTrue` or `onFalse`. The cost is the steps of the operators around
  /// it, which are added to those of the first condition.
  private mutating func addTests(
    _ expression: Expression,
    onTrue: Int32,
    onFalse: Int32,
    cost: Int
  ) -> Int32 {
    switch expression {
    case .not(let operand):
      return addTests(operand, onTrue: onFalse, onFalse: onTrue, cost: cost + 1)
    case .binary(.notEqual, let left, let right, let offset):
      return addTests(
        .binary(.equal, left, right, at: offset),
        onTrue: onFalse,
        onFalse: onTrue,
        cost: cost
      )
    case .all(let operands):
      var next = onTrue
      for (index, operand) in operands.enumerated().reversed() {
        next = addTests(operand, onTrue: next, onFalse: onFalse, cost: index == 0 ? cost + 1 : 0)
      }
      return next
    case .any(let operands):
      var next = onFalse
      for (index, operand) in operands.enumerated().reversed() {
        next = addTests(operand, onTrue: onTrue, onFalse: next, cost: index == 0 ? cost + 1 : 0)
      }
      return next
    case .ternary(let condition, let first, let second):
      let second = addTests(second, onTrue: onTrue, onFalse: onFalse, cost: 0)
      let first = addTests(first, onTrue: onTrue, onFalse: onFalse, cost: 0)
      return addTests(condition, onTrue: first, onFalse: second, cost: cost + 1)
    case .literal, .auth, .now, .root, .data, .newData, .capture, .query, .member, .index, .negate,
      .binary, .snapshotCall, .stringCall, .matches:
      let (kind, ownCost) = test(expression)
      tests.append(
        RuleTest(
          kind: kind,
          cost: Int32(clamping: cost + ownCost),
          onTrue: onTrue,
          onFalse: onFalse,
          asksForNewData: expression.dependsOnNewData
        )
      )
      return Int32(tests.count - 1)
    }
  }

  /// The condition for an expression without logical operators, and the steps that it takes.
  private mutating func test(_ expression: Expression) -> (kind: RuleTest.Kind, cost: Int) {
    switch expression {
    case .literal(.bool(let value)): return (.constant(value), 1)
    case .binary(.equal, let left, .literal(.null), _),
      .binary(.equal, .literal(.null), let left, _):
      if case .snapshotCall(.getPriority, let base, _, _) = left {
        let (location, cost) = add(location(base))
        return (.hasNoPriority(location), cost + 3)
      }
      let (step, cost) = addValue(left)
      if case .auth = left { return (.isSignedOut, cost + 2) }
      return (.isNull(step), cost + 2)
    case .binary(let operation, let left, let right, let offset):
      let (first, firstCost) = addValue(left)
      let (second, secondCost) = addValue(right)
      let cost = 1 + firstCost + secondCost
      if operation == .equal {
        if case .data(let location) = steps[Int(first)],
          case .data(let other) = steps[Int(second)]
        {
          return (.same(location, other, at: Int32(offset)), cost)
        }
        return (.equal(first, second, at: Int32(offset)), cost)
      }
      return (.compare(operation, first, second, at: Int32(offset)), cost)
    case .snapshotCall(let method, let base, let arguments, let offset):
      let (location, cost) = add(location(base))
      if arguments.isEmpty { return (.ask(method, location), cost + 1) }
      let children = arguments.map { argument in
        var chain = Chain(frame: 0, isNew: false, cost: 0, depth: depth)
        extend(&chain, by: argument, for: method, at: offset)
        return RuleProgram.ChildPath(
          keys: addKeys(of: chain),
          cost: Int32(clamping: chain.cost),
          nameIndex: isOwnFrame(location) ? nameIndex(of: chain) : nil
        )
      }
      paths += children
      let range = range(of: children.count, in: paths.count)
      let indices = children.compactMap(\.nameIndex)
      guard indices.count == children.count, case .frame(let isNew, _) = locations[Int(location)]
      else { return (.hasChildren(location, range), cost + 1) }
      let wanted = indices.reduce(RuleNames.Mask(0)) { $0 | 1 << $1 }
      let total = Int32(clamping: children.reduce(0) { $0 + Int($1.cost) })
      return (.hasNames(isNew: isNew, wanted, range, cost: total), cost + 1)
    case .matches(let base, let pattern, let offset):
      let (step, cost) = addValue(base)
      if let set = pattern.only, !pattern.ignoresCase {
        sets.append(set)
        return (.contains(step, set: Int32(sets.count - 1), at: Int32(offset)), cost + 1)
      }
      patterns.append(pattern)
      return (.matches(step, pattern: Int32(patterns.count - 1), at: Int32(offset)), cost + 1)
    case .literal, .auth, .now, .root, .data, .newData, .capture, .query, .member, .index, .not,
      .negate, .all, .any, .ternary, .stringCall:
      let (step, cost) = addValue(expression)
      return (.value(step), cost)
    }
  }

  // MARK: Unchanged data

  /// The kinds of leaves without a priority for which the conditions hold regardless of any other
  /// data, provided that the leaf is unchanged.
  ///
  /// Most of the data in a write is unchanged, and rules that restrict changes usually check for
  /// that first.
  func keepable(from entry: Int32) -> LeafKinds {
    let kinds: [LeafKinds] = [.bool, .number, .string]
    return LeafKinds(kinds.filter { target(from: entry, forUnchanged: $0) == RuleTest.accept })
  }

  /// Where the conditions lead to for such a leaf, or nil if that depends on anything else.
  private func target(from entry: Int32, forUnchanged kind: LeafKinds) -> Int32? {
    var next = entry
    while next >= 0 {
      let test = tests[Int(next)]
      guard let isTrue = result(of: test.kind, forUnchanged: kind) else { return nil }
      next = isTrue ? test.onTrue : test.onFalse
    }
    return next
  }

  /// The result of a condition for such a leaf, or nil if it depends on anything else.
  private func result(of test: RuleTest.Kind, forUnchanged kind: LeafKinds) -> Bool? {
    switch test {
    case .constant(let value): return value
    case .hasNoPriority(let location): return isOwnFrame(location) ? true : nil
    case .same(let location, let other, _):
      return isOwnFrame(location) && isOwnFrame(other) ? true : nil
    case .ask(let method, let location):
      guard isOwnFrame(location) else { return nil }
      switch method {
      case .exists: return true
      case .isBoolean: return kind == .bool
      case .isNumber: return kind == .number
      case .isString: return kind == .string
      case .hasChildren: return false
      case .val, .getPriority, .hasChild, .parent, .child: return nil
      }
    case .equal(let left, let right, _):
      return isOwnValue(left, ofUnchanged: kind) && isOwnValue(right, ofUnchanged: kind)
        ? true : nil
    case .isNull, .isSignedOut, .compare, .hasChildren, .hasNames, .matches, .contains, .value:
      return nil
    }
  }

  /// Whether a step certainly has the value of such a leaf.
  private func isOwnValue(_ step: Int32, ofUnchanged kind: LeafKinds) -> Bool {
    switch steps[Int(step)] {
    case .data(let location): return isOwnFrame(location)
    case .ternary(let condition, let branches):
      switch target(from: condition, forUnchanged: kind) {
      case RuleTest.accept: return isOwnValue(branches.first, ofUnchanged: kind)
      case RuleTest.reject: return isOwnValue(branches.second, ofUnchanged: kind)
      default: return false
      }
    case .null, .bool, .number, .text, .auth, .uid, .now, .capture, .query, .member, .length,
      .negate, .arithmetic, .condition, .ask, .string:
      return false
    }
  }

  // MARK: Values

  /// Adds an expression, and returns the index of its step and the steps that it takes.
  private mutating func addValue(_ expression: Expression) -> (index: Int32, cost: Int) {
    let (step, cost) = value(expression)
    steps.append(step)
    return (Int32(steps.count - 1), cost)
  }

  private mutating func value(_ expression: Expression) -> (step: RuleStep, cost: Int) {
    switch expression {
    case .literal(let literal): return (step(literal), 1)
    case .auth: return (.auth, 1)
    case .now: return (.now, 1)
    case .capture(let index): return (.capture(frame: Int32(captures[index])), 1)
    case .query(let member): return (.query(member), 1)
    case .member(.auth, "uid", let offset): return (.uid(at: Int32(offset)), 1)
    case .member(let base, let name, let offset):
      let (receiver, cost) = addValue(base)
      let (text, textCost) = addValue(.literal(.text(name)))
      if name == "length" { return (.length(receiver, name: text, at: Int32(offset)), cost + 1) }
      return (.member(receiver, name: text, at: Int32(offset)), cost + textCost + 1)
    case .index(let base, let index, let offset):
      let (receiver, cost) = addValue(base)
      let (name, nameCost) = addValue(index)
      return (.member(receiver, name: name, at: Int32(offset)), cost + nameCost + 1)
    case .negate(let operand, let offset):
      let (operand, cost) = addValue(operand)
      return (.negate(operand, at: Int32(offset)), cost + 1)
    case .binary(let operation, let left, let right, let offset):
      guard operation.isArithmetic else { return (.condition(compile(expression)), 0) }
      let (first, firstCost) = addValue(left)
      let (second, secondCost) = addValue(right)
      return (
        .arithmetic(operation, first, second, at: Int32(offset)), 1 + firstCost + secondCost
      )
    case .not, .all, .any, .matches: return (.condition(compile(expression)), 0)
    case .ternary(let condition, let first, let second):
      let entry = compile(condition)
      return (.ternary(entry, branches(first: addValue(first), second: addValue(second))), 1)
    case .snapshotCall(let method, let base, let arguments, _):
      guard arguments.isEmpty else { return (.condition(compile(expression)), 0) }
      let (location, cost) = add(location(base))
      let step: RuleStep = method == .val ? .data(location) : .ask(method, location)
      return (step, cost + 1)
    case .stringCall(let method, let base, let arguments, let offset):
      let (receiver, cost) = addValue(base)
      let added = arguments.map { addValue($0) }
      operands += added.map(\.index)
      return (
        .string(method, receiver, range(of: added.count, in: operands.count), at: Int32(offset)),
        added.reduce(cost + 1) { $0 + $1.cost }
      )
    case .root, .data, .newData: return (.null, 1)
    }
  }

  private mutating func step(_ literal: Literal) -> RuleStep {
    switch literal {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let value): .number(value)
    case .text(let text): .text(keep(text))
    }
  }

  private mutating func keep(_ text: String) -> LeafText {
    let text = Lent(text.utf8)
    texts.append(text)
    return LeafText(text.elements)
  }

  private func branches(
    first: (index: Int32, cost: Int),
    second: (index: Int32, cost: Int)
  ) -> RuleBranches {
    RuleBranches(
      first: first.index,
      second: second.index,
      firstCost: Int32(clamping: first.cost),
      secondCost: Int32(clamping: second.cost)
    )
  }

  /// The last elements of a list, as a slice.
  private func range(of count: Int, in total: Int) -> RuleProgram.Slice {
    RuleProgram.Slice(first: Int32(total - count), count: Int32(count))
  }

  // MARK: Locations

  /// A path below a frame.
  private struct Chain {
    var frame: Int
    let isNew: Bool
    var keys: [RuleKey] = []
    /// The steps that following the path takes.
    var cost: Int
    /// The number of keys from the root.
    var depth: Int
    /// The offset of a `parent()` that leads above the root.
    var failure: Int?
    var hasDetour = false

    mutating func append(_ keys: [RuleKey], cost: Int) {
      self.keys += keys
      self.cost += cost
      depth += keys.count
    }

    mutating func ascend(at offset: Int) {
      cost += 1 + depth
      if failure != nil { return }
      switch keys.last {
      case .literal: keys.removeLast()
      case .computed, .parent:
        keys.append(.parent(at: Int32(offset)))
        hasDetour = true
      case nil where frame > 0: frame -= 1
      case nil: failure = offset
      }
      depth = max(0, depth - 1)
    }
  }

  /// A path, or a choice between two.
  private indirect enum Location {
    case chain(Chain)
    case choice(Int32, Location, Location)

    mutating func change(_ body: (inout Chain) -> Void) {
      switch self {
      case .chain(var chain):
        body(&chain)
        self = .chain(chain)
      case .choice(let entry, var first, var second):
        first.change(body)
        second.change(body)
        self = .choice(entry, first, second)
      }
    }
  }

  private mutating func location(_ expression: Expression) -> Location {
    switch expression {
    case .root: return .chain(Chain(frame: 0, isNew: false, cost: 1, depth: 0))
    case .data: return .chain(Chain(frame: depth, isNew: false, cost: 1, depth: depth))
    case .newData: return .chain(Chain(frame: depth, isNew: true, cost: 1, depth: depth))
    case .ternary(let condition, let first, let second):
      return .choice(compile(condition), location(first), location(second))
    case .snapshotCall(.parent, let base, _, let offset):
      var result = location(base)
      result.change { $0.ascend(at: offset) }
      return result
    case .snapshotCall(.child, let base, let arguments, let offset):
      var result = location(base)
      var path = Chain(frame: 0, isNew: false, cost: 1, depth: 0)
      for argument in arguments { extend(&path, by: argument, for: .child, at: offset) }
      result.change { $0.append(path.keys, cost: path.cost + $0.depth) }
      return result
    case .literal, .auth, .now, .capture, .query, .member, .index, .not, .negate, .binary, .all,
      .any, .snapshotCall, .stringCall, .matches:
      // The checker allows only snapshots here.
      return .chain(Chain(frame: 0, isNew: false, cost: 1, depth: 0))
    }
  }

  /// Adds the keys of an argument to a path.
  private mutating func extend(
    _ chain: inout Chain,
    by argument: PathArgument,
    for method: SnapshotMethod,
    at offset: Int
  ) {
    switch argument {
    case .computed(let expression):
      let (step, cost) = addValue(expression)
      let key = RuleKey.computed(step, for: method, at: Int32(offset))
      chain.append([key], cost: cost + chain.depth)
    case .constant(let text):
      let path = Path(wire: text)
      chain.append(
        path.keys.map { .literal(keep($0.text)) },
        cost: text.utf8.count + chain.depth + RulesLimits.stepsPerKey * path.count
      )
    }
  }

  /// Whether a location is the rule's own frame.
  private func isOwnFrame(_ location: Int32) -> Bool {
    if case .frame(_, let frame) = locations[Int(location)] { Int(frame) == depth } else { false }
  }

  /// The index of a path of one literal key among the names of the rule's frame.
  private mutating func nameIndex(of chain: Chain) -> RuleNames.Index? {
    guard chain.keys.count == 1, case .literal(let key)? = chain.keys.first else { return nil }
    asked.insert(key.string)
    return names[key.string]
  }

  private mutating func addKeys(of chain: Chain) -> RuleProgram.Slice {
    keys += chain.keys
    return range(of: chain.keys.count, in: keys.count)
  }

  /// Adds a location, and returns its index and the steps that it takes.
  private mutating func add(_ location: Location) -> (index: Int32, cost: Int) {
    let added: RuleLocation
    let cost: Int
    switch location {
    case .choice(let entry, let first, let second):
      added = .choice(entry, branches(first: add(first), second: add(second)))
      cost = 1
    case .chain(let chain):
      cost = chain.cost
      let frame = Int32(chain.frame)
      if let failure = chain.failure {
        added = .aboveRoot(at: Int32(failure))
      } else if chain.keys.isEmpty {
        added = .frame(isNew: chain.isNew, frame)
      } else if chain.frame == depth, let nameIndex = self.nameIndex(of: chain) {
        added = .named(isNew: chain.isNew, nameIndex)
      } else if chain.keys.count == 1, case .literal(let key)? = chain.keys.first {
        added = .child(isNew: chain.isNew, frame: frame, key)
      } else {
        let range = addKeys(of: chain)
        added =
          chain.hasDetour
          ? .detour(isNew: chain.isNew, frame: frame, range)
          : .path(isNew: chain.isNew, frame: frame, range)
      }
    }
    locations.append(added)
    return (Int32(locations.count - 1), cost)
  }
}
