import Foundation

/// Runs another program without a shell in between.
package enum OtherProgram {
  /// How a program is connected to this one.
  package enum Connection {
    /// It has the terminal, and is waited for.
    case terminal
    /// It reads and writes nothing, and goes its own way.
    case none
  }

  /// Runs a program.
  ///
  /// - Parameters:
  ///   - words: The program, looked up in `PATH`, and its arguments.
  ///   - connection: How it is connected.
  /// - Returns: Its exit status, 0 if it is not waited for, or the words of the system if it cannot
  ///   be started.
  @discardableResult
  package static func run(
    _ words: [String],
    _ connection: Connection
  ) -> Result<Int32, Failure> {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What this program ignores or handles, others do as usual.
    var usual = sigset_t()
    sigemptyset(&usual)
    for signal in [SIGINT, SIGQUIT, SIGTSTP, SIGPIPE] { sigaddset(&usual, signal) }
    posix_spawnattr_setsigdefault(&attributes, &usual)
    var mask = sigset_t()
    sigemptyset(&mask)
    posix_spawnattr_setsigmask(&attributes, &mask)
    var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if case .none = connection {
      for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
      }
      // A process group of its own: the terminal's signals are none of its business.
      flags |= POSIX_SPAWN_SETPGROUP
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    let variables: [UnsafeMutablePointer<CChar>?] =
      ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, words[0], &actions, &attributes, arguments, variables)
    guard code == 0 else { return .failure(Failure(reason: String(cString: strerror(code)))) }
    guard case .terminal = connection else {
      reap(process)
      return .success(0)
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return .success(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
  }

  /// Why a program was not started.
  package struct Failure: Error {
    package let reason: String
  }

  /// Waits for a process on a thread of its own, so that nothing of it stays behind.
  private static func reap(_ process: pid_t) {
    Thread.detachNewThread {
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
  }
}
