internal import RealtimeCore

/// A condition of a rule, and where evaluation continues after it.
///
/// The logical operators and the conditional operator have no code of their own: they are compiled
/// into the targets of the conditions.
struct RuleTest {
  enum Kind {
    case constant(Bool)
    case isNull(Int32)
    /// Whether `auth` is null, which nearly every rule asks first.
    case isSignedOut
    case hasNoPriority(Int32)
    case equal(Int32, Int32, at: Int32)
    /// Whether two locations have the same value.
    case same(Int32, Int32, at: Int32)
    case compare(BinaryOperator, Int32, Int32, at: Int32)
    /// Calls a boolean method without arguments on a location.
    case ask(SnapshotMethod, Int32)
    /// Whether a location has all of some children.
    case hasChildren(Int32, RuleProgram.Slice)
    /// Whether the rule's frame has all of some named children, which cost this much together.
    case hasNames(isNew: Bool, RuleNames.Mask, RuleProgram.Slice, cost: Int32)
    case matches(Int32, pattern: Int32, at: Int32)
    /// Whether a text contains a character of a set, which is all that the simplest patterns
    /// require.
    case contains(Int32, set: Int32, at: Int32)
    /// Any other boolean expression.
    case value(Int32)
  }

  /// The target that makes the whole expression true.
  static let accept: Int32 = -1
  /// The target that makes the whole expression false.
  static let reject: Int32 = -2

  let kind: Kind
  /// The steps that it takes, as far as they do not depend on data.
  let cost: Int32
  let onTrue: Int32
  let onFalse: Int32
  /// Whether the result depends on new data.
  let asksForNewData: Bool
}

/// An expression with a value; it refers to its operands by index.
enum RuleStep {
  case null
  case bool(Bool)
  case number(Double)
  case text(LeafText)
  case auth
  /// The member `uid` of `auth`, which nearly every rule uses.
  case uid(at: Int32)
  case now
  /// The key of a frame, which a wildcard matched.
  case capture(frame: Int32)
  case query(QueryMember)
  case member(Int32, name: Int32, at: Int32)
  /// The member `length`, which for a string is its length.
  case length(Int32, name: Int32, at: Int32)
  case negate(Int32, at: Int32)
  case arithmetic(BinaryOperator, Int32, Int32, at: Int32)
  /// The result of the conditions that start at an index.
  case condition(Int32)
  /// One of two steps, with the cost of each.
  case ternary(Int32, RuleBranches)
  /// The value of a location.
  case data(Int32)
  /// Calls another method without arguments on a location.
  case ask(SnapshotMethod, Int32)
  case string(StringMethod, Int32, RuleProgram.Slice, at: Int32)
}

/// The two branches of a conditional expression, with their costs.
struct RuleBranches {
  let first: Int32
  let second: Int32
  let firstCost: Int32
  let secondCost: Int32
}

/// A location in the current or in the new data.
///
/// The frame of a rule is known at compile time, and so is the frame of each `parent()`.
enum RuleLocation {
  case frame(isNew: Bool, Int32)
  /// A child of the rule's frame, by its index among the names of the frame.
  case named(isNew: Bool, RuleNames.Index)
  /// The child of any other frame under a literal key.
  case child(isNew: Bool, frame: Int32, LeafText)
  case path(isNew: Bool, frame: Int32, RuleProgram.Slice)
  /// A path below a frame in which a `parent()` follows a key that is known only at run time.
  case detour(isNew: Bool, frame: Int32, RuleProgram.Slice)
  /// One of two locations.
  case choice(Int32, RuleBranches)
  /// The parent of the root, which is an error.
  case aboveRoot(at: Int32)
}

/// One part of a path.
enum RuleKey {
  case literal(LeafText)
  /// A path that is the value of a step.
  case computed(Int32, for: SnapshotMethod, at: Int32)
  case parent(at: Int32)
}

struct LeafKinds: OptionSet {
  let rawValue: UInt8

  static let bool = LeafKinds(rawValue: 1)
  static let number = LeafKinds(rawValue: 2)
  static let string = LeafKinds(rawValue: 4)

  func include(_ kind: NodeView.Kind) -> Bool {
    switch kind {
    case .bool: contains(.bool)
    case .number: contains(.number)
    case .string: contains(.string)
    case .empty, .deferred, .children: false
    }
  }
}

/// A compiled expression: flat lists without references to count during evaluation.
///
// Safety: initialized once, before it is shared; the program retains what its parts borrow.
final class RuleProgram: @unchecked Sendable {
  /// A range in one of the lists.
  struct Slice {
    let first: Int32
    let count: Int32

    var indices: Range<Int> { Int(first)..<Int(first + count) }
  }

  /// A path below a location, and the steps that it takes as far as they do not depend on data.
  struct ChildPath {
    let keys: Slice
    let cost: Int32
    /// Its index among the names of the rule's frame, if the location is that frame.
    let nameIndex: RuleNames.Index?
  }

  /// The lists as borrowed buffers, valid while the program is retained.
  struct Code {
    let entry: Int32
    let frame: Int
    /// The kinds of leaves for which it holds regardless of any other data, if they are unchanged.
    let keepable: LeafKinds
    /// The named children of that frame.
    let names: UnsafeBufferPointer<LeafText>
    let tests: UnsafeBufferPointer<RuleTest>
    let steps: UnsafeBufferPointer<RuleStep>
    let locations: UnsafeBufferPointer<RuleLocation>
    let keys: UnsafeBufferPointer<RuleKey>
    let operands: UnsafeBufferPointer<Int32>
    let paths: UnsafeBufferPointer<ChildPath>
    let patterns: UnsafeBufferPointer<RegexProgram>
    let sets: UnsafeBufferPointer<ScalarSet>
  }

  private let code: Lent<Code>
  /// What the code borrows: names, lists, and the texts of steps and keys.
  private let lenders: [AnyObject]

  /// Compiles a boolean expression of a rule at a location, with wildcards by name.
  ///
  /// The names are the children of the location that are looked up together.
  init(_ expression: Expression, at path: [String], names: RuleNames = .none) {
    var compiler = ExpressionCompiler(at: path, names: names)
    let entry = compiler.compile(expression)
    var lenders: [AnyObject] = [names] + compiler.texts
    func lend<Element>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
      let lender = Lent(elements)
      lenders.append(lender)
      return lender.elements
    }
    code = Lent([
      Code(
        entry: entry,
        frame: path.count,
        keepable: compiler.keepable(from: entry),
        names: names.texts,
        tests: lend(compiler.tests),
        steps: lend(compiler.steps),
        locations: lend(compiler.locations),
        keys: lend(compiler.keys),
        operands: lend(compiler.operands),
        paths: lend(compiler.paths),
        patterns: lend(compiler.patterns),
        sets: lend(compiler.sets)
      )
    ])
    self.lenders = lenders
  }

  /// The program, valid as long as this object is retained.
  var borrowed: UnsafePointer<Code> { code.pointer }
}
