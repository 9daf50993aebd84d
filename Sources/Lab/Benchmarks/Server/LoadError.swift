/// A server did not do what a benchmark needs of it.
struct LoadError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
