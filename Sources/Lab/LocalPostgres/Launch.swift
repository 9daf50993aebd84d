package import Foundation

/// Starts programs that get nothing of this one but what they are given.
package enum Launch {
  /// Starts a program that is looked up in `PATH`.
  ///
  /// - Parameters:
  ///   - words: Its name and its arguments.
  ///   - environment: Its variables, or nil for those of this process.
  ///   - input: What it reads; nil for nothing.
  ///   - output: What it writes to; nil for nothing.
  ///   - leadsGroup: Whether it has a process group of its own, which a terminal does not interrupt.
  /// - Returns: Its process, which somebody has to wait for.
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
    // What this program blocks, ignores or handles, others do as usual.
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
