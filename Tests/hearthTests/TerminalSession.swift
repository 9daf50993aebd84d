import Foundation
import TestSupport
import Testing

/// The program on a pseudoterminal whose other end the test holds, byte by byte.
final class TerminalSession {
  /// The flag that makes a process a session leader; the C library hides its name.
  private static let newSession: Int16 = 0x80

  private let controller: Int32
  private let name: String
  private let process: pid_t
  private var hasEnded = false
  /// The terminal's current screen.
  private(set) var terminal: VirtualTerminal
  /// Whether output is interpreted; a flood of which only the end matters is read faster without.
  var isWatching = true
  /// All output that was interpreted.
  private(set) var output: [UInt8] = []
  private var unwatched = 0

  /// Starts the program under test, or another one.
  init(
    _ arguments: [String],
    of program: String = Sandbox.program,
    in sandbox: Sandbox,
    environment changes: [String: String] = [:],
    columns: Int = 80,
    rows: Int = 24,
    joinsEmoji: Bool = false,
    sendsUTF8: Bool = false
  ) throws {
    var ends: (controller: Int32, terminal: Int32) = (-1, -1)
    try #require(openpty(&ends.controller, &ends.terminal, nil, nil, nil) == 0)
    controller = ends.controller
    defer { close(ends.terminal) }
    name = try String(cString: #require(ttyname(ends.terminal)))
    // A server that the program starts must not keep the terminal open.
    for end in [ends.controller, ends.terminal] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    if sendsUTF8 {
      var modes = termios()
      tcgetattr(controller, &modes)
      modes.c_iflag |= tcflag_t(IUTF8)
      tcsetattr(controller, TCSANOW, &modes)
    }
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    terminal = VirtualTerminal(width: columns, height: rows)
    terminal.joinsEmoji = joinsEmoji
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that a session leader opens becomes its controlling terminal.
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, name, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(
      &actions,
      STDERR_FILENO,
      sandbox.directory + "/stderr",
      O_WRONLY | O_CREAT,
      0o600
    )
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Self.newSession | Int16(POSIX_SPAWN_SETSIGDEF))
    let variables = sandbox.environment.merging(changes) { $1 }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (words + settings).forEach { free($0) } }
    var id: pid_t = 0
    let result = posix_spawn(&id, program, &actions, &attributes, &words, &settings)
    try #require(result == 0)
    process = id
  }

  deinit {
    if !hasEnded {
      kill(process, SIGKILL)
      end()
    }
    close(controller)
  }

  /// Waits for the end of the program without reading what it writes.
  func waitUnread(within seconds: Double) throws -> Int32 {
    try waitUntil("the program ends", within: seconds) {
      var information = siginfo_t()
      waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
      return information.si_signo == SIGCHLD
    }
    return end()
  }

  @discardableResult
  private func end() -> Int32 {
    hasEnded = true
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Types text, or the bytes of keys.
  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(controller, bytes, bytes.count)
  }

  func send(_ signal: Int32) { kill(process, signal) }

  /// The modes of the terminal, as comparable bytes.
  var modes: [UInt8] {
    var modes = termios()
    tcgetattr(controller, &modes)
    return withUnsafeBytes(of: &modes) { Array($0) }
  }

  /// Redraws the screen until the program reads no keys any more, as nobody reads what it writes.
  func fill() {
    let flags = fcntl(controller, F_GETFL)
    _ = fcntl(controller, F_SETFL, flags | O_NONBLOCK)
    var descriptor = pollfd(fd: controller, events: Int16(POLLOUT), revents: 0)
    while poll(&descriptor, 1, 500) == 1 { type("\u{0C}") }
    _ = fcntl(controller, F_SETFL, flags)
  }

  /// Stops the terminal's output, as a stop key does.
  func stopOutput() {
    let terminal = open(name, O_RDWR | O_NOCTTY)
    tcflow(terminal, TCOOFF)
    close(terminal)
  }

  /// Resizes the terminal.
  func resize(columns: Int, rows: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  /// Reads what has arrived; false when the program has exited.
  @discardableResult
  func read(for milliseconds: Int32 = 0) -> Bool {
    var descriptor = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, milliseconds) > 0 else { return true }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = Foundation.read(controller, &buffer, buffer.count)
    guard count > 0 else { return false }
    guard isWatching else {
      unwatched += count
      return true
    }
    output += buffer[..<count]
    terminal.take(buffer[..<count])
    return true
  }

  /// Reads until nothing has arrived for a while.
  func settle() {
    var count = -1
    while count != output.count + unwatched {
      count = output.count + unwatched
      read(for: 120)
    }
  }

  /// Waits until the screen satisfies a condition.
  func wait(
    for what: String,
    within seconds: Double = 30,
    _ condition: (VirtualTerminal) -> Bool
  ) throws {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while !condition(terminal) {
      guard Date() < deadline, read(for: 50) else {
        Issue.record("waited in vain for \(what):\n\(terminal.lines.joined(separator: "\n"))")
        throw Waited(what: what)
      }
    }
  }

  /// Waits until the screen shows a text.
  func wait(for text: String, within seconds: Double = 30) throws {
    try wait(for: text, within: seconds) { $0.lines.contains { $0.contains(text) } }
  }

  /// Reads until the program has ended, and returns its exit status.
  func waitForEnd(within seconds: Double = 60) throws -> Int32 {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while read(for: 50) {
      guard Date() < deadline else {
        Issue.record("it did not end:\n\(terminal.lines.joined(separator: "\n"))")
        throw Waited(what: "the end")
      }
    }
    return end()
  }
}
