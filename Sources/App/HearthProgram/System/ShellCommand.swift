import BlogTUI
import Dispatch
import DurableFiles
import Foundation
import NIOConcurrencyHelpers

/// Runs the shell commands of the user, with a post as their input.
enum ShellCommand {
  /// The largest number of bytes of output that is read.
  private static let outputLimit = 1_000_000
  /// How long a command without the terminal may take.
  private static let patience = DispatchTimeInterval.seconds(60)

  /// Runs a command; one that has the terminal has ended when this returns.
  ///
  /// The post reaches the command as its input and in environment variables, never in the text that
  /// the shell reads.
  static func run(
    _ job: CommandJob,
    patience: DispatchTimeInterval = patience,
    ended: @escaping @Sendable (CommandOutcome) -> Void
  ) {
    let input = temporaryFile()
    defer { close(input) }
    guard input >= 0, PrivateFile.writeAll(Array(job.input.utf8), to: input) == 0,
      lseek(input, 0, SEEK_SET) == 0
    else {
      return ended(CommandOutcome(name: job.name, failure: "got no file for its input"))
    }
    switch job.output {
    case .terminal: runOnTerminal(job, input, ended)
    case .page, .none: runBehind(job, input, patience, ended)
    }
  }

  /// A file without a name, which this process alone has open; negative if there is none.
  private static func temporaryFile() -> Int32 {
    var name = Array("\(NSTemporaryDirectory())/hearth-post-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { return descriptor }
    unlink(name)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func words(of job: CommandJob) -> [String] { ["/bin/sh", "-c", job.shell] }

  private static func runOnTerminal(
    _ job: CommandJob,
    _ input: Int32,
    _ ended: @Sendable (CommandOutcome) -> Void
  ) {
    let connection = OtherProgram.Connection.input(input, output: nil)
    let result = OtherProgram.run(words(of: job), with: connection, variables: job.variables)
    let failure = failure(of: result)
    // What the command wrote last is on the terminal, and gone as soon as the screen is back.
    if let failure {
      FileHandle.standardError.write(Data("\n\(job.name) \(failure). Enter goes back.".utf8))
      _ = readLine()
    }
    ended(CommandOutcome(name: job.name, failure: failure))
  }

  private static func runBehind(
    _ job: CommandJob,
    _ input: Int32,
    _ patience: DispatchTimeInterval,
    _ ended: @escaping @Sendable (CommandOutcome) -> Void
  ) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      return ended(CommandOutcome(name: job.name, failure: "got no pipe for its output"))
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let (reading, writing) = (ends[0], ends[1])
    defer { close(writing) }
    let run = BackgroundRun()
    let isPage = job.output == .page
    let result = OtherProgram.run(
      words(of: job),
      with: .input(input, output: writing),
      variables: job.variables,
      ended: { status in
        let text = run.finish()
        // A command with more output than is read ends because nobody reads it.
        let end = run.isFull(limit: outputLimit) ? nil : failure(of: .success(status))
        let failure = run.isOverdue ? "took too long and was ended" : end
        let output = isPage || failure != nil ? text : ""
        ended(CommandOutcome(name: job.name, output: output, failure: failure))
      },
      started: { process in
        DispatchQueue.hearthBackground.asyncAfter(deadline: .now() + patience) { run.end(process) }
      }
    )
    guard case .success = result else {
      close(reading)
      return ended(CommandOutcome(name: job.name, failure: failure(of: result)))
    }
    Thread.detachNewThread { run.read(reading, atMost: outputLimit) }
  }

  private static func failure(of result: Result<Int32, OtherProgram.Failure>) -> String? {
    switch result {
    case .success(0): nil
    case .success(let status): OtherProgram.ending(status)
    case .failure(let failure): "cannot be started: \(failure.reason)"
    }
  }
}

/// A command that runs without the terminal, and what it has written.
private final class BackgroundRun: Sendable {
  private struct State {
    var output: [UInt8] = []
    var isOver = false
    var isOverdue = false
  }

  private let state = NIOLockedValueBox(State())
  private let isRead = DispatchSemaphore(value: 0)

  var isOverdue: Bool { state.withLockedValue(\.isOverdue) }

  /// Whether it wrote as much as is read.
  func isFull(limit: Int) -> Bool { state.withLockedValue { $0.output.count >= limit } }

  /// Reads what the command writes; beyond the limit, nobody reads it.
  func read(_ descriptor: Int32, atMost limit: Int) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      let isFull = state.withLockedValue { state in
        state.output += buffer.prefix(max(0, min(count, limit - state.output.count)))
        return state.output.count >= limit || state.isOver
      }
      if count <= 0 || isFull { break }
    }
    close(descriptor)
    isRead.signal()
  }

  /// Ends the command if it has not ended yet.
  func end(_ process: pid_t) {
    let isOver = state.withLockedValue { state in
      state.isOverdue = !state.isOver
      return state.isOver
    }
    if !isOver { kill(-process, SIGKILL) }
  }

  /// What the command has written; called once it has ended.
  ///
  /// What it left running may keep the output open, and is not waited for.
  func finish() -> String {
    _ = isRead.wait(timeout: .now() + .milliseconds(300))
    return state.withLockedValue { state in
      state.isOver = true
      return String(decoding: state.output, as: UTF8.self)
    }
  }
}
