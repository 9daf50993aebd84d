import BlogModel
import Foundation
import TestSupport
import Testing

@testable import BlogTUI
@testable import HearthProgram

@Suite("ShellCommand", .timeLimit(.minutes(1)))
struct ShellCommandTests {
  private static let title = "$(touch pwned) `touch pwned`; touch pwned; \"quote' | x\\"

  private func outcome(
    of shell: String,
    output: OwnCommand.Output = .page,
    body: String = "text",
    patience: DispatchTimeInterval = .seconds(30)
  ) async -> CommandOutcome? {
    let post = Post(id: "p1", uid: "eve", author: "eve", title: Self.title, body: body)
    let (outcomes, continuation) = AsyncStream.makeStream(of: CommandOutcome.self)
    let job = CommandJob(OwnCommand(name: "own", shell: shell, output: output), on: post)
    ShellCommand.run(job, patience: patience) { continuation.yield($0) }
    return await outcomes.first { _ in true }
  }

  @Test("A hostile title reaches the command as a word and runs nothing")
  func hostile() async throws {
    let directory = try TemporaryDirectory()
    let shell = "cd \(directory.path) && printf '%s' \"$HEARTH_POST_TITLE\"; echo; ls; cat"
    let outcome = await outcome(of: shell)
    #expect(outcome == CommandOutcome(name: "own", output: Self.title + "\ntext\n"))
  }

  @Test("A failing command reports its status and all output, even if its output is not shown")
  func failure() async {
    let outcome = await outcome(of: "echo one; echo two >&2; exit 3", output: .none)
    let expected = CommandOutcome(
      name: "own",
      output: "one\ntwo\n",
      failure: "ended with status 3"
    )
    #expect(outcome == expected)
  }

  @Test("A long text arrives in full, and endless output ends the command")
  func amounts() async {
    let body = String(repeating: "0123456789", count: 6_500)
    #expect(await outcome(of: "wc -c", body: body)?.output == "65001\n")
    let endless = await outcome(of: "yes")
    #expect(endless?.output.utf8.count == 1_000_000)
    #expect(endless?.failure == nil)
  }

  @Test("A command that takes too long is ended with what it has started")
  func overdue() async {
    let outcome = await outcome(of: "sleep 50 | sleep 50", patience: .milliseconds(100))
    #expect(outcome?.failure == "took too long and was ended")
  }

  @Test("Processes that a command leaves running are not waited for")
  func leftRunning() async {
    let outcome = await outcome(of: "sleep 3 & echo begun")
    #expect(outcome == CommandOutcome(name: "own", output: "begun\n"))
  }
}
