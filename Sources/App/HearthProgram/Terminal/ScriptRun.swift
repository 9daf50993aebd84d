import BlogModel
import BlogTUI
import DurableFiles
import Foundation

/// Runs a script on a blog of its own, which leaves nothing behind and is reproducible.
///
/// The server runs in this process, the clock is frozen except where the script lets time pass, and
/// the keys of posts are not random. Showing the script on the terminal changes only how long it
/// takes.
@MainActor
struct ScriptRun {
  let path: String
  let options: ScreenOptions

  /// Runs the script.
  ///
  /// - Throws: ``CommandFailure`` with the line of the script when a step fails.
  func run() async throws {
    // A script shows the same on every machine.
    setenv("TZ", "UTC", 1)
    tzset()
    let text = try InputFile.text(path)
    let script: Script
    do {
      script = try Script(text)
      for line in script.lines { try Self.check(line) }
    } catch {
      throw CommandFailure(.usage, "\(path): \(error)")
    }
    if options.show { try NcursesTerminal.check() }
    let directory = NSTemporaryDirectory() + "hearth-script-\(getpid())"
    try PrivateDirectory.prepare(directory)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let scene = try await ScriptScene(
      in: directory,
      options: options,
      keepsWrites: script.lines.contains { $0.step == .change(.killTerminal) }
    )
    let player = ScriptPlayer(script, in: scene, pace: options.pace)
    do {
      try await scene.play(player)
    } catch {
      await scene.close()
      throw error
    }
    let screen = scene.lastScreen
    await scene.close()
    let result = ScriptResult(
      of: path,
      script,
      playedSteps: player.playedSteps,
      failure: player.failure,
      screen: screen?.text() ?? ""
    )
    Output.text(result.text(in: options.results))
    guard let failure = player.failure else { return }
    Output.write(Self.picture(of: failure, in: text, on: screen), to: STDERR_FILENO)
    throw CommandFailure(.failed, "\(path): \(failure)")
  }

  /// Checks what only a database knows to be wrong.
  private static func check(_ line: Script.Line) throws(Script.Failure) {
    do {
      switch line.step {
      case .data(let path, let json, _): _ = try ScriptedData.parsed(path, json)
      case .change(.terminal(let name, let user)): _ = try Author(userName: user ?? name)
      case .other(let name, _): _ = try Author(userName: name)
      default: break
      }
    } catch {
      throw Script.Failure(line: line.number, reason: "\(line.text): \(error)")
    }
  }

  /// The screen on which a step failed, with a border at its left, and below it the step.
  private static func picture(
    of failure: Script.Failure,
    in text: String,
    on screen: Screen?
  ) -> String {
    var rows = screen?.text().split(separator: "\n", omittingEmptySubsequences: false) ?? []
    while rows.last?.isEmpty == true { rows.removeLast() }
    let lines = Script.split(text)
    let index = failure.line - 1
    let step = lines.indices.contains(index) ? SafeText(untrusted: String(lines[index])).string : ""
    return rows.map { "  | \($0)\n" }.joined() + "\(failure.line): \(step)\n"
  }
}
