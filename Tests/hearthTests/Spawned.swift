import Foundation
import Testing

/// A process that a test starts and waits for.
final class Spawned {
  let processIdentifier: pid_t
  private var status: Int32?
  /// The signal that ended the process; nil if it has exited, or nobody has waited for it.
  private(set) var signal: Int32?
  /// The flag that makes a process a session leader; the C library hides its name.
  private static let newSession: Int32 = 0x80

  /// Starts a program whose three standard streams are files.
  ///
  /// With a terminal, that is its controlling terminal, from which it reads and to which it writes.
  init(
    _ program: String,
    _ arguments: [String],
    environment: [String: String],
    input: String = "/dev/null",
    output: String = "/dev/null",
    errors: String = "/dev/null",
    terminal: String? = nil
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let writing = O_WRONLY | O_CREAT | O_TRUNC
    if let terminal {
      // The first terminal that a session leader opens becomes its controlling terminal.
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, writing, 0o600)
    }
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, writing, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    // A shell lets what it starts in the background ignore SIGINT, and nohup SIGHUP.
    if terminal == nil {
      for number in [SIGINT, SIGHUP] { sigaddset(&signals, number) }
    } else {
      sigfillset(&signals)
    }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    posix_spawnattr_setflags(&attributes, Int16(terminal == nil ? flags : flags | Self.newSession))
    var names = ([program] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (names + variables).forEach { free($0) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, program, &actions, &attributes, &names, &variables)
    try #require(result == 0, "\(program) cannot be started: \(String(cString: strerror(result)))")
    processIdentifier = process
  }

  /// Waits for the end and returns the exit status, or 128 plus the signal number.
  @discardableResult
  func wait() -> Int32 {
    if let status { return status }
    var word: Int32 = 0
    while waitpid(processIdentifier, &word, 0) < 0 && errno == EINTR {}
    let number = word & 0x7F
    if number != 0 { signal = number }
    let found = number == 0 ? (word >> 8) & 0xFF : 128 + number
    status = found
    return found
  }

  /// The number of bytes that the process has written so far, to files and elsewhere.
  var writtenBytes: Int {
    let path = "/proc/\(processIdentifier)/io"
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar:") }
    return line.flatMap { Int($0.dropFirst(7)) } ?? 0
  }

  /// The words with which all visible processes were started, by process ID.
  static func commandLines() throws -> [String: [String]] {
    let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc")
      .filter { pid_t($0) != nil }
    return numbers.reduce(into: [:]) { lines, number in
      let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline")
      lines[number] = line?.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Whether the process has ended.
  var hasEnded: Bool {
    guard status == nil else { return true }
    var information = siginfo_t()
    let options = WEXITED | WNOHANG | WNOWAIT
    let result = waitid(P_PID, id_t(processIdentifier), &information, options)
    return result == 0 && information.si_signo != 0
  }

  /// Ends the process as a crash would, and waits for it.
  func kill() {
    guard status == nil else { return }
    Foundation.kill(processIdentifier, SIGKILL)
    wait()
  }

  /// Asks the process to end, also one that is stopped, and waits for it.
  func terminate() {
    guard status == nil else { return }
    Foundation.kill(processIdentifier, SIGTERM)
    Foundation.kill(processIdentifier, SIGCONT)
    wait()
  }
}
