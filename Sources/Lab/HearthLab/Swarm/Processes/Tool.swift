private import Dispatch
package import Foundation

/// Runs other programs of the system to completion.
package enum Tool {
  /// The path of a program found in `PATH`; nil if it is not installed.
  package static func path(of name: String) -> String? {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// Whether a program found in `PATH` succeeds; it may leave another process behind.
  static func run(_ words: [String]) -> Bool {
    (try? Launch.start(words)).map { Launch.wait(for: $0) == 0 } ?? false
  }

  /// Runs a program and returns its output, or nil when it cannot be run or fails.
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
    return Launch.wait(for: process) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }
}

/// What the system reports about a process.
package struct ProcessFacts: Hashable, Sendable {
  package let residentBytes: Int64
  /// The number of open files and sockets.
  package let descriptors: Int64

  /// Queries the system; nil when there is no such process.
  package init?(of process: pid_t) {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8),
      let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int64($0) }),
      let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    else { return nil }
    residentBytes = pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    descriptors = Int64(files.count)
  }
}

/// Work that blocks a thread while it waits.
enum Blocking {
  /// Runs a closure on a thread that may block.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// Why a swarm, or a part of it, cannot be carried out.
package struct SwarmProblem: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
