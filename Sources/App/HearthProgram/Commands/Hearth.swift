package import ArgumentParser
import BlogTUI
import Dispatch
import DurableFiles
import Foundation
import RealtimeDatabase

package struct Hearth: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "hearth",
    abstract: "A social blog in the terminal, live across many terminals.",
    usage: "hearth [<options>]\nhearth <command> [<options>] [<arguments>]",
    discussion: """
      Without a command, hearth opens the blog on the screen. The first terminal starts a local \
      server, later ones join it.

      \(commonOptions)

      Exit status: 0 done, 1 failed, 2 unusable arguments, input or terminal, 3 not found, \
      4 not allowed, 5 offline or timed out, 6 conflict, 7 done but the result not printed, \
      70 internal error.
      """,
    version: SDKVersion.current,
    groupedSubcommands: [
      CommandGroup(
        name: "The blog:",
        subcommands: [
          Open.self, List.self, SearchPosts.self, Show.self, WritePost.self, WriteComment.self,
          Edit.self, Star.self, Unstar.self, Delete.self, DeedCommand<Bookmark>.self,
          DeedCommand<Unbookmark>.self, DeedCommand<Follow>.self, DeedCommand<Unfollow>.self,
          DeedCommand<Mute>.self, DeedCommand<Unmute>.self, DeedCommand<Block>.self,
          DeedCommand<Unblock>.self,
          Notices.self, Read.self, Unread.self, DraftsCommand.self, People.self,
        ]
      ),
      CommandGroup(
        name: "Databases elsewhere:",
        subcommands: [
          ProfileCommand.self, SignInCommand.self, SignUpCommand.self, SignOutCommand.self,
          ResetPasswordCommand.self, AccountsCommand.self, NameCommand.self,
        ]
      ),
      CommandGroup(
        name: "Data:",
        subcommands: [
          Get.self, SetValue.self, Watch.self, Import.self, Export.self, Backup.self, Restore.self,
          Fsck.self, Migrate.self,
        ]
      ),
      CommandGroup(
        name: "Servers:",
        subcommands: [Serve.self, Stop.self, Cluster.self, Databases.self, Users.self, Rules.self]
      ),
      CommandGroup(
        name: "Help and trials:",
        subcommands: [
          Info.self, Doctor.self, ReportCommand.self, LabCommand<TutorOptions>.self,
          LabCommand<DemoOptions>.self, LabCommand<SwarmOptions>.self, ReplayCommand.self,
          Manual.self, Completions.self,
        ]
      ),
    ],
    defaultSubcommand: Open.self
  )

  /// The most common options; the help lists no options of the default command on its own.
  private static let commonOptions = """
    --user NAME       be someone other than the user of this system
    --profile NAME    open a database elsewhere, by the name of its profile
    --database URL    open a database elsewhere, by its address
    --data-dir DIR    keep the local database in another directory
    --ephemeral       keep nothing when the last terminal leaves
    --theme NAME      the colours; --list-themes shows which there are
    --ascii, --plain  ASCII only; lines instead of screens, for screen readers
    --json            commands print JSON

    "hearth open --help" shows all options of the screen, "hearth COMMAND --help" those of a command.
    """

  package init() {}

  package static func main() async {
    CompletedHearth.answerRequest()
    // A millisecond less until the first screen, where another processor has nothing to do.
    if Swift.CommandLine.arguments.dropFirst().first?.hasPrefix("-") ?? true {
      DispatchQueue.hearthBackground.async { KeyTable.prepare() }
    }
    await CommandRun.main(Hearth.self)
  }
}

/// The companion program that contains the swarm, the demonstration and the tutor.
///
/// It is a separate program, so that nobody who wants only the blog has to build the lab.
enum LabProgram {
  private static let name = "hearth-lab"

  /// Replaces this process with that program, passing on the command line.
  ///
  /// - Throws: ``CommandFailure`` with how to get the program if it is missing.
  static func takeOver() throws -> Never {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
    let path = "\(FilePath.directory(of: own))/\(name)"
    let words = try LeadingOptions.moved(
      Array(Swift.CommandLine.arguments.dropFirst()),
      of: Hearth.self
    )
    var arguments = ([name] + words).map { strdup($0) } + [nil]
    execv(path, &arguments)
    let reason = String(cString: strerror(errno))
    for argument in arguments { free(argument) }
    throw CommandFailure(
      .failed,
      access(path, F_OK) == 0
        ? "\(path) cannot be started: \(reason)"
        : "this command needs the program \(name), which is not beside hearth at \(path); it comes "
          + "with the package \(name), or \"swift build --product \(name)\" builds it"
    )
  }
}

/// A command that runs in `hearth-lab`.
struct LabCommand<Options: LabOptions>: ParsableCommand {
  static var configuration: CommandConfiguration { Options.configuration }

  @OptionGroup var options: Options

  func run() throws { try LabProgram.takeOver() }
}
