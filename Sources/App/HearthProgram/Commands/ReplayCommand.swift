import ArgumentParser
import BlogTUI
import Foundation

struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Step through a recording that hearth --record has made, forward and back.",
    discussion: """
      ] and [ go one event on and back, } and { a minute, Home and End to the ends; Space plays and f \
      changes the speed. p, s, c, k, o, w and x go on to the next post, star, comment, key, change of \
      the connection, of who is here, or refusal, and their capitals back. q leaves.
      """
  )

  @Argument("The recording, or - for stdin with --golden, --cast or --script.", completion: .file())
  var file: String

  @Flag(help: "Print all its screens as text, each once.")
  var golden = false

  @Option(help: "Write it as an asciicast (version 2) to this file.".taking("out.cast"))
  var cast: String?

  @Flag(help: "Print a script that does the same again; hearth --script plays it.")
  var script = false

  @Option(help: "The longest pause of an asciicast, 0 for none.".taking("seconds"))
  var idle = 2.0

  @MainActor
  func run() async throws {
    guard idle >= 0, idle <= 86_400 else {
      throw CommandFailure(.usage, "--idle is a number of seconds from 0 to 86400")
    }
    // --record-limit may have allowed any length.
    let bytes = try InputFile.bytes(file, atMost: .max)
    let recording: Recording
    do throws(RecordingError) {
      recording = try Recording(bytes)
    } catch {
      throw CommandFailure(.usage, "\(file): \(error)")
    }
    if let cast { return try write(recording, to: cast) }
    if script {
      for line in RecordedScript(recording).lines {
        Output.line(SafeText(untrusted: line, mode: .singleLine).string)
      }
      return
    }
    if golden { return ReplayGolden.write(recording) { Output.text($0) } }
    try play(recording)
  }

  private func write(_ recording: Recording, to path: String) throws(CommandFailure) {
    let output = try OutputFile(path)
    try Cast.write(recording, idleLimit: Int64(idle * 1_000)) { (line) throws(CommandFailure) in
      try output.write(line)
    }
    try output.finish()
  }

  @MainActor
  private func play(_ recording: Recording) throws {
    let settings = ConfigurationFiles(path: nil).read().settings
    let terminal = try NcursesTerminal.opened(TerminalOptions(settings))
    let ending = ReplayProgram(terminal: terminal, recording: recording).run()
    terminal.close()
    try ending.finish()
  }
}
