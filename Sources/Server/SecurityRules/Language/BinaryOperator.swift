/// An operator between two values, except the two logical ones, which decide what is evaluated.
enum BinaryOperator: String, Sendable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case atMost = "<="
  case greater = ">"
  case atLeast = ">="
}
