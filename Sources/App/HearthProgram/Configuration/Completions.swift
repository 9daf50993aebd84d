import ArgumentParser

/// Prints the completions of a shell.
struct Completions: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Print what bash, zsh or fish needs to complete the command line."
  )

  @Argument(help: "bash, zsh or fish.")
  var shell: String

  func run() throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw CommandFailure(.usage, "completions exist for bash, zsh and fish")
    }
    Output.text(Hearth.completionScript(for: shell) + "\n")
  }
}
