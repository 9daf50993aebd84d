/// A syntax tree, before names are resolved and types are checked.
struct Syntax {
  indirect enum Kind {
    case number(Double)
    case string(String)
    case bool(Bool)
    case null
    case regex(RegexProgram)
    case array([Syntax])
    case name(String)
    case member(Syntax, String)
    case index(Syntax, Syntax)
    case call(Syntax, [Syntax])
    case not(Syntax)
    case negate(Syntax)
    case binary(BinaryOperator, Syntax, Syntax)
    case all([Syntax])
    case any([Syntax])
    case ternary(Syntax, Syntax, Syntax)
  }

  let kind: Kind
  /// The offset in the document at which the syntax starts; for an operation, that of the operator.
  let offset: Int
  /// The height of the tree.
  let depth: Int
}

/// Parses an expression into a syntax tree, by operator precedence.
struct Parser {
  private var lexer: Lexer
  private var current: Token
  private var nesting = 0

  private init(_ text: DocumentText) throws(RuleProblem) {
    lexer = Lexer(text)
    current = try lexer.next()
  }

  /// Parses a whole string of a document as one expression.
  static func parse(_ text: DocumentText) throws(RuleProblem) -> Syntax {
    guard text.scalars.count <= RulesLimits.expressionLength else {
      throw RuleProblem(
        "an expression cannot be longer than \(RulesLimits.expressionLength) characters;"
          + " this one has \(text.scalars.count)",
        at: text.start
      )
    }
    var parser = try Parser(text)
    let syntax = try parser.expression()
    guard parser.current.kind == .end else {
      throw parser.unexpected("an operator or the end of the expression")
    }
    return syntax
  }

  private func unexpected(_ expected: String) -> RuleProblem {
    if case .name(let name) = current.kind, ["var", "typeof", "function"].contains(name) {
      return problem("'\(name)' is not part of the rules language")
    }
    return problem("expected \(expected), found \(current.description)")
  }

  private func problem(_ message: String) -> RuleProblem {
    lexer.problem(message, at: current.start)
  }

  private var offset: Int { lexer.text.offset(of: current.start) }

  private mutating func advance() throws(RuleProblem) {
    current = try lexer.next()
  }

  private func isAt(_ symbol: Token.Symbol) -> Bool { current.kind == .symbol(symbol) }

  private mutating func expect(_ symbol: Token.Symbol, as expected: String) throws(RuleProblem) {
    guard isAt(symbol) else { throw unexpected(expected) }
    try advance()
  }

  private func make(
    _ kind: Syntax.Kind,
    at offset: Int,
    of parts: [Syntax] = []
  ) throws(RuleProblem) -> Syntax {
    let depth = (parts.map(\.depth).max() ?? 0) + 1
    guard depth <= RulesLimits.expressionDepth else { throw tooDeep(at: offset) }
    return Syntax(kind: kind, offset: offset, depth: depth)
  }

  private func tooDeep(at offset: Int) -> RuleProblem {
    RuleProblem(
      "an expression cannot be nested deeper than \(RulesLimits.expressionDepth) levels",
      at: offset
    )
  }

  private mutating func expression() throws(RuleProblem) -> Syntax {
    nesting += 1
    defer { nesting -= 1 }
    guard nesting <= RulesLimits.expressionDepth else { throw tooDeep(at: offset) }
    let condition = try series(.or)
    guard isAt(.question) else { return condition }
    let offset = offset
    try advance()
    let first = try expression()
    try expect(.colon, as: "':' of the conditional '?:'")
    let second = try expression()
    return try make(
      .ternary(condition, first, second),
      at: offset,
      of: [condition, first, second]
    )
  }

  /// Parses the operands of `||`, which may be series of `&&`, or those of `&&`.
  private mutating func series(_ symbol: Token.Symbol) throws(RuleProblem) -> Syntax {
    let first = try symbol == .or ? series(.and) : operation(0)
    guard isAt(symbol) else { return first }
    let offset = offset
    var operands = [first]
    while isAt(symbol) {
      try advance()
      operands.append(try symbol == .or ? series(.and) : operation(0))
    }
    return try make(symbol == .or ? .any(operands) : .all(operands), at: offset, of: operands)
  }

  /// The binary operator at the current token with its precedence, or nil.
  private var binaryOperator: (operation: BinaryOperator, precedence: Int)? {
    guard case .symbol(let symbol) = current.kind else { return nil }
    return switch symbol {
    case .equal, .identical: (.equal, 1)
    case .notEqual, .notIdentical: (.notEqual, 1)
    case .less: (.less, 2)
    case .atMost: (.atMost, 2)
    case .greater: (.greater, 2)
    case .atLeast: (.atLeast, 2)
    case .plus: (.add, 3)
    case .minus: (.subtract, 3)
    case .times: (.multiply, 4)
    case .slash: (.divide, 4)
    case .percent: (.remainder, 4)
    case .and, .or, .openParenthesis, .closeParenthesis, .openBracket, .closeBracket, .comma, .dot,
      .question, .colon, .not:
      nil
    }
  }

  /// Parses left-associative operators with a higher precedence than the given one.
  private mutating func operation(_ minimum: Int) throws(RuleProblem) -> Syntax {
    var left = try unary()
    while let (operation, precedence) = binaryOperator, precedence > minimum {
      let offset = offset
      try advance()
      let right = try self.operation(precedence)
      left = try make(.binary(operation, left, right), at: offset, of: [left, right])
    }
    return left
  }

  private mutating func unary() throws(RuleProblem) -> Syntax {
    guard isAt(.not) || isAt(.minus) else { return try postfix() }
    nesting += 1
    defer { nesting -= 1 }
    guard nesting <= RulesLimits.expressionDepth else { throw tooDeep(at: offset) }
    let isNot = isAt(.not)
    let offset = offset
    try advance()
    let operand = try unary()
    return try make(isNot ? .not(operand) : .negate(operand), at: offset, of: [operand])
  }

  private mutating func postfix() throws(RuleProblem) -> Syntax {
    var base = try primary()
    while true {
      let offset = offset
      if isAt(.dot) {
        try advance()
        guard case .name(let name) = current.kind else {
          throw unexpected("the name of a member after '.'")
        }
        let nameOffset = self.offset
        try advance()
        base = try make(.member(base, name), at: nameOffset, of: [base])
      } else if isAt(.openBracket) {
        try advance()
        let index = try expression()
        try expect(.closeBracket, as: "']'")
        base = try make(.index(base, index), at: offset, of: [base, index])
      } else if isAt(.openParenthesis) {
        try advance()
        let arguments = try list(closing: .closeParenthesis)
        base = try make(.call(base, arguments), at: base.offset, of: [base] + arguments)
      } else {
        return base
      }
    }
  }

  private mutating func list(closing: Token.Symbol) throws(RuleProblem) -> [Syntax] {
    var elements: [Syntax] = []
    while !isAt(closing) {
      if !elements.isEmpty { try expect(.comma, as: "',' or '\(closing.rawValue)'") }
      elements.append(try expression())
    }
    try advance()
    return elements
  }

  private mutating func primary() throws(RuleProblem) -> Syntax {
    let token = current
    let offset = offset
    switch token.kind {
    case .number(let value):
      try advance()
      return try make(.number(value), at: offset)
    case .string(let value):
      try advance()
      return try make(.string(value), at: offset)
    case .name(let name):
      if ["var", "typeof", "function"].contains(name) { throw unexpected("an expression") }
      try advance()
      switch name {
      case "true": return try make(.bool(true), at: offset)
      case "false": return try make(.bool(false), at: offset)
      case "null": return try make(.null, at: offset)
      default: return try make(.name(name), at: offset)
      }
    case .symbol(.openParenthesis):
      try advance()
      let inner = try expression()
      try expect(.closeParenthesis, as: "')'")
      return inner
    case .symbol(.openBracket):
      try advance()
      let elements = try list(closing: .closeBracket)
      return try make(.array(elements), at: offset, of: elements)
    case .symbol(.slash):
      let regex = try lexer.regex(from: token.start)
      try advance()
      return try make(.regex(regex), at: offset)
    case .symbol, .end:
      throw unexpected("an expression")
    }
  }
}
