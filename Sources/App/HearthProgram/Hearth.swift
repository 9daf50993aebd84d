package import ArgumentParser
import RealtimeDatabase

/// The program `hearth`: all its commands.
package struct Hearth: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
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
    ] + signIn + [Swarm.self],
    defaultSubcommand: Open.self
  )

  private static let signIn: [any ParsableCommand.Type] = [
    SignInCommand.self, SignUpCommand.self, SignOutCommand.self, ResetPasswordCommand.self,
    AccountsCommand.self, ProfileCommand.self,
  ]

  package init() {}

  package static func main() async { await CommandRun.main(Hearth.self) }
}
