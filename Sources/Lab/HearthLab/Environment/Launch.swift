package import Foundation

/// Starts programs that inherit nothing from this one apart from what they are given.
package enum Launch {
  package struct Failure: Error, CustomStringConvertible {
    let program: String
    let reason: String

    package var description: String { "\(program): \(reason)" }
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - words: The name of the program and its arguments.
  ///   - path: The path of the program; nil for the one of this name in `PATH`.
  ///   - environment: Its environment variables, or nil for those of this process.
  ///   - input: The descriptor that it reads from; nil for no input.
  ///   - output: The descriptor that it writes to; nil to discard the output.
  ///   - terminal: The terminal that it controls, as the leader of a session, with all its input and
  ///     output; nil for none.
  ///   - errors: The file to which its stderr is appended.
  ///   - signals: The signals that have their default effect in it even if this program ignores them.
  ///   - leadsGroup: Whether it gets its own process group, which a terminal does not interrupt.
  /// - Returns: The process ID; the caller has to wait for the process.
  /// - Throws: ``Failure``.
  package static func start(
    _ words: [String],
    at path: String? = nil,
    environment: [String: String]? = nil,
    input: Int32? = nil,
    output: Int32? = nil,
    terminal: String? = nil,
    errors: String = "/dev/null",
    resetting signals: [Int32] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP],
    leadsGroup: Bool = false
  ) throws(Failure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    let appending = O_WRONLY | O_CREAT | O_APPEND
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, appending, 0o600)
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    if let terminal {
      // The first terminal that a session leader opens becomes its controlling terminal.
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal, O_RDWR, 0)
      for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, descriptor)
      }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var set = sigset_t()
    sigemptyset(&set)
    // The child decides for itself how to handle what this program blocks or handles.
    posix_spawnattr_setsigmask(&attributes, &set)
    for signal in signals { sigaddset(&set, signal) }
    posix_spawnattr_setsigdefault(&attributes, &set)
    let flags =
      Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
      | (leadsGroup ? Int32(POSIX_SPAWN_SETPGROUP) : 0) | (terminal == nil ? 0 : newSession)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var pointers = words.map { strdup($0) } + [nil]
    let all = environment ?? ProcessInfo.processInfo.environment
    var variables = all.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in pointers + variables { free(pointer) } }
    endInheritance()
    var process: pid_t = 0
    let program = path ?? words.first ?? ""
    let code = posix_spawnp(&process, program, &actions, &attributes, &pointers, &variables)
    guard code == 0 else {
      throw Failure(program: program, reason: String(cString: strerror(code)))
    }
    return process
  }

  /// The flag that makes a process a session leader; the C library hides its name.
  private static let newSession: Int32 = 0x80

  /// Waits for the end of a process, and returns its status as the system encodes it.
  @discardableResult
  static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }

  /// Keeps everything that is open, apart from the three standard files, from programs started
  /// later.
  ///
  /// Accepted connections are not marked close-on-exec. If a child process also holds one, closing
  /// it here does not end it for the peer.
  ///
  /// - Complexity: O(open files)
  private static func endInheritance() {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    for descriptor in (names ?? []).compactMap({ Int32($0) }) where descriptor > STDERR_FILENO {
      // Descriptors that were closed in between do not matter.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
  }
}
