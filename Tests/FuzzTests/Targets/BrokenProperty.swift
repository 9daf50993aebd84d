/// What should hold of every input and does not hold of one.
struct BrokenProperty: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Demands something that must hold of every input.
func demand(
  _ condition: Bool,
  _ description: @autoclosure () -> String
) throws(BrokenProperty) {
  guard condition else { throw BrokenProperty(description()) }
}
