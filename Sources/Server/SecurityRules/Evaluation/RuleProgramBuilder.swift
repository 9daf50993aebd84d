internal import RealtimeCore

/// Writes the parts of an expression down so that each comes after those that it consists of.
struct RuleProgramBuilder {
  private(set) var steps: [RuleStep] = []
  private(set) var operands: [Int32] = []
  private(set) var paths: [RulePath] = []
  private(set) var keys: [LeafText] = []
  private(set) var patterns: [RegexProgram] = []
  private(set) var sets: [ScalarSet] = []
  private(set) var texts: [Lent<UInt8>] = []
  /// For each part whether it asks for new data, by itself or by what it consists of.
  private(set) var asksForNewData: [Bool] = []
  /// How many parts are the new data themselves.
  private var newDataCount = 0

  /// Adds an expression, and gives the place of its part.
  mutating func add(_ expression: Expression) -> Int32 {
    let before = newDataCount
    let place = addParts(of: expression)
    asksForNewData[Int(place)] = newDataCount > before
    return place
  }

  private mutating func addParts(of expression: Expression) -> Int32 {
    switch expression {
    case .literal(let literal): append(step(literal))
    case .auth: append(.auth)
    case .now: append(.now)
    case .root: append(.root)
    case .data: append(.data)
    case .newData: append(.newData)
    case .capture(let index): append(.capture(Int32(index)))
    case .query(let member): append(.query(member))
    case .member(.auth, "uid", let offset): append(.uid(at: Int32(offset)))
    case .member(let base, "length", let offset):
      append(.length(add(base), name: append(step(.text("length"))), at: Int32(offset)))
    case .member(let base, let name, let offset):
      append(.member(add(base), name: append(step(.text(name))), at: Int32(offset)))
    case .index(let base, let index, let offset):
      append(.member(add(base), name: add(index), at: Int32(offset)))
    case .not(let operand): append(.not(add(operand)))
    case .negate(let operand, let offset): append(.negate(add(operand), at: Int32(offset)))
    case .binary(let operation, let left, let right, let offset):
      append(.binary(operation, add(left), add(right), at: Int32(offset)))
    case .all(let operands): append(.all(add(operands)))
    case .any(let operands): append(.any(add(operands)))
    case .ternary(let condition, let first, let second):
      append(.ternary(add(condition), add(first), add(second)))
    case .snapshotCall(let method, let base, let arguments, let offset):
      add(method, add(base), arguments, at: Int32(offset))
    case .stringCall(let method, let base, let arguments, let offset):
      append(.string(method, add(base), add(arguments), at: Int32(offset)))
    case .matches(let base, let pattern, let offset):
      if let set = pattern.only, !pattern.ignoresCase {
        append(.contains(add(base), set: add(set), at: Int32(offset)))
      } else {
        append(.matches(add(base), pattern: add(pattern), at: Int32(offset)))
      }
    }
  }

  private mutating func append(_ step: RuleStep) -> Int32 {
    steps.append(step)
    asksForNewData.append(false)
    if case .newData = step { newDataCount += 1 }
    return Int32(steps.count - 1)
  }

  private mutating func add(_ pattern: RegexProgram) -> Int32 {
    patterns.append(pattern)
    return Int32(patterns.count - 1)
  }

  private mutating func add(_ set: ScalarSet) -> Int32 {
    sets.append(set)
    return Int32(sets.count - 1)
  }

  private mutating func add(_ expressions: [Expression]) -> RuleStep.Operands {
    let places = expressions.map { add($0) }
    operands += places
    return RuleStep.Operands(
      first: Int32(operands.count - places.count),
      count: Int32(places.count)
    )
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

  // MARK: Snapshots

  private mutating func add(
    _ method: SnapshotMethod,
    _ base: Int32,
    _ arguments: [PathArgument],
    at offset: Int32
  ) -> Int32 {
    let paths = arguments.map { path($0) }
    switch method {
    case .parent: return append(.parent(base, at: offset))
    case .child:
      guard let path = paths.first else { return base }
      return append(.child(base, path, at: offset))
    case .hasChild, .hasChildren:
      if paths.isEmpty { return append(.ask(method, base, at: offset)) }
      self.paths += paths
      let first = Int32(self.paths.count - paths.count)
      return append(
        .hasChildren(method, base, first: first, count: Int32(paths.count), at: offset)
      )
    case .val, .getPriority, .exists, .isNumber, .isString, .isBoolean:
      return append(.ask(method, base, at: offset))
    }
  }

  private mutating func path(_ argument: PathArgument) -> RulePath {
    switch argument {
    case .computed(let expression): return .computed(add(expression))
    case .constant(let text):
      let path = Path(wire: text)
      for key in path.keys { keys.append(keep(key.text)) }
      return .keys(
        first: Int32(keys.count - path.count),
        count: Int32(path.count),
        bytes: Int32(text.utf8.count)
      )
    }
  }
}
