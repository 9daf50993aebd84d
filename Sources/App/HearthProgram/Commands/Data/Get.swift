import ArgumentParser
import BlogModel
import RealtimeDatabase

/// Prints the data at a path.
struct Get: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the data at a path as JSON."
  )

  @Argument(help: "The path, such as /posts.", transform: DashedWord.restore)
  var path: String

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let path = try DatabasePath.parse(path)
    let session = try BlogSession(options)
    let snapshot = try await session.database.reference(withPath: path).getData()
    Output.line(snapshot.jsonValue)
  }
}
