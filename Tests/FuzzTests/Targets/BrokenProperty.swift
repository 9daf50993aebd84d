/// A property that should hold for every input does not hold for one.
struct BrokenProperty: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Requires a property that must hold for every input.
func demand(
  _ condition: Bool,
  _ description: @autoclosure () -> String
) throws(BrokenProperty) {
  guard condition else { throw BrokenProperty(description()) }
}
