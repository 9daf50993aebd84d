extension Checker {
  /// A member that is not called.
  func member(_ name: String, of base: Syntax, at offset: Int) throws(RuleProblem) -> Typed {
    let typed = try check(base)
    switch typed.type {
    case .query:
      guard let member = QueryMember(rawValue: name) else {
        let known = QueryMember.allCases.map(\.rawValue).joined(separator: ", ")
        throw RuleProblem("the query has no member '\(name)'; it has \(known)", at: offset)
      }
      return Typed(expression: .query(member), type: member.type)
    case .any:
      return Typed(expression: .member(typed.expression, name, at: offset), type: .any)
    case .string, .primitive:
      // Of what the data hold only strings have members.
      guard name == "length" else { throw unknownMember(name, of: .string, at: offset) }
      return Typed(expression: .member(typed.expression, name, at: offset), type: .number)
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

  /// A member named in brackets: any name for a value of unknown type, constant ones elsewhere.
  func index(_ index: Syntax, of base: Syntax, at offset: Int) throws(RuleProblem) -> Typed {
    if case .string(let name) = index.kind { return try member(name, of: base, at: index.offset) }
    let typed = try check(base)
    guard typed.type == .any else {
      throw RuleProblem(
        "only a constant string may stand in brackets after \(typed.type.rawValue)",
        at: index.offset
      )
    }
    let name = try check(index)
    guard name.type.mayBe(.string) else {
      throw RuleProblem(
        "expected a string in brackets, but this is \(name.type.rawValue)",
        at: index.offset
      )
    }
    return Typed(expression: .index(typed.expression, name.expression, at: offset), type: .any)
  }

  /// A method call.
  func call(_ callee: Syntax, _ arguments: [Syntax], at offset: Int) throws(RuleProblem) -> Typed {
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
      return try snapshotCall(method, receiver.expression, arguments, at: callee.offset)
    case .string, .primitive, .any:
      guard let method = StringMethod(rawValue: name) else {
        throw unknownMethod(name, of: receiver.type, at: callee.offset)
      }
      return try stringCall(method, receiver.expression, arguments, at: callee.offset)
    case .null, .boolean, .number, .query:
      throw RuleProblem(
        "\(receiver.type.rawValue) has no methods, so no '\(name)()'",
        at: callee.offset
      )
    }
  }

  private func unknownMethod(_ name: String, of type: RuleType, at offset: Int) -> RuleProblem {
    if name == "length" { return RuleProblem("'length' is not a method; omit '()'", at: offset) }
    if SnapshotMethod(rawValue: name) != nil {
      return RuleProblem("'\(name)()' is a method of snapshots, not of values", at: offset)
    }
    return unknownMember(name, of: .string, at: offset)
  }

  private func requireCount(
    _ count: Int,
    _ arguments: [Syntax],
    _ name: String,
    at offset: Int
  ) throws(RuleProblem) {
    guard arguments.count == count else {
      let expected = count == 0 ? "no argument" : count == 1 ? "one argument" : "two arguments"
      throw RuleProblem("\(name)() takes \(expected), not \(arguments.count)", at: offset)
    }
  }

  private func string(_ syntax: Syntax, _ name: String) throws(RuleProblem) -> Expression {
    let typed = try check(syntax)
    guard typed.type.mayBe(.string) else {
      throw RuleProblem(
        "\(name)() needs a string, but this is \(typed.type.rawValue)",
        at: syntax.offset
      )
    }
    return typed.expression
  }

  private func strings(_ syntax: [Syntax], _ name: String) throws(RuleProblem) -> [Expression] {
    var expressions: [Expression] = []
    for element in syntax { expressions.append(try string(element, name)) }
    return expressions
  }

  private func snapshotCall(
    _ method: SnapshotMethod,
    _ receiver: Expression,
    _ arguments: [Syntax],
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    let name = method.rawValue
    var checked: [Expression] = []
    switch method {
    case .child, .hasChild:
      try requireCount(1, arguments, name, at: offset)
      checked = try strings(arguments, name)
    case .hasChildren:
      if let first = arguments.first {
        try requireCount(1, arguments, name, at: offset)
        guard case .array(let names) = first.kind, !names.isEmpty else {
          throw RuleProblem(
            "hasChildren() takes nothing, or an array of at least one string",
            at: first.offset
          )
        }
        checked = try strings(names, name)
      }
    case .val, .parent, .exists, .getPriority, .isNumber, .isString, .isBoolean:
      try requireCount(0, arguments, name, at: offset)
    }
    return Typed(
      expression: .snapshotCall(method, receiver, checked.map { PathArgument($0) }, at: offset),
      type: method.type
    )
  }

  private func stringCall(
    _ method: StringMethod,
    _ receiver: Expression,
    _ arguments: [Syntax],
    at offset: Int
  ) throws(RuleProblem) -> Typed {
    try requireCount(method.argumentCount, arguments, method.rawValue, at: offset)
    if method == .matches {
      guard let first = arguments.first, case .regex(let program) = first.kind else {
        throw RuleProblem(
          "matches() takes a regular expression between slashes, as in matches(/^a+$/)",
          at: arguments.first?.offset ?? offset
        )
      }
      return Typed(expression: .matches(receiver, program, at: offset), type: .boolean)
    }
    let checked = try strings(arguments, method.rawValue)
    return Typed(
      expression: .stringCall(method, receiver, checked, at: offset),
      type: method.type
    )
  }
}
