private import Foundation

/// The built program as `hearth serve`, on a port of its own, for as long as a test needs it.
///
/// Starting and stopping block until the process is ready or gone: call them on threads that may
/// block.
package final class EmulatorProcess: @unchecked Sendable {
  // Safety: the process is started before anyone else sees it, and ended once.

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The port of 127.0.0.1 that the server listens on.
  package let port: Int
  private let process: Process

  /// The process ID.
  package var id: Int32 { process.processIdentifier }

  /// The program, built in the same directory as the tests.
  private static let program: URL? = {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var folder = tests.deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent("hearth")
      var isDirectory: ObjCBool = false
      if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isDirectory),
        !isDirectory.boolValue
      {
        return candidate
      }
      folder = folder.deletingLastPathComponent()
    }
    return nil
  }()

  /// Starts a server and waits until it reports that it is ready.
  ///
  /// - Parameters:
  ///   - home: A directory of the test's own, since the process must not touch any other.
  ///   - arguments: The arguments after `serve --emulator --port 0`.
  /// - Throws: ``Failure`` when it does not become ready, or the system's error.
  package convenience init(home: String, _ arguments: [String] = []) throws {
    try self.init(home: home, serving: ["--emulator", "--port", "0"] + arguments)
  }

  /// Starts a server of any kind and waits until it reports that it is ready.
  ///
  /// - Parameters:
  ///   - home: A directory of the test's own, since the process must not touch any other.
  ///   - arguments: The arguments after `serve`.
  /// - Throws: ``Failure`` when it does not become ready, or the system's error.
  package init(home: String, serving arguments: [String]) throws {
    guard let program = Self.program else {
      throw Failure(description: "the program has not been built beside the tests")
    }
    process = Process()
    process.executableURL = program
    process.arguments = ["serve"] + arguments
    process.environment = ["HOME": home, "LANG": "C.UTF-8", "TZ": "UTC"]
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw Failure(description: "the server has ended at its start") }
      line += more
    }
    let ready = try JSONSerialization.jsonObject(with: line) as? [String: Any]
    guard let port = ready?["port"] as? Int else {
      throw Failure(description: "the server is ready at no port")
    }
    self.port = port
  }

  /// Stops the server as an operator would, or kills it if it does not end; returns its exit
  /// status.
  package func stop() -> Int32 {
    process.terminate()
    let end = Date(timeIntervalSinceNow: 30)
    while process.isRunning, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
    if process.isRunning { kill(id, SIGKILL) }
    process.waitUntilExit()
    return process.terminationStatus
  }
}
