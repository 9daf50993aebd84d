import ArgumentParser
import Foundation
import RealtimeCore

/// Shows the blog at work in several terminals at once.
struct Demo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Watch several terminals at work, and join in: everything is live, and is checked.",
    discussion: """
      Opens terminals side by side (with tmux, which it starts privately), with people who read, \
      post, comment and star, a terminal of your own, and a live pane that measures and checks. The \
      database is a temporary one unless --database names another. It ends with q in the live pane, \
      with F10, when you leave your own terminal, or after --seconds, and leaves nothing behind.

      Exit status: 0 all was right, 1 the live pane has found a contradiction.
      """
  )

  @Option(help: ArgumentHelp("How many terminals people have, yours among them.", valueName: "n"))
  var panes = 3

  @Option(help: ArgumentHelp("End after so long.", valueName: "seconds"))
  var seconds: Double?

  @Flag(help: "Go through scenes: a race, a pulled cable, a refused write, a killed server.")
  var present = false

  @Option(help: ArgumentHelp("Who you are.", valueName: "name"))
  var user = "you"

  @Option(
    help: ArgumentHelp("A database elsewhere, which gets all these posts.", valueName: "url")
  )
  var database: String?

  @Option(help: ArgumentHelp("The number that decides what people do.", valueName: "n"))
  var seed: UInt64 = 1

  @Flag(name: .customLong("no-tmux"), help: "Use one screen with a part for each terminal.")
  var usesOneScreen = false

  @Option(help: ArgumentHelp("How long to leave for reading a scene.", visibility: .hidden))
  var pace = 1.0

  @Option(help: ArgumentHelp("Be the live pane.", visibility: .hidden))
  var conduct: String?

  @Option(name: .customLong("guard"), help: ArgumentHelp("Be the guard.", visibility: .hidden))
  var guarded: String?

  @MainActor
  func run() async throws {
    if let guarded { return DemoGuard.stand(at: DemoPlace(directory: guarded)) }
    if let conduct { return try DemoConductor(DemoPlace(directory: conduct)).run() }
    guard (2...(DemoStage.names.count + 1)).contains(panes) else {
      throw CommandFailure(.usage, "--panes is a number from 2 to \(DemoStage.names.count + 1)")
    }
    guard seconds.map({ $0 > 0 && $0 <= 86_400 }) ?? true else {
      throw CommandFailure(.usage, "--seconds is a number above 0")
    }
    try TerminalScreen.check()
    let place = try DemoPlace.make()
    let post = try DemoGuard(place)
    let result = await show(in: place)
    let figures = (try? Data(contentsOf: URL(fileURLWithPath: place.figures)))
      .flatMap { try? JSONParser.parse(Array($0)) }
    place.clear()
    await post.dismiss()
    let signal = try result.get()
    if let signal { throw ExitCode(128 + signal) }
    try report(figures)
  }

  @MainActor
  private func show(in place: DemoPlace) async -> Result<Int32?, any Error> {
    let wishes = DemoStage.Wishes(
      terminals: panes,
      user: user,
      seconds: seconds,
      presents: present,
      seed: seed,
      database: database,
      pace: min(max(0, pace), 10)
    )
    do {
      if usesOneScreen || TmuxServer.program == nil {
        let stage = try VirtualStage(place, wishes)
        try await stage.run()
        return .success(stage.signal)
      }
      return .success(try await DemoStage(place, wishes).run())
    } catch {
      return .failure(error)
    }
  }

  private func report(_ figures: JSONValue?) throws {
    guard let figures else { return }
    for scene in figures["scenes"]?.elements ?? [] {
      let sign = scene["right"]?.bool == true ? "ok" : "WRONG"
      Output.line(untrusted: "\(sign): \(scene["text"]?.string ?? "")")
    }
    Output.line(DemoFigures.summary(figures))
    for violation in figures["violations"]?.elements ?? [] {
      Output.line(untrusted: violation.string ?? "")
    }
    let wrong = (figures["scenes"]?.elements ?? []).contains { $0["right"]?.bool == false }
    if wrong || figures["violations"]?.elements?.isEmpty == false {
      throw ExitStatus.failed.exitCode
    }
  }
}
