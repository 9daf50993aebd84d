import ArgumentParser
import HearthProgram

/// The program `hearth-lab`, which puts the blog under load and demonstrates it.
@main
struct HearthLab: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth-lab",
    abstract: "Put the blog under load, or demonstrate it; what hearth swarm, demo and tutor run.",
    subcommands: [Swarm.self, Demo.self, TutorCommand.self, SwarmClient.self]
  )

  static func main() async { await CommandRun.main(HearthLab.self) }
}
