import ArgumentParser
import BlogModel
import RealtimeDatabase

/// Replaces the data at a path.
struct SetValue: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Replace the data at a path with JSON; null removes it."
  )

  @Argument(help: "The path, such as /notes/today.", transform: DashedWord.restore)
  var path: String

  @Argument(
    help: "The data as JSON; - reads it from stdin.",
    transform: DashedWord.restore
  )
  var value: String

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let path = try DatabasePath.parse(path)
    let bytes = value == "-" ? try InputFile.bytes("-") : Array(value.utf8)
    let json = try DatabasePath.json(bytes, from: "the value")
    let session = try BlogSession(options)
    try await session.database.reference(withPath: path).setValue(json: json)
  }
}
