/// A conversation deviated from its transcript.
struct SceneFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
