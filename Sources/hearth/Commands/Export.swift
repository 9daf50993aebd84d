import ArgumentParser
import BlogModel
import RealtimeDatabase

/// Prints the whole database.
struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the whole database as JSON, with priorities."
  )

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    defer { session.close() }
    let snapshot = try await session.database.reference().getData()
    options.json
      ? Output.line(snapshot.exportedJSON)
      : Output.line(Output.escaped(PrettyJSON.text(snapshot.exportedJSON)))
  }
}
