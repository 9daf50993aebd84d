/// A program that is needed and is not there; what needs it is left out.
struct MissingTool: Error, CustomStringConvertible {
  let description: String
}
