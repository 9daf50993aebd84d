/// An expression as it was written, before names and types are known.
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
  /// Where it starts in the document; of an operation, where the operator stands.
  let offset: Int
  /// How deep it is nested.
  let depth: Int
}
