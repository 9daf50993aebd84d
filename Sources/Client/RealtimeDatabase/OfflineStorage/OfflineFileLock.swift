import Foundation
import RealtimeSync

/// The exclusive use of a file, held until the value is released or the process ends.
final class OfflineFileLock: Sendable {
  private let descriptor: Int32

  /// Takes the use of a file, or reports that someone else has it.
  init(_ file: OfflineFile) throws(OfflineStoreError) {
    let path = file.path + ".lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OfflineStoreError(systemCode: errno, "cannot open \(path)") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      guard code == EWOULDBLOCK else {
        throw OfflineStoreError(systemCode: code, "cannot lock \(path)")
      }
      throw OfflineStoreError(
        .inUse,
        "\(file.path) is in use by another program or database; nothing is kept on disk by this one"
      )
    }
  }

  deinit { close(descriptor) }
}
