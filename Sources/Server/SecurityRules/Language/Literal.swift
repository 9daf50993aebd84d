/// A value that a rule spells out.
enum Literal: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
}
