package import Foundation
private import NIOConcurrencyHelpers

/// A program started by this one; the two exchange lines of text.
package final class ChildProcess: Sendable {
  private enum Ending {
    case running([CheckedContinuation<Int32, Never>])
    case ended(Int32)
  }

  let id: pid_t
  /// The program's output, line by line, until it ends; for one reader.
  let lines: AsyncStream<String>
  private let input: Int32
  private let ending = NIOLockedValueBox(Ending.running([]))

  package static var program: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "hearth"
  }

  /// The program `hearth`, in the same directory as this one.
  package static var hearth: String {
    URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent("hearth").path
  }

  /// The path of this program's own executable, valid even if its file has been replaced.
  static let itself = "/proc/self/exe"

  /// Starts a program.
  ///
  /// - Throws: ``SwarmProblem`` with the system's error message.
  package init(
    _ arguments: [String],
    of program: String = ChildProcess.itself,
    errors: String
  ) throws(SwarmProblem) {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
      throw Self.problem(String(cString: strerror(errno)))
    }
    // Other children must not inherit the pipes, since they would keep them open.
    for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer {
      close(toChild[0])
      close(fromChild[1])
    }
    let file = URL(fileURLWithPath: program == Self.itself ? Self.program : program)
    // Ignored signals stay ignored in the child: a full disk must cause an error instead of killing
    // it.
    let old = signal(SIGXFSZ, SIG_IGN)
    defer { signal(SIGXFSZ, old) }
    do {
      id = try Launch.start(
        [file.lastPathComponent] + arguments,
        at: program,
        input: toChild[0],
        output: fromChild[1],
        errors: errors,
        resetting: [SIGINT, SIGTERM, SIGHUP]
      )
    } catch {
      close(toChild[1])
      close(fromChild[0])
      throw Self.problem(error.reason)
    }
    input = toChild[1]
    lines = Self.lines(from: fromChild[0])
    Thread.detachNewThread { [self] in note(Self.waitForEnd(of: id)) }
  }

  deinit { close(input) }

  var isRunning: Bool {
    ending.withLockedValue { if case .running = $0 { true } else { false } }
  }

  /// Sends the program a line; a program that has ended does not receive it.
  func tell(_ line: String) {
    let text = line + "\n"
    _ = text.withCString { write(input, $0, strlen($0)) }
  }

  /// The first line that the program writes; nil when it ends before that.
  package func firstLine() async -> String? {
    for await line in lines { return line }
    return nil
  }

  /// Sends a signal, unless the process has ended.
  package func send(_ signal: Int32) {
    // Within the lock, so that the process ID cannot belong to another process by then.
    ending.withLockedValue { if case .running = $0 { kill(id, signal) } }
  }

  /// Waits for the end, and returns the exit status, or 128 plus the signal number.
  @discardableResult
  package func end() async -> Int32 {
    await withCheckedContinuation { continuation in
      let status = ending.withLockedValue { ending -> Int32? in
        switch ending {
        case .ended(let status): return status
        case .running(let waiting):
          ending = .running(waiting + [continuation])
          return nil
        }
      }
      if let status { continuation.resume(returning: status) }
    }
  }

  private func note(_ status: Int32) {
    let waiting = ending.withLockedValue { ending -> [CheckedContinuation<Int32, Never>] in
      defer { ending = .ended(status) }
      if case .running(let waiting) = ending { return waiting }
      return []
    }
    for continuation in waiting { continuation.resume(returning: status) }
  }

  private static func problem(_ reason: String) -> SwarmProblem {
    SwarmProblem("a process cannot be started: \(reason)")
  }

  private static func waitForEnd(of process: pid_t) -> Int32 {
    let word = Launch.wait(for: process)
    let signal = word & 0x7F
    return signal == 0 ? (word >> 8) & 0xFF : 128 + signal
  }

  private static func lines(from output: Int32) -> AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        var partial: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
          let count = read(output, &buffer, buffer.count)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { break }
          partial += buffer[..<count]
          while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
            continuation.yield(String(decoding: partial[..<end], as: UTF8.self))
            partial.removeSubrange(...end)
          }
        }
        close(output)
        continuation.finish()
      }
    }
  }
}

/// Simulates a full disk for a process: none of its files can grow beyond a limit.
package enum FileSizeLimit {
  /// Sets the limit of a process of the same user, or lifts it; returns whether the system did so.
  package static func set(_ bytes: UInt64?, of process: pid_t) -> Bool {
    // The hard limit is left alone, since only an administrator could raise it again.
    let limit = bytes.map { String($0) } ?? "unlimited"
    return Tool.output(of: ["prlimit", "--pid", "\(process)", "--fsize=\(limit):"]) != nil
  }

  /// The size in bytes of the longest file in a directory or below it.
  package static func longestFile(in directory: String) -> UInt64 {
    let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
    return (names ?? []).map { name in
      let facts = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
      return (facts?[.size] as? NSNumber)?.uint64Value ?? 0
    }.max() ?? 0
  }
}
