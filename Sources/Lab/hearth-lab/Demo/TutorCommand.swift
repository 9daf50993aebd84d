import ArgumentParser
import HearthProgram

/// Teaches the blog in two terminals on one screen.
struct TutorCommand: AsyncParsableCommand {
  static let configuration = TutorOptions.configuration

  @MainActor
  func run() async throws {
    try TerminalScreen.check()
    let folder = try DemoFolder.make()
    let post = try DemoGuard(folder)
    let wishes = DemoStage.Wishes(
      terminals: 2,
      user: "you",
      seconds: nil,
      presents: false,
      seed: 1,
      database: nil,
      pace: nil,
      cast: [Tutor.partner]
    )
    var failure: (any Error)?
    var stage: VirtualStage?
    do {
      let tutorial = try VirtualStage(in: folder, wishes: wishes, tutor: Tutor())
      stage = tutorial
      try await tutorial.run()
    } catch {
      failure = error
    }
    folder.clear()
    await post.dismiss()
    if let failure { throw failure }
    if let signal = stage?.signal { throw ExitCode(128 + signal) }
    Output.line("That was the tutor. hearth opens your own blog, in as many terminals as you like.")
  }
}
