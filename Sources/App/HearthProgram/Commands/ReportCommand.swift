import ArgumentParser
import BlogTUI
import RealtimeCore

/// Writes a report of a problem to a file.
struct ReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a report of a problem to a file: versions, terminal, settings, doctor.",
    discussion: """
      Passwords, tokens, keys and the credentials in addresses are left out. In the app, :report also \
      writes what the screen shows, what went over the wire, and a recording of the last minutes, \
      which "hearth replay" plays. Only you may read the file; one that exists is never replaced.
      """
  )

  @Option(
    help: ArgumentHelp(
      "Write it to this file instead of a new one in the state directory.",
      valueName: "file"
    ),
    completion: .file()
  )
  var output: String?

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    let reporter = Reporter(paths: try options.paths(), known: [options.apiKey].compactMap(\.self))
    let database = options.database == nil ? nil : await Doctor.database(options)
    let path = try reporter.report(to: output, database: database)
    options.answer(path, json: .object(("file", .string(path))))
  }
}
