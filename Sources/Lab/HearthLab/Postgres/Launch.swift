package import Foundation

/// Starts programs that inherit nothing from this one apart from what they are given.
package enum Launch {
  /// Starts a program found in `PATH`.
  ///
  /// - Parameters:
  ///   - words: The program's name and arguments.
  ///   - environment: Its environment variables, or nil for those of this process.
  ///   - input: The descriptor that it reads from; nil for no input.
  ///   - output: The descriptor that it writes to; nil to discard the output.
  ///   - leadsGroup: Whether it gets its own process group, which a terminal does not interrupt.
  /// - Returns: The process ID; the caller has to wait for the process.
  /// - Throws: ``PostgresServer/Failure`` when it cannot be started.
  package static func start(
    _ words: [String],
    environment: [String: String]? = nil,
    input: Int32? = nil,
    output: Int32? = nil,
    leadsGroup: Bool = false
  ) throws(PostgresServer.Failure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    // Signals that this program blocks, ignores or handles have their default effect in the child.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP] {
      sigaddset(&signals, signal)
    }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags =
      Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
      | (leadsGroup ? Int32(POSIX_SPAWN_SETPGROUP) : 0)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var pointers = words.map { strdup($0) } + [nil]
    let all = environment ?? ProcessInfo.processInfo.environment
    var variables = all.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in pointers + variables { free(pointer) } }
    var process: pid_t = 0
    Inheritance.end()
    guard let name = words.first else {
      throw PostgresServer.Failure(description: "there is no program to start")
    }
    let code = posix_spawnp(&process, name, &actions, &attributes, &pointers, &variables)
    guard code == 0 else {
      throw PostgresServer.Failure(description: "\(name): \(String(cString: strerror(code)))")
    }
    return process
  }
}
