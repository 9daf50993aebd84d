import CNcurses
import Glibc

/// Ends the wait of a terminal's event loop from any thread.
package final class Waker: Sendable {
  let descriptor: Int32

  /// Makes a waker.
  ///
  /// - Throws: ``TerminalError/systemFailure(_:code:)`` if the process has no descriptor left.
  package init() throws(TerminalError) {
    descriptor = nc_eventfd()
    guard descriptor >= 0 else { throw .systemFailure("eventfd", code: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// Makes the wait that goes on, or else the next one, end at once; never blocks.
  package func wake() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Forgets all calls so far; true if there was any.
  func drain() -> Bool {
    var count: UInt64 = 0
    return read(descriptor, &count, 8) == 8
  }
}
