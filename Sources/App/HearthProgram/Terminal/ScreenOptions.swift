import ArgumentParser
import BlogTUI

/// The options of the screen; each overrides the environment and the configuration file.
struct ScreenOptions: ParsableArguments {
  @Option(help: "Use another configuration file.".taking("file"), completion: .file())
  var config: String?

  @Option(help: "The colours: --list-themes shows which.".taking("name"), completion: .themes)
  var theme: String?

  @Option(help: "Use colours: auto, always or never.")
  var color: TerminalOptions.ColorMode?

  @Flag(inversion: .prefixedNo, help: "Use the mouse, or leave it to the terminal.")
  var mouse: Bool?

  @Flag(help: "Draw with ASCII characters only.")
  var ascii = false

  @Flag(help: "Print lines instead of screens, and read commands; for screen readers.")
  var plain = false

  @Option(
    help: "Run a script, on a blog of its own with a clock that stands still.".taking("file"),
    completion: .file()
  )
  var script: String?

  @Flag(help: "Show the script on this terminal while it runs; q ends it.")
  var show = false

  @Option(help: "How to print the result of a script: text, tap or junit.".taking("format"))
  var results = ScriptResult.Format.text

  @Option(help: "The pause before each key of a shown script; 0 for none.".taking("ms"))
  var pace: Int64 = 60

  @Option(
    help: "Record everything this terminal sees, for hearth replay; no passwords, no tokens."
      .taking("file"),
    completion: .file()
  )
  var record: String?

  @Option(help: "The maximum size of a recording, in megabytes.".taking("n"))
  var recordLimit = 64

  @Flag(help: "Print the names of all themes.")
  var listThemes = false

  @Flag(help: "Print the settings in effect, and where each comes from.")
  var printConfig = false

  @Flag(help: "Print details for a bug report; none of them is secret.")
  var debugInfo = false

  func validate() throws {
    guard results == .text || script != nil else {
      throw ValidationError("--results is for --script FILE")
    }
    guard !show || script != nil else { throw ValidationError("--show is for --script FILE") }
    guard (0...60_000).contains(pace) else {
      throw ValidationError("--pace is a number of milliseconds from 0 to 60000")
    }
  }

  /// Starts the recording, if one was requested.
  @MainActor
  func recording() throws(CommandFailure) -> RecordingFile? {
    guard (1...100_000).contains(recordLimit) else {
      throw CommandFailure(.usage, "--record-limit is a number of megabytes from 1 to 100000")
    }
    guard let record else { return nil }
    return try RecordingFile(record, limit: recordLimit * 1_000_000)
  }

  /// The configuration files, with these options applied.
  var files: ConfigurationFiles {
    var options: [(setting: Setting, value: String, option: String)] = []
    if let theme { options.append((.theme, theme, "--theme")) }
    if let color { options.append((.color, color.rawValue, "--color")) }
    if let mouse { options.append((.mouse, "\(mouse)", mouse ? "--mouse" : "--no-mouse")) }
    if ascii { options.append((.ascii, "true", "--ascii")) }
    return ConfigurationFiles(path: config, options: options)
  }
}

extension TerminalOptions.ColorMode: ExpressibleByArgument {}
extension ScriptResult.Format: ExpressibleByArgument {}
