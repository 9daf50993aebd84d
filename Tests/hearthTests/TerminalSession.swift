import Foundation
import TestSupport
import Testing

/// The program on a pseudoterminal whose other end the test holds, byte by byte.
final class TerminalSession {
  private let controller: Int32
  private let name: String
  private let process: Spawned
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
    process = try Spawned(
      program,
      arguments,
      environment: sandbox.environment.merging(changes) { $1 },
      errors: sandbox.directory + "/stderr",
      terminal: name
    )
  }

  deinit {
    process.kill()
    close(controller)
  }

  /// Waits for the end of the program without reading what it writes.
  func waitUnread(within seconds: Double) throws -> Int32 {
    try waitUntil("the program ends", within: seconds) { process.hasEnded }
    return process.wait()
  }

  /// Types text, or the bytes of keys.
  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(controller, bytes, bytes.count)
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

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
    return process.wait()
  }
}
