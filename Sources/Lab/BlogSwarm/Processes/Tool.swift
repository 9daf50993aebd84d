package import BlogChecker
private import Dispatch
package import Foundation
private import LocalPostgres

/// Other programs of the system, run to their end.
package enum Tool {
  /// Runs a program that is looked up in `PATH`; it may leave another one behind.
  ///
  /// - Parameter words: Its name and its arguments.
  /// - Returns: Whether it succeeded.
  static func run(_ words: [String]) -> Bool {
    (try? Launch.start(words)).map { waitForEnd(of: $0) == 0 } ?? false
  }

  /// Runs a program and takes what it prints.
  ///
  /// - Parameters:
  ///   - words: Its name and its arguments.
  ///   - environment: Its variables, or nil for those of this process.
  /// - Returns: What it prints, or nil when it cannot be run or fails.
  package static func output(
    of words: [String],
    environment: [String: String]? = nil
  ) -> String? {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = try? Launch.start(words, environment: environment, output: ends[1])
    close(ends[1])
    guard let process else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return waitForEnd(of: process) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private static func waitForEnd(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }
}

/// Waits, as a part of what is done.
package enum Pause {
  /// Waits until a moment; not at all when it is past.
  package static func until(_ moment: Moment) async {
    await lasting(moment.since(.now))
  }

  /// Waits for so long.
  package static func lasting(_ duration: Duration) async {
    guard duration > .zero else { return }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + duration / .seconds(1)) {
        continuation.resume()
      }
    }
  }
}

/// What the system tells of a process.
package struct ProcessFacts: Hashable, Sendable {
  /// The memory that it holds, in bytes.
  package let residentBytes: Int64
  /// How many files and sockets it has open.
  package let descriptors: Int64

  /// Asks the system; nil when there is no such process.
  package init?(of process: pid_t) {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8),
      let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int64($0) }),
      let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    else { return nil }
    residentBytes = pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    descriptors = Int64(files.count)
  }
}

/// Things that take a thread of their own while they wait.
enum Blocking {
  /// Does something on a thread that may wait.
  ///
  /// - Throws: What it throws.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
  }
}
