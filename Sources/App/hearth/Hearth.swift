import ArgumentParser
import Foundation
import RealtimeDatabase

/// The program: its commands, and how each way out becomes an exit status.
@main
struct Hearth: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth",
    abstract: "A social blog in the terminal, live across many terminals.",
    discussion: """
      Without a command, hearth opens the blog on the screen. The first terminal starts a local \
      server, later ones join it.

      Exit status: 0 done, 1 failed, 2 unusable arguments, input or terminal, 3 not found, \
      4 not allowed, 5 offline or timed out, 6 conflict, 70 internal error.
      """,
    version: SDKVersion.current,
    subcommands: [
      Open.self, List.self, Show.self, WritePost.self, WriteComment.self, Star.self, Unstar.self,
      Delete.self, Watch.self, Get.self, SetValue.self, Import.self, Export.self, Backup.self,
      Fsck.self, Serve.self, Stop.self, Databases.self, Info.self, Doctor.self, Rules.self,
      Users.self, ReplayCommand.self, Demo.self, Manual.self, Completions.self,
    ] + signIn + swarm,
    defaultSubcommand: Open.self
  )

  private static let signIn: [any ParsableCommand.Type] = [
    SignInCommand.self, SignUpCommand.self, SignOutCommand.self, ResetPasswordCommand.self,
    AccountsCommand.self, ProfileCommand.self,
  ]

  private static let swarm: [any ParsableCommand.Type] = [Swarm.self, SwarmClient.self]

  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      var command = try parseAsRoot(try LeadingOptions.moved(DashedWord.protect(words)))
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let error where exitCode(for: error) == .validationFailure || isHelp(error) {
      let isHelp = isHelp(error)
      Output.help(fullMessage(for: error), echoing: words, toStandardError: !isHelp)
      Foundation.exit(isHelp ? ExitStatus.ok.rawValue : ExitStatus.usage.rawValue)
    } catch let code as ExitCode {
      Foundation.exit(code.rawValue)
    } catch {
      let failure = CommandFailure(error)
      Output.message(failure.description)
      Foundation.exit(failure.status.rawValue)
    }
  }

  private static func isHelp(_ error: any Error) -> Bool {
    exitCode(for: error) == .success
  }
}
