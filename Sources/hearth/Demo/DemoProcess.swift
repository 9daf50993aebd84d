import Foundation

/// This very program once more, as a process of a demonstration.
final class DemoProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts the program.
  ///
  /// What the process reads ends when this object, or this process, does.
  ///
  /// - Parameter arguments: What follows the name of the program.
  /// - Throws: ``CommandFailure`` when there can be no other process.
  init(_ arguments: [String]) throws(CommandFailure) {
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    // No third process may hold the end that this one writes to.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    do {
      try process.run()
    } catch {
      throw CommandFailure(.failed, "no process can be started: \(PrivateDirectory.reason(error))")
    }
  }

  /// Where this program is.
  static var program: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "hearth"
  }

  /// The first line that the process says; nil when it ends before.
  func firstLine() -> String? {
    var bytes: [UInt8] = []
    while true {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { return nil }
      bytes += data
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
    }
  }

  /// Ends the process at once, and waits for that.
  func end() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
