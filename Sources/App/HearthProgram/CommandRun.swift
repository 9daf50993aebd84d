package import ArgumentParser
import Foundation

/// Runs the command line of a program and turns each way out into an exit status.
package enum CommandRun {
  /// Parses the command line, runs the command and, unless that succeeds, ends the process.
  package static func main<Root: AsyncParsableCommand>(_ root: Root.Type) async {
    signal(SIGPIPE, SIG_IGN)
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      let moved = try LeadingOptions.moved(DashedWord.protect(words), of: root)
      var command = try root.parseAsRoot(moved)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let code as ExitCode {
      Foundation.exit(code.rawValue)
    } catch {
      let status = root.exitCode(for: error)
      if status == .validationFailure || status == .success {
        let isHelp = status == .success
        Output.help(root.fullMessage(for: error), echoing: words, toStandardError: !isHelp)
        Foundation.exit(isHelp ? ExitStatus.ok.rawValue : ExitStatus.usage.rawValue)
      }
      let failure = CommandFailure(error)
      Output.message(failure.description)
      Foundation.exit(failure.status.rawValue)
    }
  }
}
