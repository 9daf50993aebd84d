import ArgumentParser
import Foundation
import RealtimeCore

/// Stops the local server.
struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stop the local server; terminals that are open start it again."
  )

  @OptionGroup var options: CommonOptions

  func run() throws {
    let places = try options.places()
    guard case .process(let process) = UnixSocketProbe.look(at: places.socket), process > 0 else {
      Output.message("no server answers at \(places.socket)")
      return
    }
    guard kill(process, SIGTERM) == 0 || errno == ESRCH else {
      throw CommandFailure(
        .notPermitted,
        "process \(process) cannot be stopped: \(String(cString: strerror(errno)))"
      )
    }
    for _ in 0..<Int(options.timeout * 50) {
      if Self.hasEnded(process) { return }
      poll(nil, 0, 20)
    }
    throw CommandFailure(.offline, "process \(process) did not stop in time")
  }

  /// Whether a process is gone, or waits only for its parent to take note.
  private static func hasEnded(_ process: pid_t) -> Bool {
    if kill(process, 0) != 0, errno == ESRCH { return true }
    let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    // The state follows the name, which is in parentheses and may contain anything.
    return status.split(separator: ")").last?.hasPrefix(" Z") ?? true
  }
}
