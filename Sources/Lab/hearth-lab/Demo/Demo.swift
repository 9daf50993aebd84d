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
    let wishes = DemoStage.Wishes(
      terminals: options.panes,
      user: options.user,
      seconds: options.seconds,
      presents: options.present,
      seed: options.seed,
      database: options.database,
      pace: options.pace.map { min(max(0, $0), 10) }
    )
    let isOnOneScreen = options.usesOneScreen || TmuxServer.program == nil
    var result: DemoResult?
    try await DemoGuard.watch { folder in
      let signal =
        isOnOneScreen
        ? try await VirtualStage(in: folder, wishes: wishes).run()
        : try await DemoStage(folder: folder, wishes: wishes).run()
      result = (try? Data(contentsOf: URL(fileURLWithPath: folder.figures)))
        .flatMap { try? JSONDecoder().decode(DemoResult.self, from: $0) }
      return signal
    }
    try report(result)
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
