import CPostgres
import Foundation

/// Wakes a thread that waits for a connection; any thread may ring it.
final class Bell: Sendable {
  /// What the waiting thread polls; negative if the process has no more descriptors.
  let descriptor = CPostgresMakeBell()

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Ends the wait of the thread, or its next one.
  func ring() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Stops the ringing, and returns whether somebody had rung.
  func stop() -> Bool {
    var count: UInt64 = 0
    return read(descriptor, &count, MemoryLayout<UInt64>.size) > 0
  }
}
