package import ArgumentParser

/// The command line of `demo`, which `hearth` documents and `hearth-lab` runs.
package struct DemoOptions: ParsableArguments {
  package static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Watch several terminals at work, and join in: everything is live, and is checked.",
    discussion: """
      Opens terminals side by side (with tmux, which it starts privately), with people who read, \
      post, comment and star, a terminal of your own, and a live pane that measures and checks. The \
      database is a temporary one unless --database names another. Alt-1 to Alt-5 do harm at once: \
      kill the server, freeze it, cut a cable, fill the disk, race for a star; the live pane shows \
      what comes of it. With --present, F8 plays the next scene and F7 goes back one. It ends with q in the live pane, \
      with F10, when you leave your own terminal, or after --seconds, and leaves nothing behind.

      Exit status: 0 if everything was right, 1 if the live pane found a contradiction.
      """
  )

  @Option(help: ArgumentHelp("How many terminals people have, yours among them.", valueName: "n"))
  package var panes = 3

  @Option(help: ArgumentHelp("Stop after this time.", valueName: "seconds"))
  package var seconds: Double?

  @Flag(
    help:
      "Go through scenes, each on a key: a race, a pulled cable, a refused write, a killed server."
  )
  package var present = false

  @Option(help: ArgumentHelp("Who you are.", valueName: "name"))
  package var user = "you"

  @Option(
    help: ArgumentHelp("A database elsewhere, which gets all these posts.", valueName: "url")
  )
  package var database: String?

  @Option(help: ArgumentHelp("The number that decides what people do.", valueName: "n"))
  package var seed: UInt64 = 1

  @Flag(name: .customLong("no-tmux"), help: "Use one screen with a part for each terminal.")
  package var usesOneScreen = false

  @Option(help: ArgumentHelp("How long to leave for reading a scene.", visibility: .hidden))
  package var pace: Double?

  @Option(help: ArgumentHelp("Be the live pane.", visibility: .hidden))
  package var conduct: String?

  @Option(name: .customLong("guard"), help: ArgumentHelp("Be the guard.", visibility: .hidden))
  package var guarded: String?

  package init() {}
}
