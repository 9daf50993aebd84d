import CNcurses
import Glibc

/// Gathers what ncurses writes for a frame, so that the terminal gets it with one call of `write`.
///
/// ncurses writes when its own buffer is full and when the cursor appears or goes; meanwhile its
/// stream stands for a file in memory. It must not be left or entered then: it would set the modes
/// of that file.
@MainActor
final class FrameBuffer {
  private let stream: Int32
  private let terminal: Int32
  private let memory: Int32
  private var bytes: [UInt8] = []

  /// Makes a buffer; nil where the system has no files in memory.
  ///
  /// - Parameters:
  ///   - stream: The descriptor that ncurses writes to, and nobody else.
  ///   - terminal: The terminal.
  init?(stream: Int32, terminal: Int32) {
    memory = nc_memory_file()
    guard memory >= 0 else { return nil }
    self.stream = stream
    self.terminal = terminal
  }

  deinit {
    close(memory)
  }

  /// Writes what the body lets ncurses write, between two marks; nothing if that is nothing.
  ///
  /// - Complexity: O(bytes)
  func write(from start: String, to end: String, _ body: () -> Void) {
    guard nc_redirect(stream, memory) == 0 else { return body() }
    body()
    _ = nc_redirect(stream, terminal)
    let count = lseek(memory, 0, SEEK_CUR)
    guard count > 0, lseek(memory, 0, SEEK_SET) == 0 else { return }
    let total = start.utf8.count + count + end.utf8.count
    if bytes.count < total { bytes = [UInt8](repeating: 0, count: total) }
    bytes.withUnsafeMutableBytes { bytes in
      bytes.copyBytes(from: start.utf8)
      let frame = UnsafeMutableRawBufferPointer(rebasing: bytes[start.utf8.count...])
      guard pread(memory, frame.baseAddress, count, 0) == count else { return }
      UnsafeMutableRawBufferPointer(rebasing: frame[count...]).copyBytes(from: end.utf8)
      Self.write(UnsafeRawBufferPointer(rebasing: bytes[..<total]), to: terminal)
    }
  }

  /// Writes all bytes, in more than one piece only if the system takes less at a time.
  private static func write(_ bytes: UnsafeRawBufferPointer, to terminal: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
      let count = Glibc.write(terminal, start, rest.count)
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var descriptor = pollfd(fd: terminal, events: Int16(POLLOUT), revents: 0)
        _ = poll(&descriptor, 1, -1)
      } else if errno != EINTR {
        return
      }
    }
  }
}
