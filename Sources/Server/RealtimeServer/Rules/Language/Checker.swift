/// Resolves the names of an expression and checks its types.
struct Checker {
  /// An expression with its static type.
  private typealias Typed = (expression: Expression, type: RuleType)

  let kind: RuleKind
  /// The names of the wildcards at and above the rule, starting at the root, with dollar signs.
  let wildcards: [String]

  /// Checks a whole rule, whose static type must be boolean.
  func rule(_ syntax: Syntax) throws(RuleProblem) -> Expression {
    try boolean(syntax, as: "a rule")
  }

  private func boolean(_ syntax: Syntax, as what: String) throws(RuleProblem) -> Expression {
    let typed = try check(syntax)
    guard typed.type == .boolean else {
      let advice = typed.type.isOpen ? "; compare it, as in 'x == true'" : ""
      throw RuleProblem(
        "\(what) must be a boolean, but this is \(typed.type.rawValue)\(advice)",
        at: syntax.offset
      )
    }
    return typed.expression
  }

  /// Checks an expression that must be of a type, as far as that is known before run time.
  private func expression(
    _ syntax: Syntax,
    _ type: RuleType,
    or expectation: String
  ) throws(RuleProblem) -> Expression {
    let typed = try check(syntax)
    guard typed.type.mayBe(type) else {
      throw RuleProblem("\(expectation), but this is \(typed.type.rawValue)", at: syntax.offset)
    }
    return typed.expression
  }

  private func number(_ syntax: Syntax, for symbol: String) throws(RuleProblem) -> Expression {
    try expression(syntax, .number, or: "'\(symbol)' needs numbers")
  }

  private func check(_ syntax: Syntax) throws(RuleProblem) -> Typed {
    switch syntax.kind {
    case .number(let value): return (.literal(.number(value)), .number)
    case .string(let value): return (.literal(.text(value)), .string)
    case .bool(let value): return (.literal(.bool(value)), .boolean)
    case .null: return (.literal(.null), .null)
    case .regex:
      throw RuleProblem(
        "a regular expression is allowed only as the argument of matches()",
        at: syntax.offset
      )
    case .array:
      throw RuleProblem(
        "an array is allowed only as the argument of hasChildren()",
        at: syntax.offset
      )
    case .name(let name): return try variable(name, at: syntax.offset)
    case .member(let base, let name): return try member(name, of: base, at: syntax.offset)
    case .index(let base, let index): return try self.index(index, of: base, at: syntax.offset)
    case .call(let callee, let arguments):
      return try call(callee, arguments: arguments, at: syntax.offset)
    case .not(let operand):
      return (.not(try boolean(operand, as: "the operand of '!'")), .boolean)
    case .negate(let operand):
      let number = try number(operand, for: "-")
      return (.negate(number, at: syntax.offset), .number)
    case .binary(let operation, let left, let right):
      return try binary(operation, left: left, right: right, at: syntax.offset)
    case .all(let operands):
      let checked = try operands.map { (operand) throws(RuleProblem) in
        try boolean(operand, as: "each operand of '&&'")
      }
      return (.all(checked), .boolean)
    case .any(let operands):
      let checked = try operands.map { (operand) throws(RuleProblem) in
        try boolean(operand, as: "each operand of '||'")
      }
      return (.any(checked), .boolean)
    case .ternary(let condition, let first, let second):
      return try ternary(condition, first: first, second: second, at: syntax.offset)
    }
  }

  private func variable(_ name: String, at offset: Int) throws(RuleProblem) -> Typed {
    if let index = wildcards.firstIndex(of: name) {
      return (.capture(index), .string)
    }
    switch name {
    case "auth": return (.auth, .any)
    case "now": return (.now, .number)
    case "root": return (.root, .snapshot)
    case "data": return (.data, .snapshot)
    case "newData":
      guard kind != .read else {
        throw RuleProblem("'newData' does not exist in a .read rule", at: offset)
      }
      return (.newData, .snapshot)
    case "query":
      guard kind == .read else {
        throw RuleProblem("'query' exists only in a .read rule", at: offset)
      }
      return (.literal(.null), .query)
    default:
      let known = (["auth", "now", "root", "data"] + wildcards).joined(separator: ", ")
      let what = name.hasPrefix("$") ? "no wildcard '\(name)' at or above this rule" : nil
      throw RuleProblem(
        (what ?? "unknown name '\(name)'") + "; names that exist here: \(known)"
          + (kind == .read ? ", query" : ", newData"),
        at: offset
      )
    }
  }

  private func ternary(
    _ condition: Syntax,
    first: Syntax,
    second: Syntax,
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    let checked = try boolean(condition, as: "the condition of '?:'")
    let left = try check(first)
    let right = try check(second)
    let type: RuleType
    if left.type == right.type, left.type != .query {
      type = left.type
    } else if [left.type, right.type].contains(where: { $0 == .snapshot || $0 == .query })
      || ![left.type, right.type].contains(where: { $0.isOpen || $0 == .null })
    {
      throw RuleProblem(
        "both branches of '?:' must have the same type, but these are \(left.type.rawValue)"
          + " and \(right.type.rawValue)",
        at: offset
      )
    } else {
      type = [left.type, right.type].contains(.any) ? .any : .primitive
    }
    return (.ternary(checked, left.expression, right.expression), type)
  }

  private func binary(
    _ operation: BinaryOperator,
    left: Syntax,
    right: Syntax,
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    if operation.isArithmetic, operation != .add {
      let first = try number(left, for: operation.rawValue)
      let second = try number(right, for: operation.rawValue)
      return (.binary(operation, first, second, at: offset), .number)
    }
    let first = try check(left)
    let second = try check(right)
    let isEquality = operation == .equal || operation == .notEqual
    for (operand, type) in [(left, first.type), (right, second.type)] {
      if type.isOpen || [.number, .string].contains(type) { continue }
      if isEquality, [.null, .boolean].contains(type) { continue }
      let expected = isEquality ? "values" : "numbers or strings"
      let advice = type == .snapshot ? "; use its val() or exists()" : ""
      throw RuleProblem(
        "'\(operation.rawValue)' needs \(expected), but this is \(type.rawValue)\(advice)",
        at: operand.offset
      )
    }
    var type = RuleType.boolean
    if operation == .add {
      type =
        [first.type, second.type].contains(.string)
        ? .string : first.type == .number && second.type == .number ? .number : .primitive
    } else if !isEquality {
      guard first.type.mayBe(second.type) || second.type.mayBe(first.type) else {
        throw RuleProblem(
          "'\(operation.rawValue)' compares two numbers or two strings, but these are"
            + " \(first.type.rawValue) and \(second.type.rawValue)",
          at: offset
        )
      }
    }
    return (.binary(operation, first.expression, second.expression, at: offset), type)
  }
}

/// A static type.
enum RuleType: String {
  case null = "null"
  case boolean = "a boolean"
  case number = "a number"
  case string = "a string"
  case snapshot = "a snapshot"
  case query = "the query"
  /// The value of a leaf: null, a boolean, a number or a string, known only at run time.
  case primitive = "a value of the data"
  /// Null, a primitive value or an object, known only at run time.
  case any = "a value of unknown type"

  /// Whether a value of this static type may be of another type at run time.
  func mayBe(_ other: RuleType) -> Bool {
    switch (self, other) {
    case (.any, _), (.primitive, .null), (.primitive, .boolean), (.primitive, .number),
      (.primitive, .string):
      true
    default: self == other
    }
  }

  /// Whether the type is known only at run time.
  var isOpen: Bool { self == .any || self == .primitive }
}

extension Checker {
  /// Checks a member access that is not a call.
  private func member(_ name: String, of base: Syntax, at offset: Int) throws(RuleProblem) -> Typed
  {
    let typed = try check(base)
    switch typed.type {
    case .query:
      guard let member = QueryMember(rawValue: name) else {
        let known = QueryMember.allCases.map(\.rawValue).joined(separator: ", ")
        throw RuleProblem("the query has no member '\(name)'; it has \(known)", at: offset)
      }
      return (.query(member), member.type)
    case .any:
      return (.member(typed.expression, name, at: offset), .any)
    case .string, .primitive:
      // Among leaf values, only strings have members.
      guard name == "length" else { throw unknownMember(name, of: .string, at: offset) }
      return (.member(typed.expression, name, at: offset), .number)
    case .snapshot: throw unknownMember(name, of: .snapshot, at: offset)
    case .null, .boolean, .number:
      throw RuleProblem("\(typed.type.rawValue) has no members, so no '\(name)'", at: offset)
    }
  }

  private func unknownMember(_ name: String, of type: RuleType, at offset: Int) -> RuleProblem {
    let methods =
      type == .snapshot
      ? SnapshotMethod.allCases.map(\.rawValue) : StringMethod.allCases.map(\.rawValue)
    if methods.contains(name) {
      return RuleProblem("'\(name)' is a method; call it, as in '\(name)()'", at: offset)
    }
    let known = (type == .string ? ["length"] : []) + methods.map { $0 + "()" }
    return RuleProblem(
      "\(type.rawValue) has no member '\(name)'; it has \(known.joined(separator: ", "))",
      at: offset
    )
  }

  /// Checks a member in brackets, whose name must be constant unless the base is of unknown type;
  /// that may also be an array, whose elements are known by their positions.
  private func index(_ index: Syntax, of base: Syntax, at offset: Int) throws(RuleProblem) -> Typed
  {
    if case .string(let name) = index.kind { return try member(name, of: base, at: index.offset) }
    let typed = try check(base)
    guard typed.type == .any else {
      throw RuleProblem(
        "\(typed.type.rawValue) takes only a constant string in brackets",
        at: index.offset
      )
    }
    if case .number(let position) = index.kind, let position = Int(exactly: position) {
      return try member(String(position), of: base, at: index.offset)
    }
    let name = try expression(index, .string, or: "expected a string or a position in brackets")
    return (.index(typed.expression, name, at: offset), .any)
  }

  private func call(
    _ callee: Syntax,
    arguments: [Syntax],
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    let base: Syntax
    let name: String
    switch callee.kind {
    case .member(let object, let member): (base, name) = (object, member)
    case .index(let object, let index):
      guard case .string(let member) = index.kind else {
        throw RuleProblem("the name of a method must be a constant string", at: index.offset)
      }
      (base, name) = (object, member)
    case .name(let name):
      throw RuleProblem("there is no function '\(name)'; only methods can be called", at: offset)
    case .number, .string, .bool, .null, .regex, .array, .call, .not, .negate, .binary, .all,
      .any, .ternary:
      throw RuleProblem("only methods can be called", at: offset)
    }
    let receiver = try check(base)
    switch receiver.type {
    case .snapshot:
      guard let method = SnapshotMethod(rawValue: name) else {
        throw unknownMember(name, of: .snapshot, at: callee.offset)
      }
      return try snapshotCall(
        method,
        of: receiver.expression,
        arguments: arguments,
        at: callee.offset
      )
    case .string, .primitive, .any:
      guard let method = StringMethod(rawValue: name) else {
        throw unknownMethod(name, at: callee.offset)
      }
      return try stringCall(
        method,
        of: receiver.expression,
        arguments: arguments,
        at: callee.offset
      )
    case .null, .boolean, .number, .query:
      throw RuleProblem(
        "\(receiver.type.rawValue) has no methods, so no '\(name)()'",
        at: callee.offset
      )
    }
  }

  private func unknownMethod(_ name: String, at offset: Int) -> RuleProblem {
    if name == "length" { return RuleProblem("'length' is not a method; omit '()'", at: offset) }
    if SnapshotMethod(rawValue: name) != nil {
      return RuleProblem("'\(name)()' is a method of snapshots, not of values", at: offset)
    }
    return unknownMember(name, of: .string, at: offset)
  }

  private func requireCount(
    _ count: Int,
    of arguments: [Syntax],
    method name: String,
    at offset: Int
  ) throws(RuleProblem) {
    guard arguments.count == count else {
      let expected = count == 0 ? "no argument" : count == 1 ? "one argument" : "two arguments"
      throw RuleProblem("\(name)() takes \(expected), not \(arguments.count)", at: offset)
    }
  }

  private func strings(_ syntax: [Syntax], for name: String) throws(RuleProblem) -> [Expression] {
    try syntax.map { (element) throws(RuleProblem) in
      try expression(element, .string, or: "\(name)() needs a string")
    }
  }

  private func snapshotCall(
    _ method: SnapshotMethod,
    of receiver: Expression,
    arguments: [Syntax],
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    let name = method.rawValue
    var checked: [Expression] = []
    switch method {
    case .child, .hasChild:
      try requireCount(1, of: arguments, method: name, at: offset)
      checked = try strings(arguments, for: name)
    case .hasChildren:
      if let first = arguments.first {
        try requireCount(1, of: arguments, method: name, at: offset)
        guard case .array(let names) = first.kind, !names.isEmpty else {
          throw RuleProblem(
            "hasChildren() takes no argument, or an array of at least one string",
            at: first.offset
          )
        }
        checked = try strings(names, for: name)
      }
    case .val, .parent, .exists, .getPriority, .isNumber, .isString, .isBoolean:
      try requireCount(0, of: arguments, method: name, at: offset)
    }
    return (
      .snapshotCall(method, receiver, checked.map { PathArgument($0) }, at: offset), method.type
    )
  }

  private func stringCall(
    _ method: StringMethod,
    of receiver: Expression,
    arguments: [Syntax],
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    try requireCount(
      method.argumentCount,
      of: arguments,
      method: method.rawValue,
      at: offset
    )
    if method == .matches {
      guard let first = arguments.first, case .regex(let program) = first.kind else {
        throw RuleProblem(
          "matches() takes a regular expression between slashes, as in matches(/^a+$/)",
          at: arguments.first?.offset ?? offset
        )
      }
      return (.matches(receiver, program, at: offset), .boolean)
    }
    let checked = try strings(arguments, for: method.rawValue)
    return (.stringCall(method, receiver, checked, at: offset), method.type)
  }
}
