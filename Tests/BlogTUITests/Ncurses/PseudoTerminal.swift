import CNcurses
import Glibc

@testable import BlogTUI

/// A terminal created by the system, whose other end the test holds.
final class PseudoTerminal {
  struct Unavailable: Error {}

  let device: TerminalDescriptors
  private var controller: Int32
  private let terminal: Int32

  init(type: String? = "xterm-256color", width: UInt16 = 40, height: UInt16 = 10) throws {
    var ends: (Int32, Int32) = (-1, -1)
    guard nc_openpty(&ends.0, &ends.1) == 0 else { throw Unavailable() }
    (controller, terminal) = ends
    device = TerminalDescriptors(input: terminal, output: terminal, type: type)
    resize(width: width, height: height)
  }

  deinit {
    hangUp()
    Glibc.close(terminal)
  }

  /// The modes of the terminal, as comparable bytes.
  var modes: [UInt8] {
    var modes = termios()
    tcgetattr(terminal, &modes)
    return withUnsafeBytes(of: &modes) { Array($0) }
  }

  func resize(width: UInt16, height: UInt16) {
    var size = winsize(ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  func type(_ text: String) {
    type(bytes: Array(text.utf8))
  }

  func type(bytes: [UInt8]) {
    _ = write(controller, bytes, bytes.count)
  }

  func hangUp() {
    guard controller >= 0 else { return }
    Glibc.close(controller)
    controller = -1
  }

  /// The program's output so far, which is complete once the program's call has returned.
  func written() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var descriptor = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    while poll(&descriptor, 1, 0) == 1 {
      let count = read(controller, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
