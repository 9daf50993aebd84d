/// The syntax tree of a regular expression.
indirect enum RegexSyntax {
  case set(ScalarSet)
  case start
  case end
  case sequence([RegexSyntax])
  case choice([RegexSyntax])
  /// A repetition; if `most` is nil, it has no upper bound.
  case repetition(RegexSyntax, least: Int, most: Int?)
}

/// A mistake in a regular expression, at an offset in characters from the start of the pattern.
struct RegexProblem: Error {
  let message: String
  let index: Int
}

/// Parses the subset of regular expressions that rules may use.
struct RegexParser {
  private let pattern: [Unicode.Scalar]
  private var position = 0
  private var depth = 0

  static func parse(_ pattern: [Unicode.Scalar]) throws(RegexProblem) -> RegexSyntax {
    var parser = RegexParser(pattern: pattern)
    let syntax = try parser.choice()
    guard parser.current == nil else { throw parser.problem("this ')' has no matching '('") }
    return syntax
  }

  private var current: Unicode.Scalar? { position < pattern.count ? pattern[position] : nil }

  private var next: Unicode.Scalar? {
    position + 1 < pattern.count ? pattern[position + 1] : nil
  }

  private func problem(_ message: String) -> RegexProblem {
    RegexProblem(message: message, index: position)
  }

  private mutating func choice() throws(RegexProblem) -> RegexSyntax {
    var branches = [try sequence(isFirst: true)]
    while current == "|" {
      position += 1
      branches.append(try sequence(isFirst: false))
    }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  /// Parses one branch; at the start of the pattern or of a group, a quantifier is literal.
  private mutating func sequence(isFirst: Bool) throws(RegexProblem) -> RegexSyntax {
    var items: [RegexSyntax] = []
    while let scalar = current, scalar != "|", scalar != ")" {
      if isFirst, items.isEmpty, "*+?{".unicodeScalars.contains(scalar) {
        position += 1
        items.append(try repeated(.set(ScalarSet(scalar))))
      } else {
        items.append(try item(scalar))
      }
    }
    guard !items.isEmpty else { throw problem("a group or alternative cannot be empty") }
    return items.count == 1 ? items[0] : .sequence(items)
  }

  private mutating func item(_ scalar: Unicode.Scalar) throws(RegexProblem) -> RegexSyntax {
    switch scalar {
    case "^":
      guard position == 0 else {
        throw problem("'^' is allowed only at the start of the pattern")
      }
      position += 1
      if let scalar = current, "*+?{".unicodeScalars.contains(scalar) {
        throw problem("'\(scalar)' cannot repeat the start of the text")
      }
      return .start
    case "$":
      guard position == pattern.count - 1 else {
        throw problem("'$' is allowed only at the end of the pattern")
      }
      position += 1
      return .end
    case "*", "+", "?", "{":
      throw problem("'\(scalar)' repeats nothing; write '\\\(scalar)' for the character")
    case "(": return try repeated(try group())
    case "[": return try repeated(.set(try set()))
    case ".":
      position += 1
      return try repeated(.set(.allButLineBreaks))
    case "\\": return try repeated(.set(try escape()))
    default:
      position += 1
      return try repeated(.set(ScalarSet(scalar)))
    }
  }

  private mutating func group() throws(RegexProblem) -> RegexSyntax {
    let start = position
    position += 1
    depth += 1
    defer { depth -= 1 }
    guard depth <= RulesLimits.regexDepth else {
      throw problem("groups cannot be nested deeper than \(RulesLimits.regexDepth) levels")
    }
    if current == "?" {
      throw problem("'(?' groups (look-around, names, no capture) are not supported")
    }
    let inner = try choice()
    guard current == ")" else {
      throw RegexProblem(message: "this group is not closed; expected ')'", index: start)
    }
    position += 1
    return inner
  }

  /// Parses the quantifier after an item, if there is one.
  private mutating func repeated(_ item: RegexSyntax) throws(RegexProblem) -> RegexSyntax {
    let least: Int
    let most: Int?
    switch current {
    case "*": (least, most) = (0, nil)
    case "+": (least, most) = (1, nil)
    case "?": (least, most) = (0, 1)
    case "{":
      (least, most) = try bounds()
    default: return item
    }
    position += 1
    if let scalar = current, "*+?{".unicodeScalars.contains(scalar) {
      throw problem("lazy, possessive and doubled repetitions are not supported")
    }
    return .repetition(item, least: least, most: most)
  }

  /// Parses `{n}`, `{n,}` or `{n,m}` up to the closing brace.
  private mutating func bounds() throws(RegexProblem) -> (Int, Int?) {
    let start = position
    position += 1
    let least = number()
    var most = least
    if current == "," {
      position += 1
      most = number()
    }
    guard let least, current == "}" else {
      position = start
      throw problem("expected a repetition such as {2}, {2,} or {2,5}; write '\\{' for a brace")
    }
    if let most, most < least {
      position = start
      throw problem("the repetition {\(least),\(most)} ends below its start")
    }
    return (least, most)
  }

  private mutating func number() -> Int? {
    var value: Int?
    while let scalar = current, ("0"..."9").contains(scalar) {
      // Anything above the limit of states is rejected later, so the exact number does not matter.
      value = min((value ?? 0) * 10 + Int(scalar.value - 0x30), 1_000_000)
      position += 1
    }
    return value
  }

  private mutating func escape() throws(RegexProblem) -> ScalarSet {
    guard let scalar = next else { throw problem("expected a character after '\\'") }
    if let named = Self.named(scalar) {
      position += 2
      return named
    }
    return ScalarSet(try literalEscape())
  }

  private static func named(_ scalar: Unicode.Scalar) -> ScalarSet? {
    switch scalar {
    case "d": .digits
    case "D": ScalarSet.digits.negated()
    case "w": .wordCharacters
    case "W": ScalarSet.wordCharacters.negated()
    case "s": .whiteSpace
    case "S": ScalarSet.whiteSpace.negated()
    default: nil
    }
  }

  private mutating func literalEscape() throws(RegexProblem) -> Unicode.Scalar {
    guard let scalar = next else { throw problem("expected a character after '\\'") }
    switch scalar {
    case "b", "B": throw problem("word boundaries ('\\\(scalar)') are not supported")
    case "0"..."9": throw problem("back-references ('\\\(scalar)') are not supported")
    case "p", "P", "k", "u", "x", "c": throw problem("the escape '\\\(scalar)' is not supported")
    case "n", "r", "t", "f", "v":
      throw problem(
        "'\\\(scalar)' does not mean a control character here;"
          + " write it as an escape of the JSON string, with one backslash"
      )
    default: break
    }
    position += 2
    return scalar
  }

  private mutating func set() throws(RegexProblem) -> ScalarSet {
    let start = position
    var set = ScalarSet()
    position += 1
    let isNegated = current == "^"
    if isNegated { position += 1 }
    if current == "]" { throw problem("a set cannot be empty") }
    while let scalar = current, scalar != "]" {
      if scalar == "\\", let following = next, let named = Self.named(following) {
        position += 2
        set.insert(named)
        continue
      }
      let first = position
      let low = try setMember()
      guard current == "-", let following = next, following != "]" else {
        set.insert(low.value...low.value)
        continue
      }
      position += 1
      if current == "\\", let following = next, Self.named(following) != nil {
        throw problem("a class cannot end a range; write '\\-' for the character")
      }
      let high = try setMember()
      guard low <= high else {
        throw RegexProblem(message: "the range '\(low)-\(high)' ends below its start", index: first)
      }
      set.insert(low.value...high.value)
    }
    guard current == "]" else {
      throw RegexProblem(message: "this set is not closed; expected ']'", index: start)
    }
    position += 1
    set.normalize()
    return isNegated ? set.negated() : set
  }

  private mutating func setMember() throws(RegexProblem) -> Unicode.Scalar {
    guard let scalar = current else { throw problem("this set is not closed; expected ']'") }
    if scalar == "\\" { return try literalEscape() }
    position += 1
    return scalar
  }
}
