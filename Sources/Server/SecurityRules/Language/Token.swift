/// A word of an expression, with the place where it starts.
struct Token {
  enum Kind: Equatable {
    case number(Double)
    case string(String)
    case name(String)
    case symbol(Symbol)
    case end
  }

  /// The marks of the language, in the way they are written.
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

  /// What this is, for messages.
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
