struct Token {
  enum Kind: Equatable {
    case number(Double)
    case string(String)
    case name(String)
    case symbol(Symbol)
    case end
  }

  /// The operators and punctuation of the language; longer ones come before their prefixes.
  enum Symbol: String, CaseIterable {
    case identical = "==="
    case notIdentical = "!=="
    case equal = "=="
    case notEqual = "!="
    case atMost = "<="
    case atLeast = ">="
    case and = "&&"
    case or = "||"
    case openParenthesis = "("
    case closeParenthesis = ")"
    case openBracket = "["
    case closeBracket = "]"
    case comma = ","
    case dot = "."
    case question = "?"
    case colon = ":"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case slash = "/"
    case percent = "%"
    case less = "<"
    case greater = ">"
  }

  let kind: Kind
  /// The index of the first character in the expression.
  let start: Int

  var description: String {
    switch kind {
    case .number: "a number"
    case .string: "a string"
    case .name(let name): "'\(name)'"
    case .symbol(let symbol): "'\(symbol.rawValue)'"
    case .end: "the end of the expression"
    }
  }
}

/// Splits an expression into tokens.
struct Lexer {
  let text: DocumentText
  private var position = 0

  init(_ text: DocumentText) {
    self.text = text
  }

  func problem(_ message: String, at index: Int) -> RuleProblem {
    RuleProblem(message, at: text.offset(of: index))
  }

  private var current: Unicode.Scalar? { scalar(at: position) }

  private func scalar(at index: Int) -> Unicode.Scalar? {
    index < text.scalars.count ? text.scalars[index] : nil
  }

  mutating func next() throws(RuleProblem) -> Token {
    skipBlanks()
    let start = position
    guard let scalar = current else { return Token(kind: .end, start: start) }
    if Self.isDigit(scalar) { return Token(kind: .number(try number()), start: start) }
    if scalar == ".", let following = self.scalar(at: position + 1), Self.isDigit(following) {
      return Token(kind: .number(try number()), start: start)
    }
    if Self.isNamePart(scalar) { return Token(kind: .name(name()), start: start) }
    if scalar == "'" || scalar == "\"" {
      return Token(kind: .string(try string(quote: scalar)), start: start)
    }
    for symbol in Token.Symbol.allCases where matches(symbol.rawValue) {
      position += symbol.rawValue.unicodeScalars.count
      if symbol == .times, current == "*" {
        throw problem("the operator '**' is not part of the rules language", at: start)
      }
      return Token(kind: .symbol(symbol), start: start)
    }
    throw problem(Self.complaint(about: scalar), at: start)
  }

  private mutating func skipBlanks() {
    while let scalar = current {
      if " \t\n\r\u{A0}\u{FEFF}".unicodeScalars.contains(scalar) {
        position += 1
      } else if matches("//") {
        while let scalar = current, scalar != "\n", scalar != "\r" { position += 1 }
      } else if matches("/*"), let end = endOfComment {
        position = end
      } else {
        return
      }
    }
  }

  /// The end of the comment that begins here; nil if it is not closed, as in the pattern `/*a/`.
  private var endOfComment: Int? {
    var index = position + 2
    while let scalar = scalar(at: index) {
      if scalar == "*", self.scalar(at: index + 1) == "/" { return index + 2 }
      index += 1
    }
    return nil
  }

  private static func complaint(about scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "=": "assignment is not part of the rules language; compare with '==' or '==='"
    case ";": "a rule is one expression; ';' is not part of the rules language"
    case "&", "|": "expected '\(scalar)\(scalar)'; '\(scalar)' is not part of the rules language"
    case "{", "}": "objects and blocks are not part of the rules language"
    default: "expected an expression, found \(DocumentText.describe(scalar))"
    }
  }

  private func matches(_ symbol: String) -> Bool {
    var index = position
    for scalar in symbol.unicodeScalars {
      if self.scalar(at: index) != scalar { return false }
      index += 1
    }
    return true
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    default: false
    }
  }

  private mutating func name() -> String {
    var name = ""
    while let scalar = current, Self.isNamePart(scalar) {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    return name
  }

  private mutating func number() throws(RuleProblem) -> Double {
    let start = position
    var digits = ""
    func isSign(_ scalar: Unicode.Scalar) -> Bool {
      (scalar == "+" || scalar == "-") && (digits.last == "e" || digits.last == "E")
    }
    while let scalar = current, Self.isNamePart(scalar) || scalar == "." || isSign(scalar) {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    let isDecimal = digits.unicodeScalars.allSatisfy {
      Self.isDigit($0) || "+-.eE".unicodeScalars.contains($0)
    }
    guard isDecimal, digits.last != ".", let value = Double(digits), value.isFinite else {
      throw problem("'\(digits)' is not a number", at: start)
    }
    return value
  }

  private mutating func string(quote: Unicode.Scalar) throws(RuleProblem) -> String {
    let start = position
    var result = ""
    position += 1
    while let scalar = current, scalar != "\n" {
      position += 1
      if scalar == quote { return result }
      if scalar == "\\" {
        result.unicodeScalars.append(try escape())
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    throw problem("this string is not closed; expected \(DocumentText.describe(quote))", at: start)
  }

  private mutating func escape() throws(RuleProblem) -> Unicode.Scalar {
    let start = position - 1
    guard let scalar = current else {
      throw problem("expected a character after '\\'", at: start)
    }
    position += 1
    switch scalar {
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "v": return "\u{B}"
    case "x": return try hexScalar(digits: 2, from: start)
    case "u": return try hexScalar(digits: 4, from: start)
    default: return scalar
    }
  }

  private mutating func hexScalar(
    digits: Int,
    from start: Int
  ) throws(RuleProblem) -> Unicode.Scalar {
    var value: UInt32 = 0
    for _ in 0..<digits {
      guard let scalar = current, scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
        throw problem("expected \(digits) hexadecimal digits", at: start)
      }
      value = value * 16 + UInt32(digit)
      position += 1
    }
    guard let scalar = Unicode.Scalar(value) else {
      throw problem("this escape is a lone surrogate", at: start)
    }
    return scalar
  }

  /// The regular expression whose opening slash was the last token.
  mutating func regex(from start: Int) throws(RuleProblem) -> RegexProgram {
    position = start + 1
    var isInSet = false
    while let scalar = current, scalar != "\n" {
      if scalar == "/", !isInSet { break }
      if scalar == "[" { isInSet = true }
      if scalar == "]" { isInSet = false }
      position += scalar == "\\" ? 2 : 1
    }
    guard current == "/" else {
      throw problem("this regular expression is not closed; expected '/'", at: start)
    }
    let pattern = start + 1..<position
    position += 1
    let flagStart = position
    let flags = name()
    guard flags.isEmpty || flags == "i" else {
      throw problem("unknown flag '\(flags)'; the only flag is 'i'", at: flagStart)
    }
    do throws(RegexProblem) {
      return try RegexProgram(Array(text.scalars[pattern]), ignoresCase: flags == "i")
    } catch {
      throw problem("regular expression: \(error.message)", at: pattern.lowerBound + error.index)
    }
  }
}
