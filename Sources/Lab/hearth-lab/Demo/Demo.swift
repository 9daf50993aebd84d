import ArgumentParser
import Foundation
import HearthProgram

/// Shows the blog at work in several terminals at once.
struct Demo: AsyncParsableCommand {
  static let configuration = DemoOptions.configuration

  @OptionGroup var options: DemoOptions

  @MainActor
  func run() async throws {
    if let guarded = options.guarded {
      return DemoGuard.stand(at: DemoFolder(directory: guarded))
    }
    if let conduct = options.conduct {
      return try DemoConductor(DemoFolder(directory: conduct)).run()
    }
    guard (2...(DemoStage.names.count + 1)).contains(options.panes) else {
      throw CommandFailure(.usage, "--panes is a number from 2 to \(DemoStage.names.count + 1)")
    }
    guard options.seconds.map({ $0 > 0 && $0 <= 86_400 }) ?? true else {
      throw CommandFailure(.usage, "--seconds is a number above 0")
    }
    try TerminalScreen.check()
    let folder = try DemoFolder.make()
    let post = try DemoGuard(folder)
    let ending = await show(in: folder)
    let result = (try? Data(contentsOf: URL(fileURLWithPath: folder.figures)))
      .flatMap { try? JSONDecoder().decode(DemoResult.self, from: $0) }
    folder.clear()
    await post.dismiss()
    let signal = try ending.get()
    if let signal { throw ExitCode(128 + signal) }
    try report(result)
  }

  @MainActor
  private func show(in folder: DemoFolder) async -> Result<Int32?, any Error> {
    let wishes = DemoStage.Wishes(
      terminals: options.panes,
      user: options.user,
      seconds: options.seconds,
      presents: options.present,
      seed: options.seed,
      database: options.database,
      pace: options.pace.map { min(max(0, $0), 10) }
    )
    do {
      if options.usesOneScreen || TmuxServer.program == nil {
        let stage = try VirtualStage(in: folder, wishes: wishes)
        try await stage.run()
        return .success(stage.signal)
      }
      return .success(try await DemoStage(folder: folder, wishes: wishes).run())
    } catch {
      return .failure(error)
    }
  }

  private func report(_ result: DemoResult?) throws {
    guard let result else { return }
    for outcome in result.outcomes {
      Output.line(untrusted: "\(outcome.isRight ? "ok" : "WRONG"): \(outcome.text)")
    }
    Output.line(result.summary)
    for violation in result.violations { Output.line(untrusted: violation) }
    guard result.violations.isEmpty, result.outcomes.allSatisfy(\.isRight) else {
      throw ExitStatus.failed.exitCode
    }
  }
}
