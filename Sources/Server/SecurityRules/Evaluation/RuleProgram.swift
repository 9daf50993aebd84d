internal import RealtimeCore

/// A subexpression; it refers to its own subexpressions by their index.
enum RuleStep {
  case null
  case bool(Bool)
  case number(Double)
  case text(LeafText)
  case auth
  /// The member `uid` of `auth`, which nearly every rule uses.
  case uid(at: Int32)
  case now
  case capture(Int32)
  case query(QueryMember)
  case member(Int32, name: Int32, at: Int32)
  /// The member `length`, which for a string is its length.
  case length(Int32, name: Int32, at: Int32)
  case not(Int32)
  case negate(Int32, at: Int32)
  case binary(BinaryOperator, Int32, Int32, at: Int32)
  case all(Operands)
  case any(Operands)
  case ternary(Int32, Int32, Int32)
  case root
  case data
  case newData
  case parent(Int32, at: Int32)
  case child(Int32, RulePath, at: Int32)
  /// Calls a method without arguments on a location.
  case ask(SnapshotMethod, Int32, at: Int32)
  /// Whether a location has all of some children.
  case hasChildren(SnapshotMethod, Int32, first: Int32, count: Int32, at: Int32)
  case string(StringMethod, Int32, Operands, at: Int32)
  case matches(Int32, pattern: Int32, at: Int32)
  /// Whether a text contains a character of a set, which is all that the simplest patterns ask.
  case contains(Int32, set: Int32, at: Int32)

  /// A range in the list of operands.
  struct Operands {
    let first: Int32
    let count: Int32

    var range: Range<Int> { Int(first)..<Int(first + count) }
  }
}

/// A path below a location.
enum RulePath {
  /// A range in the list of literal keys, and the length of the path as text.
  case keys(first: Int32, count: Int32, bytes: Int32)
  /// The value of a subexpression.
  case computed(Int32)
}

/// An expression as a flat list of subexpressions, so that evaluating it counts no references.
///
// Safety: initialized once, before it is shared; the program retains what its steps borrow.
final class RuleProgram: @unchecked Sendable {
  private let steps: Lent<RuleStep>
  private let operands: Lent<Int32>
  private let paths: Lent<RulePath>
  private let keys: Lent<LeafText>
  private let patterns: Lent<RegexProgram>
  private let sets: Lent<ScalarSet>
  private let asksForNewData: Lent<Bool>
  /// The texts that steps and keys borrow.
  private let texts: [Lent<UInt8>]

  /// The program as borrowed buffers, valid while the program is retained.
  struct Code {
    let steps: UnsafeBufferPointer<RuleStep>
    let operands: UnsafeBufferPointer<Int32>
    let paths: UnsafeBufferPointer<RulePath>
    let keys: UnsafeBufferPointer<LeafText>
    let patterns: UnsafeBufferPointer<RegexProgram>
    let sets: UnsafeBufferPointer<ScalarSet>
    /// For each step, whether its value depends on new data.
    let asksForNewData: UnsafeBufferPointer<Bool>
    /// The index of the whole expression, which comes last.
    var top: Int32 { Int32(steps.count - 1) }

    /// No expression.
    static var none: Code {
      Code(
        steps: UnsafeBufferPointer(start: nil, count: 0),
        operands: UnsafeBufferPointer(start: nil, count: 0),
        paths: UnsafeBufferPointer(start: nil, count: 0),
        keys: UnsafeBufferPointer(start: nil, count: 0),
        patterns: UnsafeBufferPointer(start: nil, count: 0),
        sets: UnsafeBufferPointer(start: nil, count: 0),
        asksForNewData: UnsafeBufferPointer(start: nil, count: 0)
      )
    }
  }

  let code: Code

  /// Compiles an expression.
  init(_ expression: Expression) {
    var builder = RuleProgramBuilder()
    _ = builder.add(expression)
    steps = Lent(builder.steps)
    operands = Lent(builder.operands)
    paths = Lent(builder.paths)
    keys = Lent(builder.keys)
    patterns = Lent(builder.patterns)
    sets = Lent(builder.sets)
    asksForNewData = Lent(builder.asksForNewData)
    texts = builder.texts
    code = Code(
      steps: steps.elements,
      operands: operands.elements,
      paths: paths.elements,
      keys: keys.elements,
      patterns: patterns.elements,
      sets: sets.elements,
      asksForNewData: asksForNewData.elements
    )
  }
}

/// Flattens an expression so that each step comes after its operands.
private struct RuleProgramBuilder {
  private(set) var steps: [RuleStep] = []
  private(set) var operands: [Int32] = []
  private(set) var paths: [RulePath] = []
  private(set) var keys: [LeafText] = []
  private(set) var patterns: [RegexProgram] = []
  private(set) var sets: [ScalarSet] = []
  private(set) var texts: [Lent<UInt8>] = []
  /// For each step, whether it or one of its operands uses new data.
  private(set) var asksForNewData: [Bool] = []
  /// The number of `newData` steps so far.
  private var newDataCount = 0

  /// Adds an expression, and returns the index of its step.
  mutating func add(_ expression: Expression) -> Int32 {
    let before = newDataCount
    let index = addSteps(of: expression)
    asksForNewData[Int(index)] = newDataCount > before
    return index
  }

  private mutating func addSteps(of expression: Expression) -> Int32 {
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
      add(method, base: add(base), arguments: arguments, at: Int32(offset))
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
    let indices = expressions.map { add($0) }
    operands += indices
    return RuleStep.Operands(
      first: Int32(operands.count - indices.count),
      count: Int32(indices.count)
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
    base: Int32,
    arguments: [PathArgument],
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
