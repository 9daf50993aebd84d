import BlogSwarm
import Foundation

/// Somebody who stays behind: when a demonstration is gone, however that happened, nothing of it is left.
///
/// It is a process of its own that waits for the end of what only the demonstration can write to.
struct DemoGuard {
  private let process: ChildProcess

  /// Posts a guard at a place.
  ///
  /// - Throws: `ChildProcess.Problem` when there can be no other process.
  init(_ place: DemoPlace) throws {
    process = try ChildProcess(["demo", "--guard", place.directory], errors: "/dev/null")
  }

  /// Sends the guard away, since all has been cleared up.
  func dismiss() async {
    process.send(SIGKILL)
    await process.end()
  }

  /// Is the guard: waits, and clears up.
  static func stand(at place: DemoPlace) {
    // What ends the demonstration's terminal or its group does not end this.
    setsid()
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_IGN) }
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 0 || count < 0 && errno != EINTR { break }
    }
    place.clear()
  }
}
