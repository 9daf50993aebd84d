/// Where a conversation took another course than its transcript.
struct SceneFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
